import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Passkeys, and the challenges that were answered. */
export class Passkeys1763820000004 implements MigrationInterface {
  readonly name = 'Passkeys1763820000004';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    for (const statements of [PASSKEYS, CHALLENGES]) await runner.query(statements);
    await runner.query("SELECT protect_tenant_table('passkeys')");
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query('DROP TABLE used_passkey_challenges, passkeys');
  }
}

const PASSKEYS = `
  CREATE TABLE passkeys (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    user_id uuid NOT NULL,
    name text NOT NULL,
    credential_id text NOT NULL UNIQUE,
    public_key bytea NOT NULL,
    counter bigint NOT NULL,
    transports text[] NOT NULL,
    is_backed_up boolean NOT NULL,
    last_used_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now(),
    FOREIGN KEY (organization_id, user_id) REFERENCES users (organization_id, id) ON DELETE CASCADE
  );
  CREATE INDEX passkeys_of_user ON passkeys (organization_id, user_id)`;

/** Of no tenant: a challenge goes to somebody who is not known yet. Requests of tenants answer challenges, too. */
const CHALLENGES = `
  CREATE TABLE used_passkey_challenges (
    challenge bytea PRIMARY KEY,
    expires_at timestamptz NOT NULL
  );
  CREATE INDEX used_passkey_challenges_ended ON used_passkey_challenges (expires_at);
  DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'gatehouse_tenant') THEN
      GRANT SELECT, INSERT, DELETE ON used_passkey_challenges TO gatehouse_tenant;
    END IF;
  END $$`;
