import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Authenticator apps (TOTP) and recovery codes. */
export class SecondFactors1763820000003 implements MigrationInterface {
  readonly name = 'SecondFactors1763820000003';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(TOTP);
    await runner.query(RECOVERY_CODES);
    await runner.query("SELECT protect_tenant_table('recovery_codes')");
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(`
      DROP TABLE recovery_codes;
      ALTER TABLE user_credentials DROP COLUMN sealed_totp, DROP COLUMN totp_confirmed_at, DROP COLUMN totp_last_step;
    `);
  }
}

/** The secret is sealed by the organization's key. No code of the last step used, or of one before, is accepted again. */
const TOTP = `
  ALTER TABLE user_credentials
    ADD COLUMN sealed_totp bytea,
    ADD COLUMN totp_confirmed_at timestamptz,
    ADD COLUMN totp_last_step integer NOT NULL DEFAULT 0`;

const RECOVERY_CODES = `
  CREATE TABLE recovery_codes (
    code_hash bytea PRIMARY KEY CHECK (octet_length(code_hash) = 32),
    organization_id uuid NOT NULL,
    user_id uuid NOT NULL,
    FOREIGN KEY (organization_id, user_id) REFERENCES users (organization_id, id) ON DELETE CASCADE
  );
  CREATE INDEX recovery_codes_of_user ON recovery_codes (organization_id, user_id)`;
