import type { QueryCondition } from '../../../request-log/reading/log-filters.js';
import type { Queryable } from '../../../database/queryable.js';

/** Batches that PostgreSQL has and ClickHouse may lack, and the range of their requests' arrival times. */
export interface WaitingBatches {
  readonly ids: readonly string[];
  readonly first: Date;
  readonly last: Date;
}

const WAITING = `
  SELECT array_agg(id) AS ids, min(min_created_at) - interval '1 ms' AS first, max(max_created_at) + interval '1 ms' AS last
  FROM log_batches WHERE aggregated_at IS NULL`;

/** Null when none is waiting. */
export async function waitingBatches(batches: Queryable): Promise<WaitingBatches | null> {
  const [row] = await batches.query<WaitingBatches & { readonly ids: readonly string[] | null }>(WAITING);
  return row?.ids ? row : null;
}

/** The requests of these batches. Only PostgreSQL can evaluate this. */
export function isWaiting({ ids, first, last }: WaitingBatches): readonly QueryCondition[] {
  const beside = { on: null, inClickHouse: null };
  return [
    { ...beside, sql: (each) => `batch_id = ANY(${each}::uuid[])`, parameter: ids },
    { ...beside, sql: (each) => `created_at >= ${each}::timestamptz`, parameter: first },
    { ...beside, sql: (each) => `created_at <= ${each}::timestamptz`, parameter: last },
  ];
}
