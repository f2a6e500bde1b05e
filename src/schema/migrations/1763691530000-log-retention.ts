import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How long logs are kept by workspace, legal holds, and a bound for the inbox of logs from elsewhere. */
export class LogRetention1763691530000 implements MigrationInterface {
  readonly name = 'LogRetention1763691530000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    for (const statements of [RULES, HOLDS, CUTS, INBOX]) await runner.query(statements);
    for (const table of ['retention_of_removed_workspaces', 'legal_holds'])
      await runner.query(
        `SELECT protect_tenant_table('${table}', 'organization_id', 'SELECT, INSERT, UPDATE')`,
      );
    await runner.query("SELECT protect_tenant_table('log_partition_cuts', 'organization_id', 'SELECT')");
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(`
      DROP TABLE retention_of_removed_workspaces, legal_holds, log_partition_cuts;
      ALTER TABLE workspaces DROP COLUMN log_retention_days, DROP COLUMN body_retention_days;
      DROP INDEX ingested_logs_of_organization`);
  }
}

/** Null where the organization decides. The rows of a workspace outlive it, and so does what it promised of them. */
const RULES = `
  ALTER TABLE workspaces
    ADD COLUMN log_retention_days integer CHECK (log_retention_days BETWEEN 1 AND 3650),
    ADD COLUMN body_retention_days integer CHECK (body_retention_days BETWEEN 1 AND 3650);
  CREATE TABLE retention_of_removed_workspaces (
    organization_id uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    workspace_id uuid NOT NULL,
    log_retention_days integer,
    body_retention_days integer,
    removed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organization_id, workspace_id)
  )`;

/** No workspace is of the whole organization. Holds are released and never deleted: they are evidence themselves. */
const HOLDS = `
  CREATE TABLE legal_holds (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations (id),
    workspace_id uuid,
    reason text NOT NULL,
    placed_by_key_id uuid,
    placed_by_user_id uuid,
    created_at timestamptz NOT NULL DEFAULT now(),
    released_at timestamptz,
    released_by_key_id uuid,
    released_by_user_id uuid,
    release_reason text,
    CHECK ((released_at IS NULL) = (release_reason IS NULL))
  );
  CREATE INDEX legal_holds_newest ON legal_holds (organization_id, created_at DESC, id DESC);
  CREATE INDEX legal_holds_active ON legal_holds (organization_id, workspace_id) WHERE released_at IS NULL`;

/** Whose rows were taken out of which partition, and when. The nil id stands for no workspace. */
const CUTS = `
  CREATE TABLE log_partition_cuts (
    partition text NOT NULL,
    organization_id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    cut_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (partition, organization_id, workspace_id)
  )`;

const INBOX = 'CREATE INDEX ingested_logs_of_organization ON ingested_logs (organization_id, created_at)';
