import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Lets any page of a long list of API keys be found in the index alone: what the list is narrowed by stands in it, so the
 * rows before the page are counted off without being read.
 */
export class PagesOfKeys1763691510000 implements MigrationInterface {
  readonly name = 'PagesOfKeys1763691510000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(`
      DROP INDEX api_keys_of_organization;
      CREATE INDEX api_keys_of_organization ON api_keys (organization_id, created_at DESC, id DESC)
        INCLUDE (kind, workspace_id) WHERE deleted_at IS NULL`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(`
      DROP INDEX api_keys_of_organization;
      CREATE INDEX api_keys_of_organization ON api_keys (organization_id, created_at DESC, id DESC)
        WHERE deleted_at IS NULL`);
  }
}
