import type { DataSource } from 'typeorm';
import type { Queryable } from '../../database/queryable.js';
import { LOCK_ALONE } from './seals.js';
import { inTransaction } from './transaction.js';

const TABLES: readonly string[] = ['usage_minute', 'usage_slice_minute'];

/** Hours still to be derived from minutes before $1. */
const NEEDED = "SELECT 1 FROM rollup_marks WHERE grain = 'hour' AND bucket < $1 LIMIT 1";

/** Partitions of a day that end before the given time. Their names end with the day; the default partition's does not. */
const OLD_PARTITIONS = `
  SELECT child.relname AS name FROM pg_inherits JOIN pg_class AS child ON child.oid = inhrelid
  WHERE inhparent = ANY ($1::regclass[]) AND child.relname ~ '_[0-9]{8}$'
    AND to_date(right(child.relname, 8), 'YYYYMMDD') < ($2::timestamptz AT TIME ZONE 'UTC')::date
  ORDER BY child.relname`;

/**
 * Drops minutes from before the start of a day. Returns the dropped partitions; none while an hour still needs one of them. The seal moves
 * in the same transaction, so that missing minutes are never mistaken for empty ones. Gives up after waiting two seconds for a lock
 * (55P03), so that it cannot block counting.
 */
export function dropMinutes(database: DataSource, before: Date): Promise<readonly string[]> {
  return inTransaction(database, async (transaction) => {
    await transaction.query("SET LOCAL lock_timeout = '2s'");
    await transaction.query(LOCK_ALONE);
    if ((await transaction.query(NEEDED, [before])).length > 0) return [];
    const old = await transaction.query<{ name: string }>(OLD_PARTITIONS, [TABLES, before]);
    await transaction.query("UPDATE rollup_seals SET before = greatest(before, $1) WHERE grain = 'minute'", [
      before,
    ]);
    for (const { name } of old) await transaction.query(`DROP TABLE "${name}"`);
    return old.map(({ name }) => name);
  });
}

const MOST_BATCHES = 50_000;

/** Forgets batches whose requests are gone. This deletes only batch records, never rows of the log. */
export async function forgetBatches(database: Queryable, before: Date): Promise<void> {
  await database.query(
    `DELETE FROM log_batches WHERE id IN (
       SELECT id FROM log_batches WHERE aggregated_at IS NOT NULL AND max_created_at < $1 AND created_at < $1 LIMIT $2)`,
    [before, MOST_BATCHES],
  );
}
