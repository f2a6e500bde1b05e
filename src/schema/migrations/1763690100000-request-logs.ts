import type { MigrationInterface, QueryRunner } from 'typeorm';
import { ensurePartitions } from '../../request-log/store/partitions.js';

/**
 * The request log: one narrow row per request, one per attempt, bodies apart, and the two books of the shipper.
 *
 * Everything that grows is partitioned by the day of arrival (UTC), because retention drops partitions and never
 * deletes rows. A default partition takes what falls outside, so that a strange clock loses nothing.
 */
export class RequestLogs1763690100000 implements MigrationInterface {
  readonly name = 'RequestLogs1763690100000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    for (const statements of [REQUEST_LOGS, REQUEST_ATTEMPTS, REQUEST_BODIES, SHIPPING, DEFAULT_PARTITIONS])
      await runner.query(statements);
    await ensurePartitions((sql) => runner.query(sql) as Promise<Record<string, unknown>[]>);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(`
      DROP TABLE request_logs, request_attempts, request_bodies, log_batches, spool_cursors, request_log_dead_letters;
    `);
  }
}

/** Columns are those of `RequestLogRecord`. Durations in milliseconds, overhead in microseconds, money in nano-dollars. */
const REQUEST_LOGS = `
  CREATE TABLE request_logs (
    id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    batch_id uuid NOT NULL,
    organisation_id uuid NOT NULL,
    workspace_id uuid,
    api_key_id uuid NOT NULL,
    user_id uuid,
    virtual_key_id uuid,
    trace_id text NOT NULL,
    span_id text,
    parent_span_id text,
    span_name text,
    method text NOT NULL,
    path text NOT NULL,
    endpoint text,
    provider text,
    virtual_key text,
    model text,
    response_model text,
    streamed boolean NOT NULL,
    ending text NOT NULL,
    status smallint NOT NULL,
    error_code text,
    error_source text,
    duration_ms integer NOT NULL,
    first_token_ms integer,
    overhead_us integer NOT NULL,
    request_bytes bigint NOT NULL,
    response_bytes bigint NOT NULL,
    input_tokens integer,
    output_tokens integer,
    cached_input_tokens integer,
    cache_write_tokens integer,
    reasoning_tokens integer,
    audio_input_tokens integer,
    audio_output_tokens integer,
    usage_source text NOT NULL,
    cost_nano_usd bigint,
    attempt_count smallint NOT NULL,
    metadata jsonb,
    PRIMARY KEY (id, created_at)
  ) PARTITION BY RANGE (created_at);
  CREATE INDEX request_logs_newest ON request_logs (organisation_id, workspace_id, created_at DESC, id DESC);
  CREATE INDEX request_logs_trace ON request_logs (organisation_id, trace_id);
  CREATE INDEX request_logs_batch ON request_logs (batch_id)`;

/** `id` and `created_at` are those of the request. */
const REQUEST_ATTEMPTS = `
  CREATE TABLE request_attempts (
    id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    attempt smallint NOT NULL,
    batch_id uuid NOT NULL,
    organisation_id uuid NOT NULL,
    workspace_id uuid,
    provider text NOT NULL,
    virtual_key_id uuid,
    origin text NOT NULL,
    started_at timestamptz NOT NULL,
    first_byte_ms integer,
    duration_ms integer NOT NULL,
    status smallint,
    error_code text,
    input_tokens integer,
    output_tokens integer,
    cached_input_tokens integer,
    cache_write_tokens integer,
    reasoning_tokens integer,
    audio_input_tokens integer,
    audio_output_tokens integer,
    cost_nano_usd bigint,
    PRIMARY KEY (id, created_at, attempt)
  ) PARTITION BY RANGE (created_at);
  CREATE INDEX request_attempts_batch ON request_attempts USING brin (batch_id)`;

/**
 * `body` is the beginning and the end of what passed, compressed as `stored_encoding` says; `content_encoding` is
 * the sender's own and still lies beneath. Already compressed, so TOAST need not try again (STORAGE EXTERNAL).
 */
const REQUEST_BODIES = `
  CREATE TABLE request_bodies (
    request_id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    direction text NOT NULL,
    organisation_id uuid NOT NULL,
    headers jsonb,
    body bytea,
    content_type text,
    content_encoding text,
    stored_encoding text,
    original_bytes bigint NOT NULL,
    truncated boolean NOT NULL,
    PRIMARY KEY (request_id, created_at, direction)
  ) PARTITION BY RANGE (created_at);
  ALTER TABLE request_bodies ALTER COLUMN body SET STORAGE EXTERNAL`;

/**
 * `log_batches`: one row per transaction of the shipper; `aggregated_at` is set by the rollup.
 * `spool_cursors`: how far each spool was stored; moved in the transaction that stores, so bytes are stored once.
 * `request_log_dead_letters`: records that the tables refused, whole, for people to look at.
 */
const SHIPPING = `
  CREATE TABLE log_batches (
    id uuid PRIMARY KEY,
    created_at timestamptz NOT NULL DEFAULT now(),
    rows integer NOT NULL,
    min_created_at timestamptz NOT NULL,
    max_created_at timestamptz NOT NULL,
    aggregated_at timestamptz
  );
  CREATE INDEX log_batches_waiting ON log_batches (created_at) WHERE aggregated_at IS NULL;
  CREATE TABLE spool_cursors (
    writer_id uuid PRIMARY KEY,
    segment integer NOT NULL,
    position bigint NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE TABLE request_log_dead_letters (
    id uuid PRIMARY KEY,
    created_at timestamptz NOT NULL DEFAULT now(),
    request_id text,
    writer_id uuid NOT NULL,
    sqlstate text,
    reason text NOT NULL,
    record bytea NOT NULL,
    request_body bytea,
    response_body bytea
  )`;

const DEFAULT_PARTITIONS = `
  CREATE TABLE request_logs_default PARTITION OF request_logs DEFAULT;
  CREATE TABLE request_attempts_default PARTITION OF request_attempts DEFAULT;
  CREATE TABLE request_bodies_default PARTITION OF request_bodies DEFAULT`;
