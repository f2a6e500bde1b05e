import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = ['minute', 'hour', 'day'].map((grain) => `usage_slice_${grain}`);

/**
 * Slices hold their durations packed, as the cube does (src/request-log/rollups/ready.ts): groups ordered by a percentile read the histograms
 * of all their values. Null in minutes, and in rows that were derived before.
 */
export class PackedDurationsOfSlices1763800020050 implements MigrationInterface {
  readonly name = 'PackedDurationsOfSlices1763800020050';

  async up(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) await runner.query(`ALTER TABLE ${table} ADD COLUMN durations bytea`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of TABLES) await runner.query(`ALTER TABLE ${table} DROP COLUMN durations`);
  }
}
