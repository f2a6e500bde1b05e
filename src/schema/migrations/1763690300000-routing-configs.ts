import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Saved configs with all their versions, the defaults that name them, and what the log tells of them. */
export class RoutingConfigs1763690300000 implements MigrationInterface {
  readonly name = 'RoutingConfigs1763690300000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    for (const statements of [CONFIGS, DEFAULTS, LOG]) await runner.query(statements);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(`
      ALTER TABLE request_logs DROP COLUMN config_id, DROP COLUMN config_version_id, DROP COLUMN option_path,
        DROP COLUMN decisions;
      ALTER TABLE request_attempts DROP COLUMN option_path;
      ALTER TABLE api_keys DROP COLUMN default_config_id, DROP COLUMN allow_config_override;
      ALTER TABLE workspaces DROP COLUMN default_config_id;
      ALTER TABLE organizations DROP COLUMN default_config_id;
      ALTER TABLE configs DROP CONSTRAINT configs_version;
      DROP TABLE config_versions, configs;
    `);
  }
}

/**
 * A config without a workspace is for all of its organization. `version_id` names the version in force; the constraint
 * waits for the end of the transaction, because each row names the other.
 */
const CONFIGS = `
  CREATE TABLE configs (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations (id),
    workspace_id uuid,
    slug text NOT NULL,
    name text NOT NULL,
    is_default boolean NOT NULL DEFAULT false,
    status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')),
    version_id uuid NOT NULL,
    owner_id uuid,
    updated_by uuid,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, id),
    UNIQUE (organization_id, id),
    UNIQUE (organization_id, slug)
  );
  CREATE INDEX configs_of_organization ON configs (organization_id, created_at DESC, id DESC);
  CREATE TABLE config_versions (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    config_id uuid NOT NULL,
    number integer NOT NULL CHECK (number > 0),
    document jsonb NOT NULL,
    created_by uuid,
    created_at timestamptz NOT NULL DEFAULT now(),
    FOREIGN KEY (organization_id, config_id) REFERENCES configs (organization_id, id) ON DELETE CASCADE,
    UNIQUE (config_id, id),
    UNIQUE (config_id, number)
  );
  ALTER TABLE configs ADD CONSTRAINT configs_version FOREIGN KEY (id, version_id)
    REFERENCES config_versions (config_id, id) DEFERRABLE INITIALLY DEFERRED`;

/** A key's own default comes before its workspace's, and that before its organization's. */
const DEFAULTS = `
  ALTER TABLE api_keys ADD COLUMN default_config_id uuid REFERENCES configs (id) ON DELETE SET NULL,
    ADD COLUMN allow_config_override boolean NOT NULL DEFAULT true;
  ALTER TABLE workspaces ADD COLUMN default_config_id uuid REFERENCES configs (id) ON DELETE SET NULL;
  ALTER TABLE organizations ADD COLUMN default_config_id uuid REFERENCES configs (id) ON DELETE SET NULL`;

/** Null in rows of before. */
const LOG = `
  ALTER TABLE request_logs ADD COLUMN config_id uuid, ADD COLUMN config_version_id uuid, ADD COLUMN option_path text,
    ADD COLUMN decisions jsonb;
  ALTER TABLE request_attempts ADD COLUMN option_path text`;
