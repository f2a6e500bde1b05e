/** How PostgreSQL stores a value, and how COPY writes it: store/copy-binary.ts. */
export type ColumnType =
  | 'uuid'
  | 'text'
  | 'text[]'
  | 'timestamptz'
  | 'int2'
  | 'int4'
  | 'int8'
  | 'float4'
  | 'bool'
  | 'jsonb'
  | 'bytea';

/** A column of `request_logs` in both stores. */
interface LogColumn {
  readonly postgres: ColumnType;
  readonly clickhouse: string;
  /** Analytics counts it or filters use it; other columns are only displayed. */
  readonly isCounted: boolean;
}

const counted = (postgres: ColumnType, clickhouse: string): LogColumn => ({
  postgres,
  clickhouse,
  isCounted: true,
});
const shown = (postgres: ColumnType, clickhouse: string): LogColumn => ({
  postgres,
  clickhouse,
  isCounted: false,
});

const WORD = 'LowCardinality(String)';
const WORD_OR_NULL = 'LowCardinality(Nullable(String))';
const DOCUMENT = 'Nullable(String)';

/**
 * The columns of a request. They define the columns that COPY fills (store/log-row.ts), the columns of ClickHouse's table
 * (analytics/clickhouse/request-row.ts), and the columns that readers select from either store (admin/logs/rows). A new one also needs a
 * migration, a change of ClickHouse's table (analytics/clickhouse/changes.ts), its value in `record.ts`, and a position in the frame
 * (spool/frame-values.ts), in `LogRow` and in the API (admin/logs/log.dto.ts).
 */
export const LOG_COLUMNS = {
  id: counted('uuid', 'UUID'),
  batch_id: counted('uuid', 'UUID'),
  organisation_id: counted('uuid', 'UUID'),
  workspace_id: counted('uuid', 'UUID'),
  created_at: counted('timestamptz', "DateTime64(6, 'UTC')"),
  api_key_id: counted('uuid', 'Nullable(UUID)'),
  user_id: counted('uuid', 'Nullable(UUID)'),
  config_id: counted('uuid', 'Nullable(UUID)'),
  virtual_key: counted('text', WORD_OR_NULL),
  provider: counted('text', WORD_OR_NULL),
  model: counted('text', WORD_OR_NULL),
  endpoint: counted('text', WORD_OR_NULL),
  cache_status: counted('text', WORD_OR_NULL),
  error_code: counted('text', WORD_OR_NULL),
  prompt_slug: counted('text', WORD_OR_NULL),
  source: counted('text', WORD_OR_NULL),
  ending: counted('text', WORD),
  usage_source: counted('text', WORD),
  trace_id: counted('text', 'String'),
  span_id: counted('text', 'Nullable(String)'),
  status: counted('int2', 'Int16'),
  duration_ms: counted('int4', 'Int32'),
  overhead_us: counted('int4', 'Int32'),
  first_token_ms: counted('int4', 'Nullable(Int32)'),
  input_tokens: counted('int4', 'Nullable(Int32)'),
  output_tokens: counted('int4', 'Nullable(Int32)'),
  cached_input_tokens: counted('int4', 'Nullable(Int32)'),
  cache_write_tokens: counted('int4', 'Nullable(Int32)'),
  reasoning_tokens: counted('int4', 'Nullable(Int32)'),
  audio_input_tokens: counted('int4', 'Nullable(Int32)'),
  audio_output_tokens: counted('int4', 'Nullable(Int32)'),
  cost_nano_usd: counted('int8', 'Nullable(Int64)'),
  saved_nano_usd: counted('int8', 'Nullable(Int64)'),
  retry_count: counted('int2', 'Nullable(Int16)'),
  fallback_count: counted('int2', 'Nullable(Int16)'),
  metadata: counted('jsonb', 'Map(String, String)'),
  virtual_key_id: shown('uuid', 'Nullable(UUID)'),
  config_version_id: shown('uuid', 'Nullable(UUID)'),
  span_name: shown('text', WORD_OR_NULL),
  response_model: shown('text', WORD_OR_NULL),
  option_path: shown('text', WORD_OR_NULL),
  error_source: shown('text', WORD_OR_NULL),
  method: shown('text', WORD),
  path: shown('text', 'String'),
  parent_span_id: shown('text', 'Nullable(String)'),
  decisions: shown('jsonb', DOCUMENT),
  hook_results: shown('jsonb', DOCUMENT),
  streamed: shown('bool', 'Bool'),
  request_bytes: shown('int8', 'Int64'),
  response_bytes: shown('int8', 'Int64'),
  attempt_count: shown('int2', 'Int16'),
  service_tier: shown('text', WORD_OR_NULL),
  cache_score: shown('float4', 'Nullable(Float32)'),
  dropped_parameters: shown('text[]', 'Array(LowCardinality(String))'),
} as const satisfies Readonly<Record<string, LogColumn>>;

export type LogColumnName = keyof typeof LOG_COLUMNS;

export const LOG_COLUMN_NAMES = Object.keys(LOG_COLUMNS) as readonly LogColumnName[];
