import type { EntityManager } from 'typeorm';
import type { Usage, UsageSource } from '../common/contracts/request-log.js';
import type { UsedRequest } from './usage-minutes.js';

/** A stored batch, and between which times of arrival its requests lie. */
export interface StoredBatch {
  readonly id: string;
  readonly min_created_at: Date;
  readonly max_created_at: Date;
}

/** As `pg` gives it: a bigint is text. */
interface Row extends Omit<UsedRequest, 'usage' | 'cost_nano_usd'> {
  readonly usage_source: UsageSource;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly cached_input_tokens: number | null;
  readonly reasoning_tokens: number | null;
  readonly cost_nano_usd: string | null;
}

/**
 * The requests of a batch. `created_at` limits the search to the partitions that hold them; the bounds are a
 * millisecond wider than what the driver gave, because it drops the microseconds.
 */
const REQUESTS_OF_BATCH = `
  SELECT created_at, organisation_id, workspace_id, api_key_id, virtual_key_id, provider, model, endpoint, status,
    usage_source, input_tokens, output_tokens, cached_input_tokens, reasoning_tokens, cost_nano_usd, duration_ms,
    first_token_ms
  FROM request_logs
  WHERE batch_id = $1
    AND created_at BETWEEN $2::timestamptz - interval '1 ms' AND $3::timestamptz + interval '1 ms'`;

export async function readUsedRequests(
  database: Pick<EntityManager, 'query'>,
  batch: StoredBatch,
): Promise<UsedRequest[]> {
  const rows: Row[] = await database.query(REQUESTS_OF_BATCH, [
    batch.id,
    batch.min_created_at,
    batch.max_created_at,
  ]);
  return rows.map((row) => ({
    ...row,
    usage: usageOf(row),
    cost_nano_usd: row.cost_nano_usd === null ? null : BigInt(row.cost_nano_usd),
  }));
}

/** Unknown tokens add nothing; that they are unknown is told by `usage_source` and by the missing price. */
function usageOf(row: Row): Usage {
  return {
    input_tokens: row.input_tokens ?? 0,
    output_tokens: row.output_tokens ?? 0,
    cached_input_tokens: row.cached_input_tokens ?? 0,
    reasoning_tokens: row.reasoning_tokens ?? 0,
  };
}
