import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Feedback on traces, and the jobs that export request logs. */
export class FeedbackAndExports1763690610000 implements MigrationInterface {
  readonly name = 'FeedbackAndExports1763690610000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    for (const statements of [FEEDBACK, LOG_EXPORTS]) await runner.query(statements);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query('DROP TABLE feedback, log_exports');
  }
}

/** Requests and feedback meet by the trace; the log may learn of a request only after the feedback on it. */
const FEEDBACK = `
  CREATE TABLE feedback (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    api_key_id uuid NOT NULL,
    trace_id text NOT NULL,
    value smallint NOT NULL CHECK (value BETWEEN -10 AND 10),
    weight double precision NOT NULL CHECK (weight BETWEEN 0 AND 1),
    metadata jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, id) ON DELETE CASCADE
  );
  CREATE INDEX feedback_of_trace ON feedback (organization_id, workspace_id, trace_id);
  CREATE INDEX feedback_by_time ON feedback (organization_id, created_at)`;

/**
 * `file` is a name in the export folder of the data folder; `position` is the last row that is safely in it, and
 * `bytes` how long the file was then: a worker that goes on cuts it there.
 */
const LOG_EXPORTS = `
  CREATE TABLE log_exports (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations (id),
    workspace_id uuid,
    created_by uuid NOT NULL,
    description text NOT NULL DEFAULT '',
    format text NOT NULL CHECK (format IN ('jsonl', 'csv', 'parquet')),
    filters jsonb NOT NULL,
    requested_data text[] NOT NULL,
    status text NOT NULL DEFAULT 'draft' CHECK (status IN ('draft', 'in_progress', 'success', 'failed', 'stopped')),
    run integer NOT NULL DEFAULT 0,
    total bigint,
    done bigint NOT NULL DEFAULT 0,
    bytes bigint NOT NULL DEFAULT 0,
    position jsonb,
    file text,
    failure text,
    heartbeat_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, id) ON DELETE CASCADE
  );
  CREATE INDEX log_exports_of_organization ON log_exports (organization_id, created_at DESC, id DESC)`;
