import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A workspace's virtual keys and configs are listed, and a person is found by an email address, without reading all that the
 * organization has.
 */
export class ListsOfWorkspaces1763700000001 implements MigrationInterface {
  readonly name = 'ListsOfWorkspaces1763700000001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(`
      CREATE INDEX virtual_keys_listed_of_workspace ON virtual_keys (organization_id, workspace_id, created_at DESC, id DESC)
        WHERE integration_id IS NULL;
      CREATE INDEX configs_listed_of_workspace ON configs (organization_id, workspace_id, created_at DESC, id DESC);
      CREATE INDEX users_by_email ON users (organization_id, email)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(
      'DROP INDEX virtual_keys_listed_of_workspace, configs_listed_of_workspace, users_by_email',
    );
  }
}
