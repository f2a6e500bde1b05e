import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Feedback on traces. */
export class Feedback1763690610000 implements MigrationInterface {
  readonly name = 'Feedback1763690610000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(FEEDBACK);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query('DROP TABLE feedback');
  }
}

/** Requests and feedback meet by the trace; the log may learn of a request only after the feedback on it. */
const FEEDBACK = `
  CREATE TABLE feedback (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    api_key_id uuid,
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
