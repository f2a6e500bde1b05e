import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The hash of a revoked key's secret, so that whoever holds the secret can be told that it was revoked. It lets nobody in. */
export class RevokedKeys1763835000001 implements MigrationInterface {
  readonly name = 'RevokedKeys1763835000001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query('ALTER TABLE api_keys ADD COLUMN revoked_key_hash bytea');
    await runner.query(
      'CREATE INDEX api_keys_revoked ON api_keys (revoked_key_hash) WHERE revoked_key_hash IS NOT NULL',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query('ALTER TABLE api_keys DROP COLUMN revoked_key_hash');
  }
}
