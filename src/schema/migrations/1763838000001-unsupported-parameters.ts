import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a virtual key does with parameters that its provider does not support, and which of them a request was sent without. */
export class UnsupportedParameters1763838000001 implements MigrationInterface {
  readonly name = 'UnsupportedParameters1763838000001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query('ALTER TABLE virtual_keys ADD COLUMN unsupported_parameters text');
    await runner.query('ALTER TABLE request_logs ADD COLUMN dropped_parameters text[]');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query('ALTER TABLE request_logs DROP COLUMN dropped_parameters');
    await runner.query('ALTER TABLE virtual_keys DROP COLUMN unsupported_parameters');
  }
}
