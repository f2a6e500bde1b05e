import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Tables beside the request log: feedback, imported logs, saved views, exports, sinks, retention and legal holds. */
export class UseOfLogs1763800000011 implements MigrationInterface {
  readonly name = 'UseOfLogs1763800000011';

  async up(runner: QueryRunner): Promise<void> {
    for (const statements of [FEEDBACK, INGESTED_LOGS, VIEWS, EXPORTS, SINKS, RETENTION, LEGAL_HOLDS])
      await runner.query(statements);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE legal_holds, log_partition_cuts, retention_of_removed_workspaces, log_sinks, log_exports, log_views,
        ingested_logs, feedback
    `);
  }
}

/** Refers to requests by their trace; feedback may be stored before its request. */
const FEEDBACK = `
  CREATE TABLE feedback (
    id              uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    workspace_id    uuid NOT NULL,
    api_key_id      uuid,
    trace_id        text NOT NULL,
    value           smallint NOT NULL CHECK (value BETWEEN -10 AND 10),
    weight          double precision NOT NULL CHECK (weight BETWEEN 0 AND 1),
    metadata        jsonb NOT NULL DEFAULT '{}',
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, id) ON DELETE CASCADE
  );
  CREATE INDEX feedback_of_trace ON feedback (organization_id, workspace_id, trace_id);
  CREATE INDEX feedback_by_time ON feedback (organization_id, created_at);
  SELECT protect_tenant_table('feedback')`;

/**
 * Logs of requests made elsewhere: an inbox from which the background process stores them. `closed` is the JSON of a closed frame of the
 * spool, as bytes: a JSON string may contain characters that `text` cannot hold.
 */
const INGESTED_LOGS = `
  CREATE TABLE ingested_logs (
    id              uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    closed          bytea NOT NULL,
    request_body    bytea NOT NULL,
    response_body   bytea NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX ingested_logs_oldest ON ingested_logs (created_at);
  CREATE INDEX ingested_logs_of_organization ON ingested_logs (organization_id, created_at);
  SELECT protect_tenant_table('ingested_logs', 'organization_id', 'SELECT, INSERT')`;

const VIEWS = `
  CREATE TABLE log_views (
    id              uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    workspace_id    uuid NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    owner_id        uuid NOT NULL,
    name            text NOT NULL,
    filter          text NOT NULL,
    range           text NOT NULL,
    columns         text[] NOT NULL,
    is_shared       boolean NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX log_views_of_workspace ON log_views (organization_id, workspace_id, lower(name));
  SELECT protect_tenant_table('log_views')`;

/**
 * The file holds `rows` rows in its first `bytes` bytes, the last of them at (`cursor_at`, `cursor_id`): a process that continues an export
 * truncates the file there. `leased_until` and `run` identify the process that is writing it.
 */
const EXPORTS = `
  CREATE TABLE log_exports (
    id              uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    workspace_id    uuid NOT NULL,
    api_key_id      uuid,
    user_id         uuid,
    description     text NOT NULL,
    filters         jsonb NOT NULL,
    requested_data  text[] NOT NULL,
    format          text NOT NULL CHECK (format IN ('jsonl', 'csv', 'parquet')),
    compression     text NOT NULL CHECK (compression IN ('none', 'gzip')),
    status          text NOT NULL DEFAULT 'draft' CHECK (status IN ('draft', 'in_progress', 'success', 'failed', 'stopped')),
    problem         text,
    until_at        timestamptz,
    cursor_at       timestamptz,
    cursor_id       uuid,
    rows            bigint NOT NULL DEFAULT 0,
    bytes           bigint NOT NULL DEFAULT 0,
    run             integer NOT NULL DEFAULT 0,
    tries           integer NOT NULL DEFAULT 0,
    leased_until    timestamptz,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    expires_at      timestamptz,
    file_removed_at timestamptz,
    CHECK (api_key_id IS NOT NULL OR user_id IS NOT NULL),
    FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, id) ON DELETE CASCADE
  );
  CREATE INDEX log_exports_listed ON log_exports (organization_id, created_at DESC, id DESC);
  CREATE INDEX log_exports_newest ON log_exports (organization_id, workspace_id, created_at DESC, id DESC);
  CREATE INDEX log_exports_of_user ON log_exports (organization_id, user_id, created_at DESC, id DESC)
    WHERE user_id IS NOT NULL;
  CREATE INDEX log_exports_running ON log_exports (leased_until) WHERE status = 'in_progress';
  SELECT protect_tenant_table('log_exports')`;

/**
 * How far each sink has received the stored batches. The columns are those of `audit_destinations`. Sinks belong to the operator, not to an
 * organization.
 */
const SINKS = `
  CREATE TABLE log_sinks (
    id            text PRIMARY KEY,
    delivered_seq bigint NOT NULL CHECK (delivered_seq >= 0),
    delivered_at  timestamptz,
    failures      integer NOT NULL DEFAULT 0,
    last_error    text,
    failing_since timestamptz,
    next_try_at   timestamptz NOT NULL DEFAULT now(),
    leased_until  timestamptz,
    created_at    timestamptz NOT NULL DEFAULT now()
  )`;

/**
 * The logs of a removed workspace are kept for its own retention, and requests that are not stored yet are redacted by its rules.
 *
 * `log_partition_cuts`: which tenants' rows were removed from which partition, and when. The nil id stands for no workspace.
 */
const RETENTION = `
  CREATE TABLE retention_of_removed_workspaces (
    organization_id     uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    workspace_id        uuid NOT NULL,
    log_retention_days  integer,
    body_retention_days integer,
    removed_at          timestamptz NOT NULL DEFAULT now(),
    log_redaction       jsonb,
    PRIMARY KEY (organization_id, workspace_id)
  );
  SELECT protect_tenant_table('retention_of_removed_workspaces', 'organization_id', 'SELECT, INSERT, UPDATE');

  CREATE TABLE log_partition_cuts (
    partition       text NOT NULL,
    organization_id uuid NOT NULL,
    workspace_id    uuid NOT NULL,
    cut_at          timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (partition, organization_id, workspace_id)
  );
  SELECT protect_tenant_table('log_partition_cuts', 'organization_id', 'SELECT')`;

/** A hold without a workspace covers the whole organization. Holds are released and never deleted: they are themselves evidence. */
const LEGAL_HOLDS = `
  CREATE TABLE legal_holds (
    id                  uuid PRIMARY KEY,
    organization_id     uuid NOT NULL REFERENCES organizations (id),
    workspace_id        uuid,
    reason              text NOT NULL,
    placed_by_key_id    uuid,
    placed_by_user_id   uuid,
    created_at          timestamptz NOT NULL DEFAULT now(),
    released_at         timestamptz,
    released_by_key_id  uuid,
    released_by_user_id uuid,
    release_reason      text,
    CHECK ((released_at IS NULL) = (release_reason IS NULL))
  );
  CREATE INDEX legal_holds_newest ON legal_holds (organization_id, created_at DESC, id DESC);
  CREATE INDEX legal_holds_active ON legal_holds (organization_id, workspace_id) WHERE released_at IS NULL;
  SELECT protect_tenant_table('legal_holds', 'organization_id', 'SELECT, INSERT, UPDATE')`;
