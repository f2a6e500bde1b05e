import type { MigrationInterface, QueryRunner } from 'typeorm';
import { buildIndex } from '../build-index.js';

/**
 * The indexes for index-only scans (migration `rollups`) are replaced by ones with the column that success rates need. Until the old index
 * is dropped, readers use it. Apart from the new columns, whose transaction locks the tables.
 */
export class SumsOfRefusals1763800020061 implements MigrationInterface {
  readonly name = 'SumsOfRefusals1763800020061';
  readonly transaction = false;

  async up(runner: QueryRunner): Promise<void> {
    for (const table of TABLES)
      await buildIndex(runner, { name: `${table}_totals`, table, columns: columnsOf([...SUMS, 'refusals']) });
    for (const table of TABLES) await runner.query(`DROP INDEX IF EXISTS ${table}_sums`);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const table of TABLES)
      await runner.query(`
        CREATE INDEX ${table}_sums ON ${table} ${columnsOf(SUMS)};
        DROP INDEX ${table}_totals`);
  }
}

const TABLES = ['usage_hour', 'usage_day'];

const SUMS = [
  ...['requests', 'errors', 'cost_nano_usd', 'input_tokens', 'output_tokens', 'duration_us'],
  ...['simple_hits', 'semantic_hits', 'hit_duration_us', 'first_seen', 'last_seen'],
];

const columnsOf = (sums: readonly string[]): string => `(
  organisation_id, workspace_id, bucket,
  model, status, provider, api_key_id, virtual_key, endpoint, config_id, cache_status
) INCLUDE (${sums.join(', ')})`;
