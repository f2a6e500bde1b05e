import type { DataSource } from 'typeorm';
import type { Queryable } from '../../database/queryable.js';
import { addRequests, ensurePartitionsFor } from './add-requests.js';
import { deriveRipe } from './derive.js';
import { GRANULARITY_MS } from './granularities.js';
import { markHour } from './dirty-buckets.js';
import { countMetadataKeysFrom, metadataKeysAreComplete } from './metadata-keys.js';
import { FAMILIES } from './rollup-sql.js';
import { LOCK_ALONE, readSeals } from './seals.js';
import { inTransaction } from './transaction.js';

export interface RebuildOptions {
  /** First hour to rebuild, up to but excluding `to`; default: everything. */
  readonly from?: Date;
  readonly to?: Date;
  readonly onProgress?: (done: number, total: number) => void;
}

/** The result of a rebuild. Hours before `keptBefore` were not changed: their request rows are gone. */
export interface RebuildResult {
  readonly hours: number;
  readonly keptBefore: Date | null;
}

/**
 * Recounts the rollups from the request rows, hour by hour, while the service runs.
 *
 * Each hour is emptied and filled in one transaction that excludes other writers; rows of uncounted batches are left to their job. So it
 * can be stopped after any hour and restarted, and reproduces the rollups bit for bit.
 */
export async function rebuildRollups(
  database: DataSource,
  options: RebuildOptions = {},
): Promise<RebuildResult> {
  const kept = await beginningOf(database);
  const isWhole = options.from === undefined && options.to === undefined;
  if (isWhole) await countMetadataKeysFrom(database, kept);
  const hours = await changedHours(database, latest(kept, options.from), options.to);
  for (const [done, hour] of hours.entries()) {
    await rebuildHour(database, hour);
    options.onProgress?.(done + 1, hours.length);
  }
  await deriveRipe(database, 0);
  if (isWhole) await metadataKeysAreComplete(database, await beginningOf(database));
  return { hours: hours.length, keptBefore: kept };
}

/** The time from which both request rows and minutes exist; null when nothing was removed yet. */
async function beginningOf(database: Queryable): Promise<Date | null> {
  const { row, minute } = await readSeals(database);
  const kept = Math.max(row, minute);
  return Number.isFinite(kept) ? new Date(kept) : null;
}

const latest = (one: Date | null, other: Date | undefined): Date | null =>
  one && other ? new Date(Math.max(one.getTime(), other.getTime())) : (other ?? one);

/** Hours that have request rows or minutes: an hour without request rows must lose its minutes, too. */
async function changedHours(database: Queryable, from: Date | null, to: Date | undefined): Promise<Date[]> {
  const rows = await database.query<{ hour: Date }>(
    `SELECT hour FROM (
       SELECT date_trunc('hour', created_at, 'UTC') AS hour FROM request_logs
       UNION SELECT date_trunc('hour', bucket, 'UTC') FROM usage_slice_minute
     ) AS hours
     WHERE hour >= $1::timestamptz AND hour < $2::timestamptz ORDER BY hour`,
    [from ?? '-infinity', to ?? 'infinity'],
  );
  return rows.map(({ hour }) => hour);
}

const OF_HOUR = `created_at >= $1::timestamptz AND created_at < $2::timestamptz
  AND batch_id NOT IN (SELECT id FROM log_batches WHERE aggregated_at IS NULL)`;

async function rebuildHour(database: DataSource, hour: Date): Promise<void> {
  const end = new Date(hour.getTime() + GRANULARITY_MS.hour);
  await ensurePartitionsFor(database, await readSeals(database), [hour]);
  await inTransaction(database, async (transaction) => {
    await transaction.query(LOCK_ALONE);
    const seals = await readSeals(transaction);
    // Retention may have run in between; its remains must not be taken for complete.
    if (hour.getTime() < Math.max(seals.row, seals.minute)) return;
    // Before deleting: a workspace that loses all of its minutes must lose the hour, too.
    await markHour(transaction, hour, end);
    for (const family of FAMILIES)
      await transaction.query(`DELETE FROM ${family.table('minute')} WHERE bucket >= $1 AND bucket < $2`, [
        hour,
        end,
      ]);
    const requests = { where: OF_HOUR, parameters: [hour, end], first: hour, last: hour };
    await addRequests(transaction, seals, requests);
  });
}
