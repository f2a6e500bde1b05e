import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Credentials that workspaces share, and prices of one's own.
 *
 * A provider of a workspace is a row of `virtual_keys` that points to an integration instead of holding a credential: both
 * are named by the same kind of slug on the path, so one unique index keeps their names apart.
 */
export class Integrations1763690900000 implements MigrationInterface {
  readonly name = 'Integrations1763690900000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    for (const statements of [INTEGRATIONS, LINKS, PROVIDERS, PRICES]) await runner.query(statements);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(`
      DELETE FROM virtual_keys WHERE integration_id IS NOT NULL;
      ALTER TABLE virtual_keys DROP COLUMN integration_id, DROP COLUMN prices, ALTER COLUMN provider_id SET NOT NULL;
      DROP TABLE model_prices, integration_workspaces, integration_models, integrations;
    `);
  }
}

/** Without a workspace it belongs to the organization, and workspaces are given access to it. */
const INTEGRATIONS = `
  CREATE TABLE integrations (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations (id),
    workspace_id uuid,
    slug text NOT NULL,
    name text NOT NULL,
    description text,
    provider_id text NOT NULL,
    custom_host text,
    fields jsonb NOT NULL DEFAULT '{}',
    sealed_credentials bytea,
    last_four text,
    allows_all_models boolean NOT NULL DEFAULT true,
    is_open_to_all_workspaces boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, id),
    UNIQUE (organization_id, id),
    UNIQUE (organization_id, slug),
    CHECK (workspace_id IS NULL OR NOT is_open_to_all_workspaces)
  );
  CREATE INDEX integrations_of_organization ON integrations (organization_id, created_at DESC, id DESC)`;

/** What is said of single models and workspaces; the rest follows the integration's own row. */
const LINKS = `
  CREATE TABLE integration_models (
    integration_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    slug text NOT NULL,
    is_enabled boolean NOT NULL,
    is_custom boolean NOT NULL DEFAULT false,
    is_finetune boolean NOT NULL DEFAULT false,
    base_model_slug text,
    price jsonb,
    PRIMARY KEY (integration_id, slug),
    FOREIGN KEY (organization_id, integration_id) REFERENCES integrations (organization_id, id) ON DELETE CASCADE
  );
  CREATE TABLE integration_workspaces (
    integration_id uuid NOT NULL,
    workspace_id uuid NOT NULL,
    organization_id uuid NOT NULL,
    is_enabled boolean NOT NULL,
    PRIMARY KEY (integration_id, workspace_id),
    FOREIGN KEY (organization_id, integration_id) REFERENCES integrations (organization_id, id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, id) ON DELETE CASCADE
  );
  CREATE INDEX integration_workspaces_of_workspace ON integration_workspaces (workspace_id)`;

/** A row holds a credential of its own or points to one, never both. `prices` are by model, as \`Price\` is written. */
const PROVIDERS = `
  ALTER TABLE virtual_keys
    ADD COLUMN integration_id uuid,
    ADD COLUMN prices jsonb,
    ALTER COLUMN provider_id DROP NOT NULL,
    ADD FOREIGN KEY (organization_id, integration_id) REFERENCES integrations (organization_id, id),
    ADD CONSTRAINT virtual_keys_credential_or_integration CHECK (
      CASE WHEN integration_id IS NULL THEN provider_id IS NOT NULL
      ELSE provider_id IS NULL AND custom_host IS NULL AND sealed_credentials IS NULL AND prices IS NULL END);
  CREATE INDEX virtual_keys_of_integration ON virtual_keys (integration_id) WHERE integration_id IS NOT NULL`;

/** What an organization has agreed on with a provider, instead of the list price. */
const PRICES = `
  CREATE TABLE model_prices (
    organization_id uuid NOT NULL REFERENCES organizations (id),
    provider_id text NOT NULL,
    model text NOT NULL,
    price jsonb NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organization_id, provider_id, model)
  )`;
