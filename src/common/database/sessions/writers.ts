import type { DataSource } from 'typeorm';
import { NoSlotError, type Release, Slots } from '../../processes/slots.js';
import { POSTGRES_TIMEOUTS } from '../../net/store-timeouts.js';

/** Where a data source says nothing: as many connections as the library opens then, https://node-postgres.com/apis/pool */
const USUAL = { poolSize: 10, connectTimeoutMS: POSTGRES_TIMEOUTS.requests.connectMs };

/** Bears PostgreSQL's code for a lock that could not be had (lock_not_available). */
class NoTurnToWrite extends Error {
  readonly code = '55P03';
}

/**
 * Half of a process's connections, at least one, which writers may have at once. They wait for each other and for the disk, with a connection
 * in their hands, and readers must not wait for that.
 */
export class Writers {
  private readonly slots: Slots;
  private readonly patienceMs: number;

  constructor({ options }: DataSource) {
    const { poolSize, connectTimeoutMS } = { ...USUAL, ...(options as Partial<typeof USUAL>) };
    this.slots = new Slots(Math.max(1, Math.floor(poolSize / 2)));
    this.patienceMs = connectTimeoutMS;
  }

  /** Rejects as a busy database does when it takes longer than a connection may. */
  async take(): Promise<Release> {
    try {
      return await this.slots.take(this.patienceMs, () => false);
    } catch (error) {
      if (!(error instanceof NoSlotError)) throw error;
      throw new NoTurnToWrite('Too many were writing.', { cause: error });
    }
  }
}
