import type { Queryable } from '../../../database/queryable.js';
import { NIL_ID } from '../../rollups/dimensions.js';
import { boundsOf, OF_BATCHES, type CountedBatch } from '../count-once.js';

interface RowColumn {
  readonly name: string;
  readonly type: string;
  /** The expression over `request_logs` of PostgreSQL that gives it, if it is not the column of that name. */
  readonly from?: string;
}

const columns = (type: string, ...names: readonly string[]): RowColumn[] =>
  names.map((name) => ({ name, type }));

/** Keys of the metadata that had slices when the request came (src/request-log/rollups/metadata-keys.ts). */
const CHOSEN_KEYS = `ARRAY(SELECT key FROM rollup_metadata_keys
  WHERE counted_since <= request_logs.created_at ORDER BY key)`;

/** All that is counted of a request, and all that it can be found by. */
export const COUNTED_COLUMNS: readonly RowColumn[] = [
  ...columns('UUID', 'id', 'batch_id', 'organisation_id'),
  { name: 'workspace_id', type: 'UUID', from: `coalesce(workspace_id, '${NIL_ID}'::uuid)` },
  {
    name: 'created_at',
    type: "DateTime64(6, 'UTC')",
    from: "to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US')",
  },
  ...columns('Nullable(UUID)', 'api_key_id', 'user_id', 'config_id'),
  ...columns(
    'LowCardinality(Nullable(String))',
    'virtual_key',
    'provider',
    'model',
    'endpoint',
    'cache_status',
    'error_code',
    'prompt_slug',
    'source',
  ),
  ...columns('LowCardinality(String)', 'ending', 'usage_source'),
  ...columns('String', 'trace_id'),
  ...columns('Nullable(String)', 'span_id'),
  ...columns('Int16', 'status'),
  ...columns('Int32', 'duration_ms', 'overhead_us'),
  ...columns(
    'Nullable(Int32)',
    'first_token_ms',
    'input_tokens',
    'output_tokens',
    'cached_input_tokens',
    'cache_write_tokens',
    'reasoning_tokens',
    'audio_input_tokens',
    'audio_output_tokens',
  ),
  ...columns('Nullable(Int64)', 'cost_nano_usd', 'saved_nano_usd'),
  ...columns('Nullable(Int16)', 'retry_count', 'fallback_count'),
  { name: 'metadata', type: 'Map(String, String)', from: "coalesce(metadata, '{}'::jsonb)" },
  { name: 'chosen_keys', type: 'Array(String)', from: CHOSEN_KEYS },
];

/** What is only shown of it. Documents are kept as the text that PostgreSQL writes. */
const SHOWN_COLUMNS: readonly RowColumn[] = [
  ...columns('Nullable(UUID)', 'virtual_key_id', 'config_version_id'),
  ...columns(
    'LowCardinality(Nullable(String))',
    'span_name',
    'response_model',
    'option_path',
    'error_source',
  ),
  ...columns('LowCardinality(String)', 'method'),
  ...columns('String', 'path'),
  ...columns('Nullable(String)', 'parent_span_id'),
  { name: 'decisions', type: 'Nullable(String)', from: 'decisions::text' },
  { name: 'hook_results', type: 'Nullable(String)', from: 'hook_results::text' },
  ...columns('Bool', 'streamed'),
  ...columns('Int64', 'request_bytes', 'response_bytes'),
  ...columns('Int16', 'attempt_count'),
  ...columns('Nullable(Float32)', 'cache_score'),
  { name: 'has_metadata', type: 'Bool', from: 'metadata IS NOT NULL' },
  // Rows of the release that only counted lack what is above: of them it is false.
  { name: 'is_whole', type: 'Bool', from: 'true' },
];

/** A request in ClickHouse. Attempts and bodies are not among it. */
export const ROW_COLUMNS: readonly RowColumn[] = [...COUNTED_COLUMNS, ...SHOWN_COLUMNS];

const SELECTED = ROW_COLUMNS.map(({ name, from }) => (from === undefined ? name : `${from} AS ${name}`)).join(
  ', ',
);

/** Always in the same order: whoever stores a batch a second time must store the same. */
const ROWS_OF_BATCHES = `SELECT ${SELECTED} FROM request_logs WHERE ${OF_BATCHES} ORDER BY request_logs.created_at, id`;

/** The requests of a batch as ClickHouse takes them. */
export function rowsOfBatch(database: Queryable, batch: CountedBatch): Promise<readonly unknown[]> {
  return database.query(ROWS_OF_BATCHES, [...boundsOf([batch])]);
}
