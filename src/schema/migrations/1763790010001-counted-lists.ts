import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * How many a list has is counted off in an index that has nothing else than whose it is. Entries that are alike are kept once with the places
 * of their rows (https://www.postgresql.org/docs/current/btree.html#BTREE-DEDUPLICATION), so 100,000 rows are some 90 pages; without such an
 * index PostgreSQL reads the rows.
 */
export class CountedLists1763790010001 implements MigrationInterface {
  readonly name = 'CountedLists1763790010001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(`
      CREATE INDEX workspaces_counted ON workspaces (organization_id);
      CREATE INDEX users_counted ON users (organization_id);
      CREATE INDEX invites_counted ON invites (organization_id);
      CREATE INDEX configs_counted ON configs (organization_id);
      CREATE INDEX guardrails_counted ON guardrails (organization_id);
      CREATE INDEX virtual_keys_counted ON virtual_keys (organization_id) WHERE integration_id IS NULL;
      CREATE INDEX providers_counted ON virtual_keys (organization_id) WHERE integration_id IS NOT NULL;
      CREATE INDEX members_counted ON workspace_members (organization_id, workspace_id)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(`
      DROP INDEX workspaces_counted, users_counted, invites_counted, configs_counted, guardrails_counted, virtual_keys_counted,
        providers_counted, members_counted`);
  }
}
