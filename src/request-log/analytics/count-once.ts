import type { DataSource } from 'typeorm';
import type { Queryable } from '../../database/queryable.js';
import { LOCK_TO_ADD } from '../rollups/seals.js';
import { inTransaction } from '../rollups/transaction.js';
import type { Aggregation } from './usage-store.js';

/** A batch of request rows that were stored together. */
export interface CountedBatch {
  readonly id: string;
  readonly rows: number;
  readonly min_created_at: Date;
  readonly max_created_at: Date;
}

export interface BatchCounter {
  /** Runs outside the counting transaction, which would hold its locks until the commit. */
  readonly prepare?: (batches: readonly CountedBatch[]) => Promise<void>;
  readonly add: (transaction: Queryable, batches: readonly CountedBatch[]) => Promise<void>;
}

type BatchRow = CountedBatch & { readonly aggregated_at: Date | null };

/** In a fixed order, because counting locks them: two processes that count the same batches must not deadlock. */
const BATCHES = `SELECT id, rows, min_created_at, max_created_at, aggregated_at FROM log_batches
  WHERE id = ANY ($1::uuid[]) ORDER BY id`;

const MARK = 'UPDATE log_batches SET aggregated_at = now() WHERE id = ANY ($1::uuid[])';

/**
 * The requests of batches: $1 their ids, $2 and $3 their bounds. `created_at` limits the search to the partitions that hold them; the
 * bounds are a millisecond wider than the driver's values, which drop the microseconds.
 */
export const OF_BATCHES = `batch_id = ANY ($1::uuid[])
  AND created_at BETWEEN $2::timestamptz - interval '1 ms' AND $3::timestamptz + interval '1 ms'`;

export const boundsOf = (
  batches: readonly CountedBatch[],
): readonly [ids: string[], first: Date, last: Date] => [
  batches.map(({ id }) => id),
  new Date(Math.min(...batches.map((batch) => batch.min_created_at.getTime()))),
  new Date(Math.max(...batches.map((batch) => batch.max_created_at.getTime()))),
];

/**
 * Counts batches exactly once, all of them or none. Returns the outcome of each.
 *
 * One transaction locks the batch rows, adds their requests and marks them. A second process waits for the locks and finds the marks; a
 * killed process leaves nothing behind. So a batch may be delivered any number of times.
 */
export async function countOnce(
  database: DataSource,
  ids: readonly string[],
  { prepare, add }: BatchCounter,
): Promise<readonly Aggregation[]> {
  const known = await database.query<BatchRow[]>(BATCHES, [ids]);
  const due = known.filter(isDue);
  if (due.length === 0) return outcomes(ids, known);
  await prepare?.(due);
  return inTransaction(database, async (transaction) => {
    await transaction.query(LOCK_TO_ADD);
    const locked = await transaction.query<BatchRow>(`${BATCHES} FOR UPDATE`, [due.map(({ id }) => id)]);
    const batches = locked.filter(isDue);
    if (batches.length > 0) {
      await add(transaction, batches);
      await transaction.query(MARK, [batches.map(({ id }) => id)]);
    }
    return outcomes(ids, [...known.filter((batch) => !isDue(batch)), ...locked]);
  });
}

const isDue = ({ aggregated_at }: BatchRow): boolean => aggregated_at === null;

/** Two jobs for the same batch at the same time share one count. */
function outcomes(ids: readonly string[], found: readonly BatchRow[]): Aggregation[] {
  const byId = new Map(found.map((batch) => [batch.id, batch]));
  return ids.map((id, at) => {
    const batch = byId.get(id);
    if (!batch) return 'absent';
    return isDue(batch) && ids.indexOf(id) === at ? 'aggregated' : 'already_aggregated';
  });
}
