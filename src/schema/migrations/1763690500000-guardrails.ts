import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Stored guardrails, and what guardrails said of each request. */
export class Guardrails1763690500000 implements MigrationInterface {
  readonly name = 'Guardrails1763690500000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(GUARDRAILS);
    await runner.query('ALTER TABLE request_logs ADD COLUMN hook_results jsonb');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query('ALTER TABLE request_logs DROP COLUMN hook_results');
    await runner.query('DROP TABLE guardrails');
  }
}

const GUARDRAILS = `
  CREATE TABLE guardrails (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations (id),
    workspace_id uuid,
    slug text NOT NULL,
    name text NOT NULL,
    checks jsonb NOT NULL,
    actions jsonb NOT NULL,
    sealed_secrets bytea,
    version_id uuid NOT NULL,
    owner_id uuid NOT NULL,
    updated_by uuid,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, id),
    UNIQUE (organization_id, slug)
  );
  CREATE INDEX guardrails_of_organization ON guardrails (organization_id, created_at DESC, id DESC)`;
