import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Keeps the key of the audit seals, sealed by the master key, once that has been replaced: records from before still hold. */
export class ReplaceableMasterKey1763780000001 implements MigrationInterface {
  readonly name = 'ReplaceableMasterKey1763780000001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query('ALTER TABLE installation ADD COLUMN audit_seal_key bytea');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query('ALTER TABLE installation DROP COLUMN audit_seal_key');
  }
}
