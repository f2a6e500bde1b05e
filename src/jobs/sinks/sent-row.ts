/** A try of a request, as sinks get it. Names are those of the table. */
export interface SentAttempt {
  readonly attempt: number;
  readonly option_path: string | null;
  readonly provider: string;
  readonly virtual_key_id: string | null;
  readonly origin: string;
  readonly started_at: string;
  readonly first_byte_ms: number | null;
  readonly duration_ms: number;
  readonly status: number | null;
  readonly error_code: string | null;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly cached_input_tokens: number | null;
  readonly cache_write_tokens: number | null;
  readonly reasoning_tokens: number | null;
  readonly cost_nano_usd: number | null;
}

/**
 * A request as sinks get it: the row and its tries, without headers and bodies. Times are ISO 8601, durations milliseconds,
 * money integer nano-dollars. `id` is the request's for ever: who gets it twice may drop one.
 */
export interface SentRow {
  readonly id: string;
  readonly created_at: string;
  readonly organisation_id: string;
  readonly workspace_id: string | null;
  readonly api_key_id: string | null;
  readonly user_id: string | null;
  readonly virtual_key_id: string | null;
  readonly virtual_key: string | null;
  readonly config_id: string | null;
  readonly trace_id: string;
  readonly span_id: string | null;
  readonly parent_span_id: string | null;
  readonly span_name: string | null;
  readonly method: string;
  readonly path: string;
  readonly endpoint: string | null;
  readonly provider: string | null;
  readonly model: string | null;
  readonly response_model: string | null;
  readonly streamed: boolean;
  readonly ending: string;
  readonly status: number;
  readonly error_code: string | null;
  readonly error_source: string | null;
  readonly duration_ms: number;
  readonly first_token_ms: number | null;
  readonly overhead_us: number;
  readonly request_bytes: number;
  readonly response_bytes: number;
  readonly input_tokens: number | null;
  readonly output_tokens: number | null;
  readonly cached_input_tokens: number | null;
  readonly cache_write_tokens: number | null;
  readonly reasoning_tokens: number | null;
  readonly usage_source: string;
  readonly cost_nano_usd: number | null;
  readonly saved_nano_usd: number | null;
  readonly cache_status: string | null;
  readonly retry_count: number | null;
  readonly fallback_count: number | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly source: string | null;
  readonly attempts: readonly SentAttempt[];
}

const isoOf = (column: string): string =>
  `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS ${column}`;

/** Whole numbers beyond 2^53 do not occur: that would be nine million dollars for one request. */
const numberOf = (column: string): string => `${column}::float8 AS ${column}`;

/** The days of the batches are named too, so that the database opens no other partitions. */
const OF_BATCHES = 'batch_id = ANY ($1::uuid[]) AND created_at BETWEEN $2::timestamptz AND $3::timestamptz';

export const ROWS_OF_BATCHES = `
  SELECT id, ${isoOf('created_at')}, organisation_id, workspace_id, api_key_id, user_id, virtual_key_id, virtual_key,
    config_id, trace_id, span_id, parent_span_id, span_name, method, path, endpoint, provider, model, response_model,
    streamed, ending, status, error_code, error_source, duration_ms, first_token_ms, overhead_us,
    ${numberOf('request_bytes')}, ${numberOf('response_bytes')}, input_tokens, output_tokens, cached_input_tokens,
    cache_write_tokens, reasoning_tokens, usage_source, ${numberOf('cost_nano_usd')}, ${numberOf('saved_nano_usd')},
    cache_status, retry_count, fallback_count, metadata, source
  FROM request_logs WHERE ${OF_BATCHES} ORDER BY request_logs.created_at, id`;

export const ATTEMPTS_OF_BATCHES = `
  SELECT id, attempt, option_path, provider, virtual_key_id, origin, ${isoOf('started_at')}, first_byte_ms, duration_ms,
    status, error_code, input_tokens, output_tokens, cached_input_tokens, cache_write_tokens, reasoning_tokens,
    ${numberOf('cost_nano_usd')}
  FROM request_attempts WHERE ${OF_BATCHES} ORDER BY id, attempt`;
