import type { Table } from './table.js';

/**
 * A copy of PostgreSQL's `request_bodies`. `body` is base64: JSON, in which rows are inserted and read, can hold no bytes, and compression
 * removes what base64 adds. A row that is inserted again replaces the first, at a merge; until then readers take one of them.
 * `workspace_id` and `batch_id` are those of the request.
 */
export const BODIES: Table = {
  name: 'request_bodies',
  engine: 'ReplacingMergeTree',
  columns: [
    ['organisation_id', 'UUID'],
    ['workspace_id', 'UUID'],
    ['created_at', "DateTime64(6, 'UTC')"],
    ['request_id', 'UUID'],
    ['direction', 'LowCardinality(String)'],
    ['batch_id', 'UUID'],
    ['headers', 'Nullable(String) CODEC(ZSTD(1))'],
    ['body', 'Nullable(String) CODEC(ZSTD(1))'],
    ['content_type', 'LowCardinality(Nullable(String))'],
    ['content_encoding', 'LowCardinality(Nullable(String))'],
    ['stored_encoding', 'LowCardinality(Nullable(String))'],
    ['original_bytes', 'Int64'],
    ['truncated', 'Bool'],
    ['preview', 'Nullable(String) CODEC(ZSTD(1))'],
  ],
  indexes: ['INDEX by_batch_id batch_id TYPE bloom_filter GRANULARITY 1'],
  partition: 'toYYYYMMDD(created_at)',
  order: ['organisation_id', 'created_at', 'request_id', 'direction'],
  // Retention times differ by workspace, and legal holds suspend them: src/jobs/retention removes these rows.
  expires: null,
  shardBy: 'sipHash64(request_id)',
  // A reader wants the bodies of one request, or of a page.
  settings: { index_granularity: 128, max_compress_block_size: 65_536 },
};
