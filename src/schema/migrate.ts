import { setTimeout as sleep } from 'node:timers/promises';
import { type DataSource, MigrationExecutor, type QueryRunner } from 'typeorm';
import { createLogger } from '../common/observability/logger.js';
import { ADVISORY_LOCKS } from '../database/advisory-locks.js';

/** Requests queue behind a statement that waits for a lock, so it gives up early, and its migration is tried again. */
const LOCK_TIMEOUT = '2s';
const LOCK_RETRY_MS = 5 * 60_000;
const RETRY_EVERY_MS = 1_000;
const LOCK_POLL_MS = 250;

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const LOCK_NOT_AVAILABLE = '55P03';
const DEADLOCK_DETECTED = '40P01';

const logger = createLogger('migrations');

export interface MigrationRetries {
  /** How long a migration that cannot get a lock is tried again, in milliseconds. */
  readonly lockRetryMs?: number;
}

/**
 * Upgrades the schema. Instances that start at the same time run one after the other, and later ones have nothing left to do. Rejects with
 * PostgreSQL's error 55P03 when other transactions held a table for longer than `lockRetryMs`; the migrations before it are kept.
 *
 * One connection holds the advisory lock and runs the migrations: if this process is killed while PostgreSQL builds an index, the lock
 * lasts until that build has ended.
 */
export async function migrate(
  dataSource: DataSource,
  { lockRetryMs = LOCK_RETRY_MS }: MigrationRetries = {},
): Promise<void> {
  const runner = dataSource.createQueryRunner();
  try {
    await runner.query(`SET statement_timeout = 0; SET lock_timeout = '${LOCK_TIMEOUT}'`);
    await acquireLock(runner);
    await runPending(dataSource, runner, performance.now() + lockRetryMs);
  } finally {
    await releaseLock(runner);
    await runner.release();
  }
}

/** A broken connection has no lock any more, and its own error must not replace that of the migration. */
async function releaseLock(runner: QueryRunner): Promise<void> {
  try {
    await runner.query(`SELECT pg_advisory_unlock(${ADVISORY_LOCKS.migrations})`);
    await runner.query('RESET statement_timeout; RESET lock_timeout');
  } catch (error) {
    logger.warn({ err: error }, 'The connection that migrated the database is broken.');
  }
}

/**
 * Asks again and again instead of waiting in PostgreSQL: the snapshot of a waiting statement would block the concurrent build of an index in
 * the instance that has the lock, and both would end in a deadlock.
 */
async function acquireLock(runner: QueryRunner): Promise<void> {
  for (let tries = 0; ; tries++) {
    const [row] = await runner.manager.query<{ is_acquired: boolean }[]>(
      'SELECT pg_try_advisory_lock($1) AS is_acquired',
      [ADVISORY_LOCKS.migrations],
    );
    if (row?.is_acquired) return;
    if (tries === 0) logger.info('Waiting for another instance that migrates the database.');
    await sleep(LOCK_POLL_MS);
  }
}

async function runPending(dataSource: DataSource, runner: QueryRunner, deadline: number): Promise<void> {
  for (;;) {
    const executor = new MigrationExecutor(dataSource, runner);
    executor.transaction = 'each';
    try {
      await executor.executePendingMigrations();
      return;
    } catch (error) {
      if (!isLockProblem(error) || performance.now() > deadline) throw error;
      logger.warn({ err: error }, 'A migration could not lock a table that is in use. Trying again.');
      await sleep(RETRY_EVERY_MS);
    }
  }
}

/** Also a deadlock, which PostgreSQL ends by failing one of the two. */
function isLockProblem(error: unknown): boolean {
  return isLockTimeout(error) || codeOf(error) === DEADLOCK_DETECTED;
}

/** Whether a statement gave up waiting for a lock. */
export const isLockTimeout = (error: unknown): boolean => codeOf(error) === LOCK_NOT_AVAILABLE;

const codeOf = (error: unknown): unknown =>
  (error as { readonly driverError?: { readonly code?: unknown } }).driverError?.code;
