import type { MigrationInterface, QueryRunner } from 'typeorm';
import { ensureLogPartitions } from '../../request-log/store/partitions.js';

/**
 * The request log: one narrow row per request, one per attempt, separate bodies, and the state of the shipper.
 *
 * Everything that grows is partitioned by the day of arrival (UTC), because retention drops partitions and never deletes rows one by one. A
 * default partition takes everything outside, so that a wrong clock loses nothing.
 */
export class RequestLog1763800000010 implements MigrationInterface {
  readonly name = 'RequestLog1763800000010';

  async up(runner: QueryRunner): Promise<void> {
    for (const statements of [REQUESTS, ATTEMPTS, BODIES, BATCHES, CURSORS, DEAD_LETTERS])
      await runner.query(statements);
    await ensureLogPartitions((sql) => runner.query(sql) as Promise<Record<string, unknown>[]>);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE request_log_dead_letters, spool_cursors, log_batches, request_bodies, request_attempts, request_logs;
      DROP SEQUENCE log_batch_numbers;
    `);
  }
}

/**
 * Columns are those of `RequestLogRecord`. Durations in milliseconds, overhead in microseconds, money in nano-dollars.
 * `saved_nano_usd`: what a cached response would have cost. `retry_count`: further attempts at the same target; `fallback_count`: changes
 * of the target. `source` is null for requests of this gateway.
 *
 * `end_user` is a column, because row-level security lets no index look at `metadata ->> '_user'` (that operator is not leakproof:
 * https://www.postgresql.org/docs/current/rules-privileges.html).
 *
 * The indexes of single values are for filters that few requests match. PostgreSQL stores a repeated key once with the positions of its
 * rows (https://www.postgresql.org/docs/current/btree.html#BTREE-DEDUPLICATION): 8 to 10 bytes a request for each index.
 */
const REQUESTS = `
  CREATE TABLE request_logs (
    id                  uuid NOT NULL,
    created_at          timestamptz NOT NULL,
    batch_id            uuid NOT NULL,
    organisation_id     uuid NOT NULL,
    workspace_id        uuid,
    api_key_id          uuid,
    user_id             uuid,
    virtual_key_id      uuid,
    trace_id            text NOT NULL,
    span_id             text,
    parent_span_id      text,
    span_name           text,
    method              text NOT NULL,
    path                text NOT NULL,
    endpoint            text,
    provider            text,
    virtual_key         text,
    model               text,
    response_model      text,
    streamed            boolean NOT NULL,
    ending              text NOT NULL,
    status              smallint NOT NULL,
    error_code          text,
    error_source        text,
    duration_ms         integer NOT NULL,
    first_token_ms      integer,
    overhead_us         integer NOT NULL,
    request_bytes       bigint NOT NULL,
    response_bytes      bigint NOT NULL,
    input_tokens        integer,
    output_tokens       integer,
    cached_input_tokens integer,
    cache_write_tokens  integer,
    reasoning_tokens    integer,
    audio_input_tokens  integer,
    audio_output_tokens integer,
    usage_source        text NOT NULL,
    cost_nano_usd       bigint,
    attempt_count       smallint NOT NULL,
    metadata            jsonb,
    config_id           uuid,
    config_version_id   uuid,
    option_path         text,
    decisions           jsonb,
    hook_results        jsonb,
    prompt_slug         text,
    cache_status        text,
    saved_nano_usd      bigint,
    retry_count         smallint,
    fallback_count      smallint,
    cache_score         real,
    source              text,
    end_user            text GENERATED ALWAYS AS (metadata ->> '_user') STORED,
    dropped_parameters  text[],
    service_tier        text,
    PRIMARY KEY (id, created_at)
  ) PARTITION BY RANGE (created_at);
  CREATE INDEX request_logs_newest ON request_logs (organisation_id, workspace_id, created_at DESC, id DESC);
  -- For callers who read all workspaces at once: the index by workspace cannot give them in order.
  CREATE INDEX request_logs_of_organisation ON request_logs (organisation_id, created_at DESC, id DESC);
  CREATE INDEX request_logs_trace ON request_logs (organisation_id, trace_id);
  CREATE INDEX request_logs_batch ON request_logs (batch_id);
  CREATE INDEX request_logs_model ON request_logs (organisation_id, workspace_id, model);
  CREATE INDEX request_logs_status ON request_logs (organisation_id, workspace_id, status);
  CREATE INDEX request_logs_key ON request_logs (organisation_id, workspace_id, api_key_id);
  CREATE INDEX request_logs_end_user ON request_logs (organisation_id, workspace_id, end_user) WHERE end_user IS NOT NULL;
  CREATE TABLE request_logs_default PARTITION OF request_logs DEFAULT;
  SELECT protect_tenant_table('request_logs', 'organisation_id', 'SELECT')`;

/**
 * `id` and `created_at` are those of the request. `charged` names the counters that the attempt was added to. `price` is the `AppliedPrice`
 * of the attempt at that time, because price lists change. `estimated`: the charge is an estimate.
 */
const ATTEMPTS = `
  CREATE TABLE request_attempts (
    id                  uuid NOT NULL,
    created_at          timestamptz NOT NULL,
    attempt             smallint NOT NULL,
    batch_id            uuid NOT NULL,
    organisation_id     uuid NOT NULL,
    workspace_id        uuid,
    provider            text NOT NULL,
    virtual_key_id      uuid,
    origin              text NOT NULL,
    started_at          timestamptz NOT NULL,
    first_byte_ms       integer,
    duration_ms         integer NOT NULL,
    status              smallint,
    error_code          text,
    input_tokens        integer,
    output_tokens       integer,
    cached_input_tokens integer,
    cache_write_tokens  integer,
    reasoning_tokens    integer,
    audio_input_tokens  integer,
    audio_output_tokens integer,
    cost_nano_usd       bigint,
    option_path         text,
    charged             jsonb,
    price               jsonb,
    estimated           boolean,
    PRIMARY KEY (id, created_at, attempt)
  ) PARTITION BY RANGE (created_at);
  CREATE INDEX request_attempts_batch ON request_attempts USING brin (batch_id);
  CREATE TABLE request_attempts_default PARTITION OF request_attempts DEFAULT;
  SELECT protect_tenant_table('request_attempts', 'organisation_id', 'SELECT')`;

/**
 * `body` is the beginning and the end of the transferred bytes, compressed as `stored_encoding` specifies; `content_encoding` is the
 * sender's own and still applies underneath. If `body` is null and `object_key` is not, the sealed body is `object_length` bytes of that
 * object. `preview` is the beginning of the text for lists, kept no longer than the body.
 */
const BODIES = `
  CREATE TABLE request_bodies (
    request_id       uuid NOT NULL,
    created_at       timestamptz NOT NULL,
    direction        text NOT NULL,
    organisation_id  uuid NOT NULL,
    headers          jsonb,
    body             bytea,
    content_type     text,
    content_encoding text,
    stored_encoding  text,
    original_bytes   bigint NOT NULL,
    truncated        boolean NOT NULL,
    object_key       text,
    object_offset    bigint,
    object_length    integer,
    preview          text,
    PRIMARY KEY (request_id, created_at, direction)
  ) PARTITION BY RANGE (created_at);
  -- Already compressed, so TOAST need not try. CREATE TABLE can say so from PostgreSQL 16 on; 14 is supported.
  ALTER TABLE request_bodies ALTER COLUMN body SET STORAGE EXTERNAL;
  CREATE TABLE request_bodies_default PARTITION OF request_bodies DEFAULT;
  SELECT protect_tenant_table('request_bodies', 'organisation_id', 'SELECT')`;

/**
 * One row per transaction of the shipper. `aggregated_at` is set by the rollups. `seq` is for readers that resume: batches do not become
 * visible in the order of their ids, so they are numbered after their commit, by one process at a time. A reader that sees a number sees
 * all that are lower.
 *
 * `log_batches_late`: batches with a request that arrived a day late or later; retention searches them for days that it has cut.
 */
const BATCHES = `
  CREATE SEQUENCE log_batch_numbers;
  CREATE TABLE log_batches (
    id             uuid PRIMARY KEY,
    created_at     timestamptz NOT NULL DEFAULT now(),
    rows           integer NOT NULL,
    min_created_at timestamptz NOT NULL,
    max_created_at timestamptz NOT NULL,
    aggregated_at  timestamptz,
    seq            bigint
  );
  CREATE INDEX log_batches_waiting ON log_batches (created_at) WHERE aggregated_at IS NULL;
  CREATE INDEX log_batches_unnumbered ON log_batches (created_at) WHERE seq IS NULL;
  CREATE UNIQUE INDEX log_batches_by_number ON log_batches (seq) WHERE seq IS NOT NULL;
  CREATE INDEX log_batches_late ON log_batches (created_at) WHERE created_at - min_created_at > interval '1 day'`;

/** The stored position of each spool. Updated in the transaction that stores the records, so that bytes are stored once. */
const CURSORS = `
  CREATE TABLE spool_cursors (
    writer_id  uuid PRIMARY KEY,
    segment    integer NOT NULL,
    position   bigint NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now()
  )`;

/**
 * Complete records that the tables refused, for inspection. Organization and workspace, null if the record does not name them, determine
 * how long it is kept: as long as its bodies would have been.
 */
const DEAD_LETTERS = `
  CREATE TABLE request_log_dead_letters (
    id              uuid PRIMARY KEY,
    created_at      timestamptz NOT NULL DEFAULT now(),
    request_id      text,
    writer_id       uuid NOT NULL,
    sqlstate        text,
    reason          text NOT NULL,
    record          bytea NOT NULL,
    request_body    bytea,
    response_body   bytea,
    organisation_id uuid,
    workspace_id    uuid
  );
  SELECT protect_tenant_table('request_log_dead_letters', 'organisation_id', 'SELECT')`;
