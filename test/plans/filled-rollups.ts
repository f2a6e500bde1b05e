import type { DataSource } from 'typeorm';
import { ensureRollupPartitions } from '../../src/request-log/rollups/add-requests.js';
import { GRANULARITY_MS, type Granularity, startOf } from '../../src/request-log/rollups/granularities.js';
import { MEASURES } from '../../src/request-log/rollups/measures.js';
import { FAMILIES } from '../../src/request-log/rollups/rollup-sql.js';

/** A moment inside an hour of an ordinary day: ranges that end here have minutes, hours and days. */
export const NOW = Date.parse('2030-06-30T12:34:00Z');
export const DAYS = 30;

export const ORGANIZATION = '00000000-0000-7000-8000-000000000001';
const WORKSPACES = 6;
export const WORKSPACE = '00000000-0000-7000-8000-00000000000a';
const workspaceOf = (number: string): string =>
  `('00000000-0000-7000-8000-00000000000' || substr('abcdef', ${number}, 1))::uuid`;
const idOf = (number: string): string => `('10000000-0000-7000-8000-00000000000' || ${number})::uuid`;

const measures = Object.entries(MEASURES).map(([name, { type }]) => ({
  name,
  value: { bigint: '10', jsonb: `'{"700": 6, "900": 4}'::jsonb`, timestamptz: 'bucket' }[type],
}));
const NAMES = measures.map(({ name }) => name).join(', ');
const VALUES = measures.map(({ value }) => value).join(', ');

/** Values of a bucket in each slice. */
const SLICES = `(
  SELECT 'all' AS dimension, '' AS value
  UNION ALL SELECT 'model', 'model-' || n FROM generate_series(1, 5) AS n
  UNION ALL SELECT 'api_key_id', ${idOf('n')}::text FROM generate_series(1, 5) AS n
  UNION ALL SELECT 'prompt_slug', ''
  UNION ALL SELECT 'metadata._environment', name FROM unnest(ARRAY['live', 'test']) AS name
  UNION ALL SELECT 'end_user', 'user-' || n FROM generate_series(1, 20) AS n) AS slice`;

const buckets = `(
  SELECT bucket, ${workspaceOf('w')} AS workspace FROM generate_series($1::timestamptz, $2::timestamptz, $3::interval) AS bucket,
    generate_series(1, ${WORKSPACES}) AS w) AS times`;

const fillSlices = (grain: Granularity): string => `
  INSERT INTO usage_slice_${grain} (organisation_id, workspace_id, bucket, dimension, value, ${NAMES})
  SELECT '${ORGANIZATION}', workspace, bucket, dimension, value, ${VALUES} FROM ${buckets}, ${SLICES}`;

const fillCube = (grain: Granularity): string => `
  INSERT INTO usage_${grain} (organisation_id, workspace_id, bucket, key, api_key_id, virtual_key, provider, model, endpoint, config_id,
    status, cache_status, ${NAMES})
  SELECT '${ORGANIZATION}', workspace, bucket, rollup_key(format('%s %s', n, status)), ${idOf('n')}, 'prod', 'openai', 'model-' || n,
    'chat-completions', '00000000-0000-0000-0000-000000000000', status, '', ${VALUES}
  FROM ${buckets}, generate_series(1, 5) AS n, unnest(ARRAY[200, 429]::smallint[]) AS status`;

/** Minutes only where ranges begin and end. */
const TIMES: readonly (readonly [Granularity, from: number, to: number])[] = [
  ['day', startOf('day', NOW - DAYS * GRANULARITY_MS.day), NOW],
  ['hour', startOf('hour', NOW - DAYS * GRANULARITY_MS.day), NOW],
  ...[NOW, NOW - GRANULARITY_MS.day, NOW - DAYS * GRANULARITY_MS.day].map(
    (at) => ['minute', startOf('hour', at), startOf('hour', at) + GRANULARITY_MS.hour - 1] as const,
  ),
];

const REQUEST_DAYS = 7;
const REQUESTS_OF_DAY = 8_000;

/** Requests of the last days. A user has a few in each; models and statuses are frequent or rare. */
const fillRequests = (day: string): string => `
  INSERT INTO request_logs (id, created_at, batch_id, organisation_id, workspace_id, api_key_id, trace_id, method, path, model, streamed,
    ending, status, duration_ms, overhead_us, request_bytes, response_bytes, usage_source, attempt_count, metadata)
  SELECT gen_random_uuid(), '${day}'::timestamptz + n * interval '10 seconds', '${ORGANIZATION}', '${ORGANIZATION}',
    ${workspaceOf(`1 + n % ${WORKSPACES}`)}, ${idOf('(1 + n % 5)')}, 'trace-' || n, 'POST', '/v1/chat/completions',
    CASE WHEN n % 1000 = 0 THEN 'rare' ELSE 'frequent' END, false, 'completed', CASE WHEN n % 997 = 0 THEN 404 ELSE 200 END, 700, 300,
    900, 1800, 'provider', 1, jsonb_build_object('_user', 'user-' || n % 2000)
  FROM generate_series(1, ${REQUESTS_OF_DAY}) AS n`;

/** Fills the tables that the dashboard reads with a month of six workspaces. */
export async function fill(database: DataSource): Promise<void> {
  await database.query(
    "INSERT INTO rollup_metadata_keys VALUES ('_environment', '-infinity', '-infinity') ON CONFLICT DO NOTHING",
  );
  for (const [grain, from, to] of TIMES) {
    const moments = [new Date(from), new Date(to)];
    await ensureRollupPartitions(
      database,
      FAMILIES.flatMap((family) => moments.map((at) => [family.table(grain), at] as const)),
    );
    for (const filling of [fillSlices(grain), fillCube(grain)])
      await database.query(filling, [...moments, `1 ${grain}`]);
  }
  for (let back = 0; back < REQUEST_DAYS; back++) {
    const at = startOf('day', NOW) - back * GRANULARITY_MS.day;
    const [day, next] = [at, at + GRANULARITY_MS.day].map((moment) => new Date(moment).toISOString());
    await database.query(
      `CREATE TABLE request_logs_${day?.slice(0, 10).replaceAll('-', '')} PARTITION OF request_logs FOR VALUES FROM ('${day}') TO ('${next}')`,
    );
    await database.query(fillRequests(day ?? ''));
  }
  await database.query('VACUUM (ANALYZE)');
}
