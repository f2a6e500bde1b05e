import type { DataSource } from 'typeorm';
import type { Queryable } from '../database/queryable.js';
import { LOCK_TO_ADD } from '../rollups/seals.js';
import { inTransaction } from '../rollups/transaction.js';
import type { Aggregation } from './usage-store.js';

/** A batch of request rows that were stored together. */
export interface StoredBatch {
  readonly id: string;
  readonly min_created_at: Date;
  readonly max_created_at: Date;
}

export interface Counting {
  /** Outside of the transaction that counts, whose locks would last as long. */
  readonly prepare?: (batch: StoredBatch) => Promise<void>;
  readonly add: (transaction: Queryable, batch: StoredBatch) => Promise<void>;
}

type BatchRow = StoredBatch & { readonly aggregated_at: Date | null };

const BATCH = 'SELECT id, min_created_at, max_created_at, aggregated_at FROM log_batches WHERE id = $1';

/**
 * The requests of a batch: $1 its id, $2 and $3 its bounds. `created_at` limits the search to the partitions that hold
 * them; the bounds are a millisecond wider than what the driver gave, because it drops the microseconds.
 */
export const OF_BATCH = `batch_id = $1
  AND created_at BETWEEN $2::timestamptz - interval '1 ms' AND $3::timestamptz + interval '1 ms'`;

export const boundsOf = ({ id, min_created_at, max_created_at }: StoredBatch): readonly unknown[] => [
  id,
  min_created_at,
  max_created_at,
];

/**
 * Counts a batch once.
 *
 * One transaction locks the row of the batch, adds its requests and marks it. Whoever comes second waits for the lock
 * and finds the mark; whoever is killed on the way leaves nothing behind. So a batch may be delivered as often as it likes.
 */
export async function countOnce(
  database: DataSource,
  batchId: string,
  { prepare, add }: Counting,
): Promise<Aggregation> {
  const batch = await find(database, BATCH, batchId);
  if (!batch) return 'absent';
  if (batch.aggregated_at) return 'already_aggregated';
  await prepare?.(batch);
  return inTransaction(database, async (transaction) => {
    await transaction.query(LOCK_TO_ADD);
    const locked = await find(transaction, `${BATCH} FOR UPDATE`, batchId);
    if (!locked) return 'absent';
    if (locked.aggregated_at) return 'already_aggregated';
    await add(transaction, locked);
    await transaction.query('UPDATE log_batches SET aggregated_at = now() WHERE id = $1', [batchId]);
    return 'aggregated';
  });
}

async function find(database: Queryable, sql: string, batchId: string): Promise<BatchRow | undefined> {
  const [row] = await database.query<BatchRow>(sql, [batchId]);
  return row;
}
