import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * API keys, signed tokens, and answers that are given again for an `Idempotency-Key`.
 */
export class ApiKeys1763800000006 implements MigrationInterface {
  readonly name = 'ApiKeys1763800000006';

  async up(runner: QueryRunner): Promise<void> {
    for (const statements of [API_KEYS, SIGNED_TOKENS, ANSWERS]) await runner.query(statements);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE idempotent_answers, organization_jwt, api_keys');
  }
}

/**
 * A key acts on the authority of its user, or of the person who made it. A key that another key made has the first
 * key's maker in `created_by_user_id`, so the whole line down from a person names that person.
 *
 * A revoked key stays, for the names in old logs. It may lose its workspace and its user, and keeps the hash of its
 * secret in `revoked_key_hash`, so that a caller who presents the secret is told that it was revoked. That hash lets
 * nobody in.
 */
const API_KEYS = `
  CREATE TABLE api_keys (
    id                      uuid PRIMARY KEY,
    kind                    text NOT NULL CHECK (kind IN ('organisation-service', 'workspace-service', 'workspace-user')),
    organization_id         uuid NOT NULL REFERENCES organizations (id),
    workspace_id            uuid,
    user_id                 uuid,
    created_by_key_id       uuid,
    created_by_user_id      uuid,
    creation_mode           text NOT NULL CHECK (creation_mode IN ('ui', 'api', 'auto')),
    name                    text NOT NULL,
    description             text,
    key_hash                bytea UNIQUE CHECK (octet_length(key_hash) = 32),
    previous_key_hash       bytea UNIQUE CHECK (octet_length(previous_key_hash) = 32),
    previous_key_expires_at timestamptz,
    prefix                  text NOT NULL,
    last_four               text NOT NULL,
    scopes                  text[] NOT NULL,
    expires_at              timestamptz,
    status                  text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'exhausted')),
    created_at              timestamptz NOT NULL DEFAULT now(),
    updated_at              timestamptz NOT NULL DEFAULT now(),
    deleted_at              timestamptz,
    default_config_id       uuid REFERENCES configs (id) ON DELETE SET NULL,
    allow_config_override   boolean NOT NULL DEFAULT true,
    rate_limits             jsonb,
    usage_limits            jsonb,
    default_metadata        jsonb,
    alert_emails            text[],
    revoked_key_hash        bytea,
    FOREIGN KEY (organization_id, workspace_id) REFERENCES workspaces (organization_id, id),
    FOREIGN KEY (organization_id, user_id) REFERENCES users (organization_id, id),
    CONSTRAINT api_keys_kind_says_workspace
      CHECK (deleted_at IS NOT NULL OR (kind = 'organisation-service') = (workspace_id IS NULL)),
    CONSTRAINT api_keys_kind_says_user CHECK (deleted_at IS NOT NULL OR kind <> 'workspace-user' OR user_id IS NOT NULL),
    CONSTRAINT api_keys_check2 CHECK ((previous_key_hash IS NULL) = (previous_key_expires_at IS NULL)),
    CONSTRAINT api_keys_check3 CHECK ((key_hash IS NULL) = (deleted_at IS NOT NULL)),
    CONSTRAINT api_keys_check4 CHECK (deleted_at IS NULL OR previous_key_hash IS NULL)
  );
  -- Keys are listed in the order of their ids, which is that of their creation.
  CREATE INDEX api_keys_of_organization ON api_keys (organization_id, id DESC) WHERE deleted_at IS NULL;
  CREATE INDEX api_keys_listed_of_workspace ON api_keys (organization_id, workspace_id, id DESC) WHERE deleted_at IS NULL;
  CREATE INDEX api_keys_of_authority ON api_keys (organization_id, (coalesce(user_id, created_by_user_id)))
    WHERE deleted_at IS NULL;
  CREATE INDEX api_keys_of_workspace ON api_keys (organization_id, workspace_id);
  CREATE INDEX api_keys_of_user ON api_keys (organization_id, user_id) WHERE user_id IS NOT NULL;
  CREATE INDEX api_keys_revoked ON api_keys (revoked_key_hash) WHERE revoked_key_hash IS NOT NULL;
  SELECT protect_tenant_table('api_keys')`;

/** Signed tokens (JWT). `rules` are a `TokenRules`; `keys` are given inline, or were last fetched from `jwks_uri`. */
const SIGNED_TOKENS = `
  CREATE TABLE organization_jwt (
    organization_id uuid PRIMARY KEY REFERENCES organizations (id) ON DELETE CASCADE,
    issuers         text[] NOT NULL CHECK (cardinality(issuers) BETWEEN 1 AND 20),
    rules           jsonb NOT NULL,
    jwks_uri        text,
    keys            jsonb,
    fetched_at      timestamptz,
    tried_at        timestamptz,
    problem         text,
    created_at      timestamptz NOT NULL DEFAULT now(),
    updated_at      timestamptz NOT NULL DEFAULT now(),
    CHECK (jwks_uri IS NOT NULL OR keys IS NOT NULL)
  );
  CREATE INDEX organization_jwt_of_issuer ON organization_jwt USING gin (issuers);
  SELECT protect_tenant_table('organization_jwt')`;

/** The answer to a request with an `Idempotency-Key`, for its repetitions. Null while the first one is under way. */
const ANSWERS = `
  CREATE TABLE idempotent_answers (
    organization_id uuid NOT NULL REFERENCES organizations (id),
    caller_id       uuid NOT NULL,
    key             text NOT NULL,
    fingerprint     bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
    sealed_answer   bytea,
    created_at      timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (organization_id, caller_id, key)
  );
  CREATE INDEX idempotent_answers_by_age ON idempotent_answers (created_at);
  SELECT protect_tenant_table('idempotent_answers')`;
