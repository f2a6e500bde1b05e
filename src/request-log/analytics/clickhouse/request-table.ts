import { USER_KEY } from '../../rollups/dimensions.js';
import { literal } from './expressions.js';
import { ROW_COLUMNS } from './request-row.js';
import type { Table } from './table.js';

/**
 * The end user of a request as a column, as in PostgreSQL; empty where none is named. A block of rows has each name once: few
 * users are compared by number, and of many the index leaves most blocks out.
 */
const END_USER = ['end_user', 'LowCardinality(String)', `metadata[${literal(USER_KEY)}]`] as const;

/**
 * What a filter may name and few rows have, or none: a block whose rows all have other values is left out without being
 * read. For a column of few values, the index of ten million rows takes some kilobytes.
 * https://clickhouse.com/docs/optimize/skipping-indexes
 */
const SOUGHT = [
  ...['id', 'batch_id', 'trace_id', END_USER[0], 'api_key_id', 'user_id', 'config_id'],
  ...['virtual_key', 'provider', 'model', 'status', 'error_code', 'prompt_slug'],
];

/**
 * A page of rare rows has each of them in another block, and of each block all columns of the table are read. So blocks have
 * a quarter of the usual 8,192 rows, and what is compressed together ends with them: by itself neither changes anything. For
 * a twentieth more of disk such pages take half of the time.
 */
const SMALL_BLOCKS = {
  index_granularity: 2_048,
  min_compress_block_size: 8_192,
  max_compress_block_size: 65_536,
};

/** The rows that lists show, and that filters are asked of which no rollup can answer. */
export const REQUESTS: Table = {
  name: 'request_logs',
  engine: 'MergeTree',
  columns: ROW_COLUMNS.map(({ name, type }) => [name, type] as const),
  derived: [END_USER],
  indexes: SOUGHT.map((column) => `INDEX by_${column} ${column} TYPE bloom_filter GRANULARITY 1`),
  partition: 'toYYYYMMDD(created_at)',
  order: ['organisation_id', 'workspace_id', 'created_at', 'id'],
  // A TTL could follow neither legal holds nor the retention of workspaces: src/jobs/retention removes these rows.
  expires: null,
  shardBy: 'sipHash64(id)',
  settings: SMALL_BLOCKS,
};
