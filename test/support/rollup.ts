import { type DynamicModule, type INestApplicationContext, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import type { QueueSettings } from '../../src/common/queues/queue-backend.js';
import { SettingsModule } from '../../src/common/settings/settings.module.js';
import type { Settings } from '../../src/common/settings/settings.js';
import { JobsModule } from '../../src/jobs/jobs.module.js';

@Module({})
class Jobs {
  static on(dataSource: DataSource, settings: QueueSettings): DynamicModule {
    const database = { provide: DataSource, useValue: dataSource };
    return {
      module: Jobs,
      global: true,
      imports: [SettingsModule.of(settings as Settings), JobsModule],
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
  const module = await Test.createTestingModule({ imports: [Jobs.on(dataSource, settings)] }).compile();
  module.useLogger(false);
  return module.init();
}

const SUMS = `
  sum(requests)::text AS requests, sum(counted_requests)::text AS counted, sum(unpriced_requests)::text AS unpriced,
  sum(input_tokens)::text AS input, sum(output_tokens)::text AS output, sum(cached_input_tokens)::text AS cached,
  sum(reasoning_tokens)::text AS reasoning, sum(cost_nano_usd)::text AS cost, sum(duration_us)::text AS duration,
  sum(first_token_us)::text AS first_token`;

const KEYS =
  'minute, organisation_id, workspace_id, api_key_id, virtual_key_id, provider, model, endpoint, status';

const RAW = `
  SELECT date_trunc('minute', created_at, 'UTC') AS minute, organisation_id::text,
    coalesce(workspace_id::text, '') AS workspace_id, api_key_id::text,
    coalesce(virtual_key_id::text, '') AS virtual_key_id, coalesce(provider, '') AS provider,
    coalesce(model, '') AS model, coalesce(endpoint, '') AS endpoint, status,
    1 AS requests, (usage_source = 'counted')::int AS counted_requests, (cost_nano_usd IS NULL)::int AS unpriced_requests,
    coalesce(input_tokens, 0) AS input_tokens, coalesce(output_tokens, 0) AS output_tokens,
    coalesce(cached_input_tokens, 0) AS cached_input_tokens, coalesce(reasoning_tokens, 0) AS reasoning_tokens,
    coalesce(cost_nano_usd, 0) AS cost_nano_usd, duration_ms * 1000 AS duration_us,
    coalesce(first_token_ms, 0) * 1000 AS first_token_us
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

export async function waitingBatches(database: DataSource): Promise<number> {
  const [row] = await database.query(
    'SELECT count(*)::int AS waiting FROM log_batches WHERE aggregated_at IS NULL',
  );
  return row.waiting;
}
