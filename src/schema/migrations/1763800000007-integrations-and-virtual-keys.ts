import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Credentials of providers: integrations, which workspaces share, virtual keys, and the prices of an organization. */
export class IntegrationsAndVirtualKeys1763800000007 implements MigrationInterface {
  readonly name = 'IntegrationsAndVirtualKeys1763800000007';

  async up(runner: QueryRunner): Promise<void> {
    for (const statements of [INTEGRATIONS, EXCEPTIONS, VIRTUAL_KEYS, PRICES]) await runner.query(statements);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE model_prices, virtual_keys, integration_workspaces, integration_models, integrations
    `);
  }
}

/** Without a workspace it belongs to the organization, which gives workspaces access to it. */
const INTEGRATIONS = `
  CREATE TABLE integrations (
    id                        uuid PRIMARY KEY,
    organization_id           uuid NOT NULL REFERENCES organizations (id),
    workspace_id              uuid,
    slug                      text NOT NULL,
    name                      text NOT NULL,
    description               text,
    provider_id               text NOT NULL,
    custom_host               text,
    fields                    jsonb NOT NULL DEFAULT '{}',
    sealed_credentials        bytea,
    last_four                 text,
    allows_all_models         boolean NOT NULL DEFAULT true,
    is_open_to_all_workspaces boolean NOT NULL DEFAULT false,
    created_at                timestamptz NOT NULL DEFAULT now(),
    updated_at                timestamptz NOT NULL DEFAULT now(),
    FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, id),
    UNIQUE (organization_id, id),
    UNIQUE (organization_id, slug),
    CHECK (workspace_id IS NULL OR NOT is_open_to_all_workspaces)
  );
  CREATE INDEX integrations_of_organization ON integrations (organization_id, created_at DESC, id DESC);
  CREATE INDEX integrations_of_workspace ON integrations (organization_id, workspace_id) WHERE workspace_id IS NOT NULL;
  CREATE INDEX integrations_of_own ON integrations (organization_id, created_at DESC, id DESC)
    WHERE workspace_id IS NULL;
  CREATE INDEX integrations_of_workspaces ON integrations (organization_id, created_at DESC, id DESC)
    WHERE workspace_id IS NOT NULL;
  CREATE INDEX integrations_open_to_all ON integrations (organization_id)
    WHERE workspace_id IS NULL AND is_open_to_all_workspaces;
  SELECT protect_tenant_table('integrations')`;

/** What is set for single models and workspaces; all others follow the integration's own row. */
const EXCEPTIONS = `
  CREATE TABLE integration_models (
    integration_id  uuid NOT NULL,
    organization_id uuid NOT NULL,
    slug            text NOT NULL,
    is_enabled      boolean NOT NULL,
    is_custom       boolean NOT NULL DEFAULT false,
    is_finetune     boolean NOT NULL DEFAULT false,
    base_model_slug text,
    price           jsonb,
    PRIMARY KEY (integration_id, slug),
    FOREIGN KEY (organization_id, integration_id) REFERENCES integrations (organization_id, id) ON DELETE CASCADE
  );

  CREATE TABLE integration_workspaces (
    integration_id  uuid NOT NULL,
    workspace_id    uuid NOT NULL,
    organization_id uuid NOT NULL,
    is_enabled      boolean NOT NULL,
    PRIMARY KEY (integration_id, workspace_id),
    FOREIGN KEY (organization_id, integration_id) REFERENCES integrations (organization_id, id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, id) ON DELETE CASCADE
  );
  CREATE INDEX integration_workspaces_of_workspace ON integration_workspaces (workspace_id);
  SELECT protect_tenant_table('integration_models'), protect_tenant_table('integration_workspaces')`;

/**
 * A virtual key holds a credential of its own. A provider of a workspace is a row without one that points to an
 * integration. Both are addressed by the same kind of slug, so one unique constraint keeps their names apart.
 *
 * `prices` are by model, as `Price` is written. `on_client_disconnect`: what becomes of an attempt whose client
 * leaves; null where the workspace decides.
 */
const VIRTUAL_KEYS = `
  CREATE TABLE virtual_keys (
    id                     uuid PRIMARY KEY,
    organization_id        uuid NOT NULL,
    workspace_id           uuid NOT NULL,
    slug                   text NOT NULL,
    name                   text NOT NULL,
    note                   text,
    provider_id            text,
    custom_host            text,
    fields                 jsonb NOT NULL DEFAULT '{}',
    sealed_credentials     bytea,
    expires_at             timestamptz,
    created_at             timestamptz NOT NULL DEFAULT now(),
    updated_at             timestamptz NOT NULL DEFAULT now(),
    rate_limits            jsonb,
    usage_limits           jsonb,
    integration_id         uuid,
    prices                 jsonb,
    on_client_disconnect   text,
    unsupported_parameters text,
    FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, id),
    FOREIGN KEY (organization_id, integration_id) REFERENCES integrations (organization_id, id),
    UNIQUE (organization_id, slug),
    CONSTRAINT virtual_keys_credential_or_integration CHECK (
      CASE WHEN integration_id IS NULL THEN provider_id IS NOT NULL
      ELSE provider_id IS NULL AND custom_host IS NULL AND sealed_credentials IS NULL AND prices IS NULL END)
  );
  CREATE INDEX virtual_keys_listed ON virtual_keys (organization_id, created_at DESC, id DESC)
    WHERE integration_id IS NULL;
  CREATE INDEX virtual_keys_listed_of_workspace ON virtual_keys (organization_id, workspace_id, created_at DESC, id DESC)
    WHERE integration_id IS NULL;
  CREATE INDEX virtual_keys_counted ON virtual_keys (organization_id) WHERE integration_id IS NULL;
  CREATE INDEX virtual_keys_of_integration ON virtual_keys (integration_id) WHERE integration_id IS NOT NULL;
  CREATE INDEX providers_listed ON virtual_keys (organization_id, created_at DESC, id DESC)
    WHERE integration_id IS NOT NULL;
  CREATE INDEX providers_listed_of_workspace ON virtual_keys (organization_id, workspace_id, created_at DESC, id DESC)
    WHERE integration_id IS NOT NULL;
  CREATE INDEX providers_counted ON virtual_keys (organization_id) WHERE integration_id IS NOT NULL;
  SELECT protect_tenant_table('virtual_keys')`;

/** What an organization has agreed on with a provider, instead of the list price. */
const PRICES = `
  CREATE TABLE model_prices (
    organization_id uuid NOT NULL REFERENCES organizations (id),
    provider_id     text NOT NULL,
    model           text NOT NULL,
    price           jsonb NOT NULL,
    updated_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organization_id, provider_id, model)
  );
  SELECT protect_tenant_table('model_prices')`;
