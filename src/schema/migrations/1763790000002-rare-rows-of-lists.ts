import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A list that is narrowed to a few rows of many is read off an index, too: managers among a workspace's members, invites by role and
 * status, policies of one kind among those of the other, archived ones among those in force, integrations of workspaces among those
 * of the organization, and those that all workspaces may use.
 */
export class RareRowsOfLists1763790000002 implements MigrationInterface {
  readonly name = 'RareRowsOfLists1763790000002';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(`
      CREATE INDEX members_by_role ON workspace_members (organization_id, workspace_id, role, created_at DESC, user_id DESC);
      CREATE INDEX invites_by_role ON invites (organization_id, role, created_at DESC, id DESC);
      CREATE INDEX invites_by_status ON invites (organization_id, status, created_at DESC, id DESC);
      CREATE INDEX integrations_of_own ON integrations (organization_id, created_at DESC, id DESC)
        WHERE workspace_id IS NULL;
      CREATE INDEX integrations_of_workspaces ON integrations (organization_id, created_at DESC, id DESC)
        WHERE workspace_id IS NOT NULL;
      CREATE INDEX integrations_open_to_all ON integrations (organization_id)
        WHERE workspace_id IS NULL AND is_open_to_all_workspaces;
      CREATE INDEX budget_policies_in_force ON limit_policies (organization_id, created_at DESC, id DESC)
        WHERE budget IS NOT NULL AND archived_at IS NULL;
      CREATE INDEX rate_policies_in_force ON limit_policies (organization_id, created_at DESC, id DESC)
        WHERE rate IS NOT NULL AND archived_at IS NULL;
      CREATE INDEX budget_policies_archived ON limit_policies (organization_id, created_at DESC, id DESC)
        WHERE budget IS NOT NULL AND archived_at IS NOT NULL;
      CREATE INDEX rate_policies_archived ON limit_policies (organization_id, created_at DESC, id DESC)
        WHERE rate IS NOT NULL AND archived_at IS NOT NULL;
      DROP INDEX limit_policies_in_force, limit_policies_of_organization`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(`
      CREATE INDEX limit_policies_of_organization ON limit_policies (organization_id, created_at DESC, id DESC);
      CREATE INDEX limit_policies_in_force ON limit_policies (organization_id, created_at DESC, id DESC)
        WHERE archived_at IS NULL;
      DROP INDEX members_by_role, invites_by_role, invites_by_status, integrations_of_own, integrations_of_workspaces,
        integrations_open_to_all, budget_policies_in_force, rate_policies_in_force, budget_policies_archived, rate_policies_archived`);
  }
}
