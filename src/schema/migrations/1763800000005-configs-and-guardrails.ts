import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Saved routing configs with all their versions, the defaults that refer to them, and stored guardrails. */
export class ConfigsAndGuardrails1763800000005 implements MigrationInterface {
  readonly name = 'ConfigsAndGuardrails1763800000005';

  async up(runner: QueryRunner): Promise<void> {
    for (const statements of [CONFIGS, DEFAULTS, GUARDRAILS]) await runner.query(statements);
  }

  /** With the foreign keys of organizations and workspaces. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE guardrails, config_versions, configs CASCADE');
  }
}

/**
 * A config without a workspace applies to its whole organization. `version_id` is the current version; its constraint is deferred to the
 * end of the transaction, because the two rows refer to each other.
 */
const CONFIGS = `
  CREATE TABLE configs (
    id              uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations (id),
    workspace_id    uuid,
    slug            text NOT NULL,
    name            text NOT NULL,
    is_default      boolean NOT NULL DEFAULT false,
    status          text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'archived')),
    version_id      uuid NOT NULL,
    owner_id        uuid,
    updated_by      uuid,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, id),
    UNIQUE (organization_id, id),
    UNIQUE (organization_id, slug)
  );
  CREATE INDEX configs_of_organization ON configs (organization_id, created_at DESC, id DESC);
  CREATE INDEX configs_listed_of_workspace ON configs (organization_id, workspace_id, created_at DESC, id DESC);
  CREATE INDEX configs_counted ON configs (organization_id);

  CREATE TABLE config_versions (
    id              uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    config_id       uuid NOT NULL,
    number          integer NOT NULL CHECK (number > 0),
    document        jsonb NOT NULL,
    created_by      uuid,
    created_at      timestamptz NOT NULL DEFAULT now(),
    FOREIGN KEY (organization_id, config_id) REFERENCES configs (organization_id, id) ON DELETE CASCADE,
    UNIQUE (config_id, id),
    UNIQUE (config_id, number)
  );
  ALTER TABLE configs ADD CONSTRAINT configs_version FOREIGN KEY (id, version_id)
    REFERENCES config_versions (config_id, id) DEFERRABLE INITIALLY DEFERRED;
  SELECT protect_tenant_table('configs'), protect_tenant_table('config_versions')`;

/**
 * The tables and configs refer to each other. A key's own default takes precedence over its workspace's, and that over its organization's.
 */
const DEFAULTS = `
  ALTER TABLE organizations ADD FOREIGN KEY (default_config_id) REFERENCES configs (id) ON DELETE SET NULL;
  ALTER TABLE workspaces ADD FOREIGN KEY (default_config_id) REFERENCES configs (id) ON DELETE SET NULL`;

const GUARDRAILS = `
  CREATE TABLE guardrails (
    id              uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations (id),
    workspace_id    uuid,
    slug            text NOT NULL,
    name            text NOT NULL,
    checks          jsonb NOT NULL,
    actions         jsonb NOT NULL,
    sealed_secrets  bytea,
    version_id      uuid NOT NULL,
    owner_id        uuid NOT NULL,
    updated_by      uuid,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, id),
    UNIQUE (organization_id, slug)
  );
  CREATE INDEX guardrails_of_organization ON guardrails (organization_id, created_at DESC, id DESC);
  CREATE INDEX guardrails_listed_of_workspace ON guardrails (organization_id, workspace_id, created_at DESC, id DESC);
  CREATE INDEX guardrails_counted ON guardrails (organization_id);
  SELECT protect_tenant_table('guardrails')`;
