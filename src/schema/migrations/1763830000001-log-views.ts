import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Saved views of the request log. */
export class LogViews1763830000001 implements MigrationInterface {
  readonly name = 'LogViews1763830000001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(LOG_VIEWS);
    await runner.query("SELECT protect_tenant_table('log_views')");
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query('DROP TABLE log_views');
  }
}

const LOG_VIEWS = `
  CREATE TABLE log_views (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    workspace_id uuid NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
    owner_id uuid NOT NULL,
    name text NOT NULL,
    filter text NOT NULL,
    range text NOT NULL,
    columns text[] NOT NULL,
    is_shared boolean NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX log_views_of_workspace ON log_views (organization_id, workspace_id, lower(name))`;
