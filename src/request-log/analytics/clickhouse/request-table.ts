import { USER_KEY } from '../../rollups/dimensions.js';
import { literal } from './expressions.js';
import { ROW_COLUMNS } from './request-row.js';
import type { Table } from './table.js';

/**
 * The end user of a request as a column, as in PostgreSQL; empty when none is named. A block of rows has each name once: few users are
 * compared by number, and with many users the index excludes most blocks.
 */
const END_USER = ['end_user', 'LowCardinality(String)', `metadata[${literal(USER_KEY)}]`] as const;

/**
 * Columns that are filtered by and set in few rows, or none: a block without the value is skipped unread. For a column with few values, the
 * index of ten million rows takes a few kilobytes. https://clickhouse.com/docs/optimize/skipping-indexes
 */
const SOUGHT = [
  ...['id', 'batch_id', 'trace_id', END_USER[0], 'api_key_id', 'user_id', 'config_id'],
  ...['virtual_key', 'provider', 'model', 'status', 'error_code', 'prompt_slug'],
];

/**
 * A page of rare rows touches a different block for each row, and reads all columns of each block. So blocks have a quarter of the usual
 * 8,192 rows, and compression blocks end with them: neither setting helps without the other. Such pages take half the time for 5 % more
 * disk.
 */
const SMALL_BLOCKS = {
  index_granularity: 2_048,
  min_compress_block_size: 8_192,
  max_compress_block_size: 65_536,
};

/** The rows for lists, and for filters that no rollup covers. */
export const REQUESTS: Table = {
  name: 'request_logs',
  engine: 'MergeTree',
  columns: ROW_COLUMNS.map(({ name, type }) => [name, type] as const),
  derived: [END_USER],
  indexes: SOUGHT.map((column) => `INDEX by_${column} ${column} TYPE bloom_filter GRANULARITY 1`),
  partition: 'toYYYYMMDD(created_at)',
  order: ['organisation_id', 'workspace_id', 'created_at', 'id'],
  // A TTL could not follow legal holds or workspace retention: src/jobs/retention removes these rows.
  expires: null,
  shardBy: 'sipHash64(id)',
  settings: SMALL_BLOCKS,
};
