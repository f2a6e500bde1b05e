import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * A page of a list is read off an index in the list's order, whatever else the organization has: a workspace's guardrails and
 * policies among those of others, providers among virtual keys, policies in force among archived ones, one person's exports.
 */
export class PagesOfLists1763750000001 implements MigrationInterface {
  readonly name = 'PagesOfLists1763750000001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(`
      CREATE INDEX guardrails_listed_of_workspace ON guardrails (organization_id, workspace_id, created_at DESC, id DESC);
      CREATE INDEX integrations_of_workspace ON integrations (organization_id, workspace_id) WHERE workspace_id IS NOT NULL;
      CREATE INDEX virtual_keys_listed ON virtual_keys (organization_id, created_at DESC, id DESC)
        WHERE integration_id IS NULL;
      CREATE INDEX providers_listed ON virtual_keys (organization_id, created_at DESC, id DESC)
        WHERE integration_id IS NOT NULL;
      CREATE INDEX providers_listed_of_workspace ON virtual_keys (organization_id, workspace_id, created_at DESC, id DESC)
        WHERE integration_id IS NOT NULL;
      DROP INDEX virtual_keys_of_organization;
      CREATE INDEX users_by_role ON users (organization_id, role, created_at DESC, id DESC);
      CREATE INDEX members_listed ON workspace_members (organization_id, workspace_id, created_at DESC, user_id DESC);
      CREATE INDEX invites_by_email ON invites (organization_id, email);
      CREATE INDEX log_exports_listed ON log_exports (organization_id, created_at DESC, id DESC);
      CREATE INDEX log_exports_of_user ON log_exports (organization_id, user_id, created_at DESC, id DESC)
        WHERE user_id IS NOT NULL;
      CREATE INDEX limit_policies_in_force ON limit_policies (organization_id, created_at DESC, id DESC)
        WHERE archived_at IS NULL;
      CREATE INDEX limit_policies_listed_of_workspace
        ON limit_policies (organization_id, workspace_id, created_at DESC, id DESC);
      CREATE INDEX workspaces_by_name ON workspaces (organization_id, name, id)`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(`
      CREATE INDEX virtual_keys_of_organization ON virtual_keys (organization_id, created_at DESC, id DESC);
      DROP INDEX guardrails_listed_of_workspace, integrations_of_workspace, virtual_keys_listed, providers_listed,
        providers_listed_of_workspace, users_by_role, members_listed, invites_by_email, log_exports_listed,
        log_exports_of_user, limit_policies_in_force, limit_policies_listed_of_workspace, workspaces_by_name`);
  }
}
