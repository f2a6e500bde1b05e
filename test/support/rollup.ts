import { type DynamicModule, type INestApplicationContext, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import type { QueueSettings } from '../../src/jobs/queues/queue-backend.js';
import { SettingsModule } from '../../src/common/settings/settings.module.js';
import { loadSettings, type Settings } from '../../src/common/settings/settings.js';
import { JobsModule } from '../../src/jobs/jobs.module.js';

/** Settings of the jobs as they are unless somebody sets them. */
const { retentionDays, analyticsMetadataKeys } = loadSettings({});
const OF_JOBS = { retentionDays, analyticsMetadataKeys };

@Module({})
class Jobs {
  static register(dataSource: DataSource, settings: QueueSettings): DynamicModule {
    const database = { provide: DataSource, useValue: dataSource };
    return {
      module: Jobs,
      global: true,
      imports: [SettingsModule.forRoot({ ...OF_JOBS, ...settings } as Settings), JobsModule],
      providers: [database],
      exports: [database],
    };
  }
}

/** A background process, but for the shipper, in this one. */
export async function startJobs(
  dataSource: DataSource,
  settings: QueueSettings,
): Promise<INestApplicationContext> {
  const module = await Test.createTestingModule({ imports: [Jobs.register(dataSource, settings)] }).compile();
  module.useLogger(false);
  return module.init();
}

const KEYS =
  'bucket, organisation_id, workspace_id, api_key_id, virtual_key, provider, model, endpoint, config_id, status, cache_status';

const SUMS = [
  'requests',
  'counted_requests',
  'unpriced_requests',
  'input_tokens',
  'output_tokens',
  'cached_input_tokens',
  'reasoning_tokens',
  'cost_nano_usd',
  'duration_us',
  'first_token_us',
]
  .map((name) => `sum(${name})::text AS ${name}`)
  .join(', ');

/** Written without a look at the tables of src/request-log/rollups: it is what they are measured by. */
const RAW = `
  SELECT date_trunc('minute', created_at, 'UTC') AS bucket, organisation_id,
    coalesce(workspace_id, '00000000-0000-0000-0000-000000000000') AS workspace_id, api_key_id,
    coalesce(virtual_key, '') AS virtual_key, coalesce(provider, '') AS provider,
    coalesce(model, '') AS model, coalesce(endpoint, '') AS endpoint, coalesce(config_id, '00000000-0000-0000-0000-000000000000') AS config_id, status,
    coalesce(cache_status, '') AS cache_status,
    1 AS requests, (usage_source = 'counted')::int AS counted_requests, (cost_nano_usd IS NULL)::int AS unpriced_requests,
    coalesce(input_tokens, 0) AS input_tokens, coalesce(output_tokens, 0) AS output_tokens,
    coalesce(cached_input_tokens, 0) AS cached_input_tokens, coalesce(reasoning_tokens, 0) AS reasoning_tokens,
    coalesce(cost_nano_usd, 0) AS cost_nano_usd, duration_ms::bigint * 1000 AS duration_us,
    coalesce(first_token_ms, 0)::bigint * 1000 AS first_token_us
  FROM request_logs`;

/** What the rollup says, by key. */
export const rolledUp = (database: DataSource): Promise<unknown[]> =>
  database.query(`SELECT ${KEYS}, ${SUMS} FROM usage_minute GROUP BY ${KEYS} ORDER BY ${KEYS}`);

/** What it should say: the raw rows, summed up by PostgreSQL. With `batches`, only those that are marked as aggregated. */
export const summedUp = (database: DataSource, batches: 'all' | 'aggregated' = 'all'): Promise<unknown[]> =>
  database.query(
    `SELECT ${KEYS}, ${SUMS} FROM (${RAW}
       ${batches === 'all' ? '' : 'WHERE batch_id IN (SELECT id FROM log_batches WHERE aggregated_at IS NOT NULL)'}) AS raw
     GROUP BY ${KEYS} ORDER BY ${KEYS}`,
  );

/** Every table that a test of the rollups fills. */
export const ROLLUP_TABLES =
  'request_logs, log_batches, usage_minute, usage_slice_minute, usage_hour, usage_slice_hour, usage_day, usage_slice_day, rollup_marks';

export async function waitingBatches(database: DataSource): Promise<number> {
  const [row] = await database.query(
    'SELECT count(*)::int AS waiting FROM log_batches WHERE aggregated_at IS NULL',
  );
  return row.waiting;
}
