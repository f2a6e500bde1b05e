import type { DataSource } from 'typeorm';
import { ADVISORY_LOCKS } from '../../database/advisory-locks.js';
import type { Queryable } from '../../database/queryable.js';
import type { ClickHouse } from '../../request-log/analytics/clickhouse/clickhouse.js';
import { CLICKHOUSE_BODIES } from '../../request-log/bodies/clickhouse-bodies.js';
import { inTransaction } from '../../request-log/rollups/transaction.js';
import { existing, type LogDay, partitionOf } from './log-days.js';

const TABLE = 'request_bodies';

/** What happened to the bodies of a day in PostgreSQL. `copied again`: ClickHouse has fewer, so they are kept, and copied once more. */
export interface BodyDrop {
  readonly did: 'dropped' | 'copied again';
  readonly bodies: number;
  readonly inClickHouse: number;
}

/**
 * A batch with requests of the day that may not be copied: it has no number, or one that the cursor has not reached, or it was stored before
 * the cursor was created, which begins with later batches. $1 and $2 are the bounds of the day.
 */
const UNCOPIED = `
  SELECT 1 FROM log_batches AS batch LEFT JOIN log_sinks AS copied ON copied.id = '${CLICKHOUSE_BODIES}'
  WHERE batch.min_created_at < $2 AND batch.max_created_at >= $1
    AND (copied.id IS NULL OR batch.seq IS NULL OR batch.seq > copied.delivered_seq OR batch.created_at < copied.created_at)
  LIMIT 1`;

/** Moves the cursor before the batches of the day. The copy skips those that ClickHouse has. */
const COPY_AGAIN = `
  UPDATE log_sinks SET delivered_seq = least(delivered_seq, (
    SELECT min(seq) - 1 FROM log_batches WHERE min_created_at < $2 AND max_created_at >= $1))
  WHERE id = '${CLICKHOUSE_BODIES}'`;

/** `FINAL`, because a body that was copied twice must not hide one that is missing. */
const IN_CLICKHOUSE = `SELECT count() AS bodies FROM ${TABLE} FINAL WHERE toYYYYMMDD(created_at) = {day:UInt32}`;

/**
 * Empties the partition of a day whose bodies ClickHouse has. The partition stays, and takes late arrivals, which are copied and dropped in
 * their turn. Null when there is nothing to drop, when a batch of the day is not copied yet, or when another process changes the log.
 *
 * Bodies are counted before the lock, which readers of the day wait for. None can be added uncopied meanwhile: their batch would be found
 * under the lock. A killed process leaves the partition as it was.
 */
export async function dropCopiedBodies(
  database: DataSource,
  clickhouse: ClickHouse,
  day: LogDay,
): Promise<BodyDrop | null> {
  const partition = partitionOf(TABLE, day);
  if (!(await hasRows(database, partition)) || (await isUncopied(database, day))) return null;
  const [stored] = await database.query<{ bodies: number }[]>(
    `SELECT count(*)::float8 AS bodies FROM "${partition}"`,
  );
  const [copied] = await clickhouse.read<{ bodies: number }>(IN_CLICKHOUSE, { day: Number(day.name) });
  const counts = { bodies: stored?.bodies ?? 0, inClickHouse: copied?.bodies ?? 0 };
  if (counts.inClickHouse < counts.bodies) {
    if (await isUncopied(database, day)) return null;
    await database.query(COPY_AGAIN, [day.from, day.to]);
    return { did: 'copied again', ...counts };
  }
  return (await truncated(database, day)) ? { did: 'dropped', ...counts } : null;
}

function truncated(database: DataSource, day: LogDay): Promise<boolean> {
  return inTransaction(database, async (transaction) => {
    await transaction.query("SET LOCAL lock_timeout = '2s'");
    const [turn] = await transaction.query<{ taken: boolean }>(
      `SELECT pg_try_advisory_xact_lock(${ADVISORY_LOCKS.retention}) AS taken`,
    );
    if (!turn?.taken) return false;
    const partition = partitionOf(TABLE, day);
    await transaction.query(`LOCK TABLE "${partition}" IN ACCESS EXCLUSIVE MODE`);
    if (await isUncopied(transaction, day)) return false;
    await transaction.query(`TRUNCATE "${partition}"`);
    return true;
  });
}

async function hasRows(database: Queryable, partition: string): Promise<boolean> {
  if ((await existing(database, [partition])).length === 0) return false;
  return (await database.query(`SELECT 1 FROM "${partition}" LIMIT 1`)).length > 0;
}

const isUncopied = async (database: Queryable, { from, to }: LogDay): Promise<boolean> =>
  (await database.query(UNCOPIED, [from, to])).length > 0;
