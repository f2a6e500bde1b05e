import type { MigrationInterface, QueryRunner } from 'typeorm';

/** By which price an attempt was charged, as it stood then: an `AppliedPrice`. Lists change, and so do a virtual key's own prices. */
export class AppliedPrices1763691610001 implements MigrationInterface {
  readonly name = 'AppliedPrices1763691610001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query('ALTER TABLE request_attempts ADD COLUMN price jsonb');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query('ALTER TABLE request_attempts DROP COLUMN price');
  }
}
