import type { BeforeApplicationShutdown, OnApplicationBootstrap } from '@nestjs/common';
import type { RecentRefusals } from '../auth/identity/recent-refusals.js';
import { IntervalJob } from '../common/loops/interval-job.js';
import { createLogger } from '../common/observability/logger.js';
import { reportSparsely } from '../common/observability/report-sparsely.js';
import { ADVISORY_LOCKS } from '../database/advisory-locks.js';
import type { Queryable } from '../database/queryable.js';

const EVERY_MS = 5_000;
/** Rows of ended keys, and of other credentials, for an organization. */
export const REFUSED_CREDENTIALS_MAX = 1_000;

const NOTE = `SELECT note_refused_credentials($1, ${ADVISORY_LOCKS.refusedCredentials}, ${REFUSED_CREDENTIALS_MAX})`;

const logger = createLogger('auth');

/**
 * Writes what this process refused into the table, so that a request costs no statement. While the database is unavailable, the notes stay
 * in their bounded memory. A killed process loses those of five seconds. If a connection breaks during a write, its notes may count twice.
 */
export class RefusedCredentialWriter implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly report = reportSparsely(logger);
  private readonly job = new IntervalJob(() => this.write(), {
    name: 'refused-credentials',
    everyMs: EVERY_MS,
    logger,
    failure: 'Writing refused credentials failed.',
  });

  constructor(
    private readonly recent: RecentRefusals,
    private readonly database: Queryable,
  ) {}

  onApplicationBootstrap(): void {
    this.job.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.job.stop();
    await this.write();
  }

  /** Never rejects: an outage of the database must not make a gateway that serves known keys look broken. */
  async write(): Promise<void> {
    const notes = this.recent.take();
    if (notes.length === 0) return;
    try {
      await this.database.query(NOTE, [JSON.stringify(notes)]);
    } catch (error) {
      this.recent.restore(notes);
      this.report('Refused credentials cannot be written, and are kept in memory.', error);
    }
  }
}
