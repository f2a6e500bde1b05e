import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The indexes for index-only scans (migration `rollups`) get the column that success rates need. Apart from the new columns, whose lock
 * would stop readers while the indexes are built. Until the old index is dropped, readers use it.
 */
export class SumsOfRefusals1763800020061 implements MigrationInterface {
  readonly name = 'SumsOfRefusals1763800020061';

  async up(runner: QueryRunner): Promise<void> {
    await replaceIndexes(runner, [...COLUMNS, 'refusals']);
  }

  async down(runner: QueryRunner): Promise<void> {
    await replaceIndexes(runner, COLUMNS);
  }
}

const COLUMNS = [
  ...['requests', 'errors', 'cost_nano_usd', 'input_tokens', 'output_tokens', 'duration_us'],
  ...['simple_hits', 'semantic_hits', 'hit_duration_us', 'first_seen', 'last_seen'],
];

async function replaceIndexes(runner: QueryRunner, columns: readonly string[]): Promise<void> {
  await runner.query("SET LOCAL lock_timeout = '2s'");
  for (const grain of ['hour', 'day'])
    await runner.query(`
      CREATE INDEX usage_${grain}_new_sums ON usage_${grain} (
        organisation_id, workspace_id, bucket,
        model, status, provider, api_key_id, virtual_key, endpoint, config_id, cache_status
      ) INCLUDE (${columns.join(', ')})`);
  for (const grain of ['hour', 'day'])
    await runner.query(`
      DROP INDEX usage_${grain}_sums;
      ALTER INDEX usage_${grain}_new_sums RENAME TO usage_${grain}_sums`);
}
