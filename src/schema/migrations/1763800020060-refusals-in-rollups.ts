import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Rollups tell errors of the gateway itself apart from those of providers. Earlier rows have none, so their errors count as before;
 * `gatehouse rebuild rollups` counts them again where the request rows exist.
 */
export class RefusalsInRollups1763800020060 implements MigrationInterface {
  readonly name = 'RefusalsInRollups1763800020060';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query("SET LOCAL lock_timeout = '2s'");
    for (const table of TABLES)
      await runner.query(
        `ALTER TABLE ${table} ADD COLUMN refusals bigint NOT NULL DEFAULT 0, ADD COLUMN crashes bigint NOT NULL DEFAULT 0,
           ADD COLUMN refused_statuses jsonb NOT NULL DEFAULT '{}'`,
      );
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of TABLES)
      await runner.query(
        `ALTER TABLE ${table} DROP COLUMN refusals, DROP COLUMN crashes, DROP COLUMN refused_statuses`,
      );
  }
}

const TABLES = ['minute', 'hour', 'day'].flatMap((grain) => [`usage_${grain}`, `usage_slice_${grain}`]);
