import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Credentials (passwords, authenticator apps, recovery codes, passkeys, links), sessions, and throttling of guesses. */
export class SignIn1763800000003 implements MigrationInterface {
  readonly name = 'SignIn1763800000003';

  async up(runner: QueryRunner): Promise<void> {
    for (const statements of [CREDENTIALS, RECOVERY_CODES, PASSKEYS, LINKS, SESSIONS, BRAKES])
      await runner.query(statements);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(`
      DROP TABLE sign_in_brakes, sessions, sign_in_links, used_passkey_challenges, passkeys, recovery_codes, user_credentials
    `);
  }
}

/**
 * The secret of the authenticator app (TOTP) is sealed with the organization's key. Codes of the last used step, or of an earlier one, are
 * not accepted again.
 */
const CREDENTIALS = `
  CREATE TABLE user_credentials (
    user_id             uuid PRIMARY KEY,
    organization_id     uuid NOT NULL,
    password_hash       text,
    password_changed_at timestamptz,
    created_at          timestamptz NOT NULL DEFAULT now(),
    updated_at          timestamptz NOT NULL DEFAULT now(),
    sealed_totp         bytea,
    totp_confirmed_at   timestamptz,
    totp_last_step      integer NOT NULL DEFAULT 0,
    FOREIGN KEY (organization_id, user_id) REFERENCES users (organization_id, id) ON DELETE CASCADE
  );
  SELECT protect_tenant_table('user_credentials')`;

const RECOVERY_CODES = `
  CREATE TABLE recovery_codes (
    code_hash       bytea PRIMARY KEY CHECK (octet_length(code_hash) = 32),
    organization_id uuid NOT NULL,
    user_id         uuid NOT NULL,
    FOREIGN KEY (organization_id, user_id) REFERENCES users (organization_id, id) ON DELETE CASCADE
  );
  CREATE INDEX recovery_codes_of_user ON recovery_codes (organization_id, user_id);
  SELECT protect_tenant_table('recovery_codes')`;

/** Challenges belong to no tenant: a browser gets one before its user is known. Requests of tenants use them as well. */
const PASSKEYS = `
  CREATE TABLE passkeys (
    id              uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    user_id         uuid NOT NULL,
    name            text NOT NULL,
    credential_id   text NOT NULL UNIQUE,
    public_key      bytea NOT NULL,
    counter         bigint NOT NULL,
    transports      text[] NOT NULL,
    is_backed_up    boolean NOT NULL,
    last_used_at    timestamptz,
    created_at      timestamptz NOT NULL DEFAULT now(),
    FOREIGN KEY (organization_id, user_id) REFERENCES users (organization_id, id) ON DELETE CASCADE
  );
  CREATE INDEX passkeys_of_user ON passkeys (organization_id, user_id);
  SELECT protect_tenant_table('passkeys');

  CREATE TABLE used_passkey_challenges (
    challenge  bytea PRIMARY KEY,
    expires_at timestamptz NOT NULL
  );
  CREATE INDEX used_passkey_challenges_ended ON used_passkey_challenges (expires_at);
  SELECT grant_to_tenants('used_passkey_challenges', 'SELECT, INSERT, DELETE')`;

/**
 * One-use links to set a password: for the first owner, and after a reset on the machine. A user has one open link at
 * a time.
 */
const LINKS = `
  CREATE TABLE sign_in_links (
    id              uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    user_id         uuid NOT NULL UNIQUE,
    purpose         text NOT NULL CHECK (purpose IN ('set_up', 'reset')),
    token_hash      bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
    expires_at      timestamptz NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT now(),
    FOREIGN KEY (organization_id, user_id) REFERENCES users (organization_id, id) ON DELETE CASCADE
  );
  SELECT protect_tenant_table('sign_in_links')`;

const SESSIONS = `
  CREATE TABLE sessions (
    id               uuid PRIMARY KEY,
    organization_id  uuid NOT NULL,
    user_id          uuid NOT NULL,
    secret_hash      bytea NOT NULL UNIQUE CHECK (octet_length(secret_hash) = 32),
    method           text NOT NULL,
    ip               text NOT NULL,
    user_agent       text,
    created_at       timestamptz NOT NULL DEFAULT now(),
    last_seen_at     timestamptz NOT NULL DEFAULT now(),
    authenticated_at timestamptz NOT NULL DEFAULT now(),
    FOREIGN KEY (organization_id, user_id) REFERENCES users (organization_id, id) ON DELETE CASCADE
  );
  CREATE INDEX sessions_of_user ON sessions (organization_id, user_id);
  CREATE INDEX sessions_by_age ON sessions (created_at);
  SELECT protect_tenant_table('sessions')`;

/**
 * Failed attempts, which slow down guessing. They belong to no tenant: a guess may name a user who does not exist. `subject` is a keyed
 * hash.
 */
const BRAKES = `
  CREATE TABLE sign_in_brakes (
    subject  bytea PRIMARY KEY CHECK (octet_length(subject) = 32),
    failures integer NOT NULL,
    ends_at  timestamptz NOT NULL
  );
  CREATE INDEX sign_in_brakes_ended ON sign_in_brakes (ends_at)`;
