import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Batches with a request that came a day late, or later: retention looks for those of days that it has cut. */
export class LateBatches1763800010001 implements MigrationInterface {
  readonly name = 'LateBatches1763800010001';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query(
      `CREATE INDEX log_batches_late ON log_batches (created_at)
       WHERE created_at - min_created_at > interval '1 day'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    await runner.query('DROP INDEX log_batches_late');
  }
}
