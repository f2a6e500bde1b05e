import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { DataSource } from 'typeorm';
import { IntervalJob, type Round } from '../common/loops/interval-job.js';
import { createLogger } from '../common/observability/logger.js';
import { SETTINGS } from '../common/settings/settings.module.js';
import type { Settings } from '../common/settings/settings.js';

const EVERY_MS = 60_000;

/** Maximum rows per statement, and statements per round. */
const ROWS_MAX = 5_000;
const STATEMENTS_MAX = 200;

/** The tables, and their share of the size limit. Vectors are stored here even when responses are in Redis. */
const KEPT = [
  { table: 'cached_answers', share: 1 },
  { table: 'cached_vectors', share: 1 / 8 },
] as const;

const forgetEnded = (table: string): string => `
  WITH gone AS (
    DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM ${table} WHERE expires_at <= now() ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED))
    RETURNING 1)
  SELECT count(*)::integer AS rows FROM gone`;

/** Deletes the oldest rows until the rest is within the limit. The size of out-of-line values is known without reading them. */
const forgetOldest = (table: string): string => `
  WITH sized AS (
    SELECT ctid, kept_at, sum(octet_length(sealed)) OVER (ORDER BY kept_at DESC, key) AS total FROM ${table}),
  gone AS (
    DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM sized WHERE total > $2 ORDER BY kept_at LIMIT $1))
    RETURNING 1)
  SELECT count(*)::integer AS rows FROM gone`;

/** Including unused space: never less than the data. */
const SIZE = 'SELECT pg_total_relation_size($1)::float8 AS bytes';

/** Removes expired cached responses and vectors, and the oldest ones when the total size exceeds the limit. */
@Injectable()
export class ForgetAnswers implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly job = new IntervalJob((round) => this.round(round), {
    name: 'forget-answers',
    everyMs: EVERY_MS,
    logger: createLogger('forget-answers'),
    failure: 'Cached responses could not be removed.',
  });

  constructor(
    private readonly database: DataSource,
    @Inject(SETTINGS) private readonly settings: Pick<Settings, 'cacheStoreBytes'>,
  ) {}

  onApplicationBootstrap(): void {
    this.job.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.job.stop();
  }

  /** One round. Never rejects. A concurrent call waits for the running round. */
  sweep(): Promise<void> {
    return this.job.round();
  }

  private async round(round: Round): Promise<void> {
    for (const { table, share } of KEPT) {
      await this.repeat(round, forgetEnded(table), []);
      const [size] = await this.database.query<{ bytes: number }[]>(SIZE, [table]);
      const bytesMax = Math.floor(this.settings.cacheStoreBytes * share);
      if ((size?.bytes ?? 0) > bytesMax) await this.repeat(round, forgetOldest(table), [bytesMax]);
    }
  }

  private async repeat(round: Round, statement: string, bounds: readonly number[]): Promise<void> {
    for (let times = 0; times < STATEMENTS_MAX && !round.hasEnded; times++) {
      const [gone] = await this.database.query<{ rows: number }[]>(statement, [ROWS_MAX, ...bounds]);
      round.progressed();
      if ((gone?.rows ?? 0) < ROWS_MAX) return;
    }
  }
}
