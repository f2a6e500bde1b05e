import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The service tier of a request: `flex`, `priority` and the like. */
export class ServiceTiers1763838000002 implements MigrationInterface {
  readonly name = 'ServiceTiers1763838000002';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query('ALTER TABLE request_logs ADD COLUMN service_tier text');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query('ALTER TABLE request_logs DROP COLUMN service_tier');
  }
}
