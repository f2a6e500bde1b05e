import type { Queryable } from '../../../database/queryable.js';
import type { CountedBatch } from '../count-once.js';
import type { ClickHouse } from './clickhouse.js';
import { rowsOfBatch } from './request-row.js';

export interface CopyOptions {
  /** Batches with requests from this time on, up to but excluding `to`; default: all. */
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
  readonly onProgress?: (done: number, total: number) => void;
}

const MOST_AT_ONCE = 500;

/** Batches that are not counted yet are skipped; their job stores them. */
const COUNTED = `
  SELECT id, min_created_at, max_created_at FROM log_batches
  WHERE aggregated_at IS NOT NULL AND max_created_at >= coalesce($1, '-infinity'::timestamptz)
    AND min_created_at < coalesce($2, 'infinity'::timestamptz) ORDER BY id`;

/**
 * Stores in ClickHouse the counted batches that it lacks: those from before it was configured, and those that it lost. Existing batches are
 * skipped, so the copy can be stopped and restarted while the service runs. Returns how many were missing.
 */
export async function copyMissingBatches(
  database: Queryable,
  clickhouse: ClickHouse,
  { from, to, onProgress }: CopyOptions = {},
): Promise<number> {
  const batches = await database.query<CountedBatch>(COUNTED, [from ?? null, to ?? null]);
  let copied = 0;
  for (let start = 0; start < batches.length; start += MOST_AT_ONCE) {
    const some = batches.slice(start, start + MOST_AT_ONCE);
    const known = await knownOf(clickhouse, some);
    for (const [index, batch] of some.entries()) {
      if (!known.has(batch.id)) {
        await clickhouse.insert('request_logs', await rowsOfBatch(database, batch), batch.id);
        copied += 1;
      }
      onProgress?.(start + index + 1, batches.length);
    }
  }
  return copied;
}

async function knownOf(
  clickhouse: ClickHouse,
  batches: readonly CountedBatch[],
): Promise<ReadonlySet<string>> {
  const rows = await clickhouse.read<{ batch_id: string }>(
    'SELECT DISTINCT batch_id FROM request_logs WHERE batch_id IN {ids:Array(UUID)}',
    { ids: batches.map(({ id }) => id) },
  );
  return new Set(rows.map(({ batch_id }) => batch_id));
}
