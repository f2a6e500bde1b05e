import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which attempts are charged an estimate. Null for attempts that were stored before it was noted. */
export class EstimatedAttempts1763811000002 implements MigrationInterface {
  readonly name = 'EstimatedAttempts1763811000002';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query('ALTER TABLE request_attempts ADD COLUMN estimated boolean');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query('ALTER TABLE request_attempts DROP COLUMN estimated');
  }
}
