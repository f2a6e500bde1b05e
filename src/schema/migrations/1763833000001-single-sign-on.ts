import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Identity providers of organizations, the users and sessions that come from them, and whether others may come. */
export class SingleSignOn1763833000001 implements MigrationInterface {
  readonly name = 'SingleSignOn1763833000001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    for (const statements of [PROVIDERS, IDENTITIES, SESSIONS, TRIALS, POLICIES, USED_TOKENS])
      await runner.query(statements);
    for (const table of TENANT_TABLES) await runner.query(`SELECT protect_tenant_table('${table}')`);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(`DROP TABLE used_tokens, ${[...TENANT_TABLES].reverse().join(', ')}`);
  }
}

const TENANT_TABLES = [
  'identity_providers',
  'user_identities',
  'single_sign_on_sessions',
  'sign_in_trials',
  'sign_in_policies',
];

const PROVIDERS = `
  CREATE TABLE identity_providers (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    name text NOT NULL,
    issuer text NOT NULL,
    client_id text NOT NULL,
    sealed_client_secret bytea NOT NULL,
    scopes text[] NOT NULL,
    domains text[] NOT NULL,
    is_enabled boolean NOT NULL DEFAULT true,
    rules jsonb NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    UNIQUE (organization_id, id)
  );
  CREATE INDEX identity_providers_of_organization ON identity_providers (organization_id, created_at DESC, id DESC);
  CREATE INDEX identity_providers_by_domain ON identity_providers USING gin (domains);
  CREATE INDEX identity_providers_by_issuer ON identity_providers (issuer, client_id)`;

/** A user has one account at a provider, and an account is of one user. */
const IDENTITIES = `
  CREATE TABLE user_identities (
    provider_id uuid NOT NULL,
    subject text NOT NULL,
    organization_id uuid NOT NULL,
    user_id uuid NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (provider_id, subject),
    UNIQUE (provider_id, user_id),
    FOREIGN KEY (organization_id, provider_id) REFERENCES identity_providers (organization_id, id) ON DELETE CASCADE,
    FOREIGN KEY (organization_id, user_id) REFERENCES users (organization_id, id) ON DELETE CASCADE
  )`;

/** The ID token is kept, sealed, for the sign-out at the provider. */
const SESSIONS = `
  CREATE TABLE single_sign_on_sessions (
    session_id uuid PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    organization_id uuid NOT NULL,
    provider_id uuid NOT NULL,
    subject text NOT NULL,
    provider_session_id text,
    sealed_id_token bytea NOT NULL,
    end_session_endpoint text,
    FOREIGN KEY (organization_id, provider_id) REFERENCES identity_providers (organization_id, id) ON DELETE CASCADE
  );
  CREATE INDEX single_sign_on_sessions_of_subject ON single_sign_on_sessions (provider_id, subject);
  CREATE INDEX single_sign_on_sessions_of_provider_session
    ON single_sign_on_sessions (provider_id, provider_session_id)`;

const TRIALS = `
  CREATE TABLE sign_in_trials (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    state_hash bytea NOT NULL UNIQUE CHECK (octet_length(state_hash) = 32),
    sealed_draft bytea NOT NULL,
    result jsonb,
    expires_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE INDEX sign_in_trials_ended ON sign_in_trials (organization_id, expires_at)`;

const POLICIES = `
  CREATE TABLE sign_in_policies (
    organization_id uuid PRIMARY KEY REFERENCES organizations (id) ON DELETE CASCADE,
    is_single_sign_on_required boolean NOT NULL,
    break_glass_user_ids uuid[] NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
  )`;

/** Of no tenant: keyed hashes of states and logout tokens that were used, until they would have ended. */
const USED_TOKENS = `
  CREATE TABLE used_tokens (
    token_hash bytea PRIMARY KEY CHECK (octet_length(token_hash) = 32),
    expires_at timestamptz NOT NULL
  );
  CREATE INDEX used_tokens_ended ON used_tokens (expires_at);
  DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'gatehouse_tenant') THEN
      GRANT SELECT, INSERT, DELETE ON used_tokens TO gatehouse_tenant;
    END IF;
  END $$`;
