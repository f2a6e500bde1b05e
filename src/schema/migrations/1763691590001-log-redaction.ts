import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the log must not keep of the requests of a workspace, and the beginning of bodies for lists. */
export class LogRedaction1763691590001 implements MigrationInterface {
  readonly name = 'LogRedaction1763691590001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(COLUMNS);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(`
      ALTER TABLE request_bodies DROP COLUMN preview;
      ALTER TABLE retention_of_removed_workspaces DROP COLUMN log_redaction;
      ALTER TABLE workspaces DROP COLUMN log_redaction`);
  }
}

/**
 * `log_redaction` is a `LogRedaction`. A workspace that is removed leaves it behind for its requests that are still on
 * their way. The shipper asks for them with every batch, among workspaces of which few have any. A preview stands beside
 * its body, so that it is kept no longer; the body may lie in a bucket.
 */
const COLUMNS = `
  ALTER TABLE workspaces ADD COLUMN log_redaction jsonb;
  ALTER TABLE retention_of_removed_workspaces ADD COLUMN log_redaction jsonb;
  CREATE INDEX workspaces_with_redaction ON workspaces (organization_id) WHERE log_redaction IS NOT NULL;
  ALTER TABLE request_bodies ADD COLUMN preview text`;
