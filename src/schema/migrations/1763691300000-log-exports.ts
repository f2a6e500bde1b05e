import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Exports of the request log: what is wanted, who wants it, and up to where the file is good. */
export class LogExports1763691300000 implements MigrationInterface {
  readonly name = 'LogExports1763691300000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(LOG_EXPORTS);
    await runner.query("SELECT protect_tenant_table('log_exports')");
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query('DROP TABLE log_exports');
  }
}

/**
 * The file holds `rows` rows in its first `bytes` bytes, the last of them at (`cursor_at`, `cursor_id`): whoever goes
 * on cuts it there. `leased_until` and `run` say who writes it now.
 */
const LOG_EXPORTS = `
  CREATE TABLE log_exports (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    api_key_id uuid,
    user_id uuid,
    description text NOT NULL,
    filters jsonb NOT NULL,
    requested_data text[] NOT NULL,
    format text NOT NULL CHECK (format IN ('jsonl', 'csv', 'parquet')),
    compression text NOT NULL CHECK (compression IN ('none', 'gzip')),
    status text NOT NULL DEFAULT 'draft' CHECK (status IN ('draft', 'in_progress', 'success', 'failed', 'stopped')),
    problem text,
    until_at timestamptz,
    cursor_at timestamptz,
    cursor_id uuid,
    rows bigint NOT NULL DEFAULT 0,
    bytes bigint NOT NULL DEFAULT 0,
    run integer NOT NULL DEFAULT 0,
    tries integer NOT NULL DEFAULT 0,
    leased_until timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    file_removed_at timestamptz,
    CHECK (api_key_id IS NOT NULL OR user_id IS NOT NULL),
    FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, id) ON DELETE CASCADE
  );
  CREATE INDEX log_exports_newest ON log_exports (organization_id, workspace_id, created_at DESC, id DESC);
  CREATE INDEX log_exports_running ON log_exports (leased_until) WHERE status = 'in_progress'`;
