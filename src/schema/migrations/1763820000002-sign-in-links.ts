import type { MigrationInterface, QueryRunner } from 'typeorm';

/** One-use links to set a password: for the owner whom the first start made, and after a reset on the machine. */
export class SignInLinks1763820000002 implements MigrationInterface {
  readonly name = 'SignInLinks1763820000002';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(LINKS);
    await runner.query("SELECT protect_tenant_table('sign_in_links')");
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query('DROP TABLE sign_in_links');
  }
}

/** A user has one open link at a time. */
const LINKS = `
  CREATE TABLE sign_in_links (
    id uuid PRIMARY KEY,
    organization_id uuid NOT NULL,
    user_id uuid NOT NULL UNIQUE,
    purpose text NOT NULL CHECK (purpose IN ('set_up', 'reset')),
    token_hash bytea NOT NULL UNIQUE CHECK (octet_length(token_hash) = 32),
    expires_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    FOREIGN KEY (organization_id, user_id) REFERENCES users (organization_id, id) ON DELETE CASCADE
  )`;
