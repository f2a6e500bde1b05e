import type { DataSource } from 'typeorm';
import { NoSlotError, type Release, Semaphore } from '../../common/processes/semaphore.js';
import { POSTGRES_TIMEOUTS } from '../../common/net/store-timeouts.js';

/** Defaults of a data source: the library's number of connections, https://node-postgres.com/apis/pool */
const USUAL = { poolSize: 10, connectTimeoutMS: POSTGRES_TIMEOUTS.requests.connectMs };

/** Has PostgreSQL's code for an unavailable lock (lock_not_available). */
class TooManyWriters extends Error {
  readonly code = '55P03';
}

/** An organization's share, and how many of its writers use it or wait for it. */
interface OrganizationShare {
  readonly slots: Semaphore;
  writers: number;
}

/**
 * Limits how many transactions of a process write at once: to half of its connections, at least one. Writers wait for locks and for the
 * disk while holding a connection, and readers must not wait for that.
 *
 * An organization gets all of these but one. When all its writers wait for one that is stuck, other organizations can still write. A writer
 * first enters the share of its organization and then takes a connection. Both queues are served in order of arrival.
 */
export class WriteSemaphore {
  private readonly all: Semaphore;
  private readonly shareSize: number;
  private readonly shares = new Map<string, OrganizationShare>();
  private readonly timeoutMs: number;

  constructor({ options }: DataSource) {
    const { poolSize, connectTimeoutMS } = { ...USUAL, ...(options as Partial<typeof USUAL>) };
    const size = Math.max(1, Math.floor(poolSize / 2));
    this.all = new Semaphore(size);
    this.shareSize = Math.max(1, size - 1);
    this.timeoutMs = connectTimeoutMS;
  }

  /**
   * `organizationId`: null for a writer whose organization is not known yet; all of these share. Rejects like a busy database when it takes
   * longer than a connection may.
   */
  async take(organizationId: string | null): Promise<Release> {
    try {
      return await this.takeBoth(organizationId ?? '');
    } catch (error) {
      if (!(error instanceof NoSlotError)) throw error;
      throw new TooManyWriters('Too many changes are being written.', { cause: error });
    }
  }

  private async takeBoth(name: string): Promise<Release> {
    const deadline = performance.now() + this.timeoutMs;
    const leaveShare = await this.enterShare(name);
    try {
      const release = await this.all.take(deadline - performance.now());
      return () => {
        release();
        leaveShare();
      };
    } catch (error) {
      leaveShare();
      throw error;
    }
  }

  private async enterShare(name: string): Promise<Release> {
    const share = this.shares.get(name) ?? { slots: new Semaphore(this.shareSize), writers: 0 };
    this.shares.set(name, share);
    share.writers++;
    const leave = (): void => {
      share.writers--;
      if (share.writers === 0) this.shares.delete(name);
    };
    try {
      const release = await share.slots.take(this.timeoutMs);
      return () => {
        release();
        leave();
      };
    } catch (error) {
      leave();
      throw error;
    }
  }
}
