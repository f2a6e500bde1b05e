import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Identity providers of organizations, their users and sessions, and whether other sign-ins are allowed. */
export class SingleSignOn1763800000004 implements MigrationInterface {
  readonly name = 'SingleSignOn1763800000004';

  async up(runner: QueryRunner): Promise<void> {
    for (const statements of [PROVIDERS, IDENTITIES, SESSIONS, TRIALS, POLICIES, USED_TOKENS])
      await runner.query(statements);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE used_tokens, sign_in_policies, sign_in_trials, single_sign_on_sessions, user_identities, identity_providers
    `);
  }
}

const PROVIDERS = `
  CREATE TABLE identity_providers (
    id                   uuid PRIMARY KEY,
    organization_id      uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    name                 text NOT NULL,
    issuer               text NOT NULL,
    client_id            text NOT NULL,
    sealed_client_secret bytea NOT NULL,
    scopes               text[] NOT NULL,
    domains              text[] NOT NULL,
    is_enabled           boolean NOT NULL DEFAULT true,
    rules                jsonb NOT NULL,
    created_at           timestamptz NOT NULL DEFAULT now(),
    updated_at           timestamptz NOT NULL DEFAULT now(),
    UNIQUE (organization_id, id)
  );
  CREATE INDEX identity_providers_of_organization ON identity_providers (organization_id, created_at DESC, id DESC);
  CREATE INDEX identity_providers_by_domain ON identity_providers USING gin (domains);
  CREATE INDEX identity_providers_by_issuer ON identity_providers (issuer, client_id);
  SELECT protect_tenant_table('identity_providers')`;

/** A user has one account at a provider, and an account belongs to one user. */
const IDENTITIES = `
  CREATE TABLE user_identities (
    provider_id     uuid NOT NULL,
    subject         text NOT NULL,
    organization_id uuid NOT NULL,
    user_id         uuid NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (provider_id, subject),
    UNIQUE (provider_id, user_id),
    FOREIGN KEY (organization_id, provider_id) REFERENCES identity_providers (organization_id, id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, user_id) REFERENCES users (organization_id, id) ON DELETE CASCADE
  );
  SELECT protect_tenant_table('user_identities')`;

/** The ID token is stored, sealed, for the sign-out at the provider. */
const SESSIONS = `
  CREATE TABLE single_sign_on_sessions (
    session_id           uuid PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    organization_id      uuid NOT NULL,
    provider_id          uuid NOT NULL,
    subject              text NOT NULL,
    provider_session_id  text,
    sealed_id_token      bytea NOT NULL,
    end_session_endpoint text,
    FOREIGN KEY (organization_id, provider_id) REFERENCES identity_providers (organization_id, id) ON DELETE CASCADE
  );
  CREATE INDEX single_sign_on_sessions_of_subject ON single_sign_on_sessions (provider_id, subject);
  CREATE INDEX single_sign_on_sessions_of_provider_session ON single_sign_on_sessions (provider_id, provider_session_id);
  SELECT protect_tenant_table('single_sign_on_sessions')`;

/** Test sign-ins with a provider's settings before they are saved. */
const TRIALS = `
  CREATE TABLE sign_in_trials (
    id              uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    state_hash      bytea NOT NULL UNIQUE CHECK (octet_length(state_hash) = 32),
    sealed_draft    bytea NOT NULL,
    result          jsonb,
    expires_at      timestamptz NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX sign_in_trials_ended ON sign_in_trials (organization_id, expires_at);
  SELECT protect_tenant_table('sign_in_trials')`;

const POLICIES = `
  CREATE TABLE sign_in_policies (
    organization_id            uuid PRIMARY KEY REFERENCES organizations (id) ON DELETE CASCADE,
    is_single_sign_on_required boolean NOT NULL,
    break_glass_user_ids       uuid[] NOT NULL,
    created_at                 timestamptz NOT NULL DEFAULT now(),
    updated_at                 timestamptz NOT NULL DEFAULT now()
  );
  SELECT protect_tenant_table('sign_in_policies')`;

/** Without a tenant: keyed hashes of used states and logout tokens, until they would have expired. */
const USED_TOKENS = `
  CREATE TABLE used_tokens (
    token_hash bytea PRIMARY KEY CHECK (octet_length(token_hash) = 32),
    expires_at timestamptz NOT NULL
  );
  CREATE INDEX used_tokens_ended ON used_tokens (expires_at);
  SELECT grant_to_tenants('used_tokens', 'SELECT, INSERT, DELETE')`;
