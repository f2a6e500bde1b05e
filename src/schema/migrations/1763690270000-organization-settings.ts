import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What an organization decides for its workspaces; only what differs from the usual is written. */
export class OrganizationSettings1763690270000 implements MigrationInterface {
  readonly name = 'OrganizationSettings1763690270000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(`
      ALTER TABLE organizations
        ADD COLUMN settings jsonb NOT NULL DEFAULT '{}',
        ADD COLUMN updated_at timestamptz NOT NULL DEFAULT now()`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query('ALTER TABLE organizations DROP COLUMN settings, DROP COLUMN updated_at');
  }
}
