import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * References to secrets of secret managers, and the fields of virtual keys and integrations that take their values from them. The secret
 * fields of `auth_config` are in `sealed_auth`, the others in `auth`. Null workspaces: every workspace may use it.
 */
export class SecretReferences1763800020071 implements MigrationInterface {
  readonly name = 'SecretReferences1763800020071';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(`
      CREATE TABLE secret_references (
        id                    uuid PRIMARY KEY,
        organization_id       uuid NOT NULL REFERENCES organizations (id),
        slug                  text NOT NULL,
        name                  text NOT NULL,
        description           text,
        manager_type          text NOT NULL,
        auth                  jsonb NOT NULL,
        sealed_auth           bytea,
        secret_path           text NOT NULL,
        secret_key            text,
        allowed_workspace_ids uuid[],
        tags                  jsonb,
        created_by            uuid,
        created_at            timestamptz NOT NULL DEFAULT now(),
        updated_at            timestamptz NOT NULL DEFAULT now(),
        UNIQUE (organization_id, slug)
      );
      CREATE INDEX secret_references_of_organization
        ON secret_references (organization_id, created_at DESC, id DESC);
      SELECT protect_tenant_table('secret_references')`);
    await runner.query(`
      ALTER TABLE virtual_keys ADD COLUMN secret_mappings jsonb;
      ALTER TABLE integrations ADD COLUMN secret_mappings jsonb`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      ALTER TABLE integrations DROP COLUMN secret_mappings;
      ALTER TABLE virtual_keys DROP COLUMN secret_mappings;
      DELETE FROM tenant_grants WHERE table_name = 'secret_references';
      DROP TABLE secret_references`);
  }
}
