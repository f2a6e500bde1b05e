import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Dashboard sessions, what users sign in with, and the brakes on guessing. Password hashes move out of `users`. */
export class SignIn1763820000001 implements MigrationInterface {
  readonly name = 'SignIn1763820000001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    for (const statements of [CREDENTIALS, SESSIONS, BRAKES]) await runner.query(statements);
    await runner.query("SELECT protect_tenant_table('user_credentials'), protect_tenant_table('sessions')");
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(`
      UPDATE users SET password_hash = credential.password_hash
      FROM user_credentials credential WHERE credential.user_id = users.id;
      DROP INDEX users_to_sign_in;
      DROP TABLE sign_in_brakes, sessions, user_credentials;
    `);
  }
}

/** `users.password_hash` stays for the release before this one, which still writes it, and is emptied. */
const CREDENTIALS = `
  CREATE TABLE user_credentials (
    user_id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    password_hash text,
    password_changed_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    FOREIGN KEY (organization_id, user_id) REFERENCES users (organization_id, id) ON DELETE CASCADE
  );
  INSERT INTO user_credentials (user_id, organization_id, password_hash, password_changed_at)
    SELECT id, organization_id, password_hash, created_at FROM users WHERE password_hash IS NOT NULL;
  UPDATE users SET password_hash = NULL WHERE password_hash IS NOT NULL;
  CREATE INDEX users_to_sign_in ON users (lower(email))`;

const SESSIONS = `
  CREATE TABLE sessions (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    user_id uuid NOT NULL,
    secret_hash bytea NOT NULL UNIQUE CHECK (octet_length(secret_hash) = 32),
    method text NOT NULL,
    ip text NOT NULL,
    user_agent text,
    created_at timestamptz NOT NULL DEFAULT now(),
    last_seen_at timestamptz NOT NULL DEFAULT now(),
    authenticated_at timestamptz NOT NULL DEFAULT now(),
    FOREIGN KEY (organization_id, user_id) REFERENCES users (organization_id, id) ON DELETE CASCADE
  );
  CREATE INDEX sessions_of_user ON sessions (organization_id, user_id);
  CREATE INDEX sessions_by_age ON sessions (created_at)`;

/** Of no tenant: an address that guesses names users who may not exist. `subject` is a keyed hash. */
const BRAKES = `
  CREATE TABLE sign_in_brakes (
    subject bytea PRIMARY KEY CHECK (octet_length(subject) = 32),
    failures integer NOT NULL,
    ends_at timestamptz NOT NULL
  );
  CREATE INDEX sign_in_brakes_ended ON sign_in_brakes (ends_at)`;
