import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RequestLogRecord } from '../../../src/request-log/record.js';
import { chooseMetadataKeys } from '../../../src/request-log/rollups/metadata-keys.js';
import { AdminApp, type Json } from '../../support/admin-app.js';
import { aRecord, storeRecords } from '../../support/recorded-requests.js';
import { aggregatorOn, clickHouseUnderTest } from '../../support/usage-store.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOW = Math.floor(Date.now() / HOUR) * HOUR - HOUR;
const clickhouse = clickHouseUnderTest();
const LONG = 'v'.repeat(128);

let app: AdminApp;
let records: readonly RequestLogRecord[];

beforeAll(async () => {
  app = await AdminApp.start({}, clickhouse);
  await chooseMetadataKeys(app.dataSource, ['team']);
  // The key is complete before the range begins, so that its slices are read.
  await app.dataSource.query(
    "UPDATE rollup_metadata_keys SET counted_since = '-infinity', complete_since = '-infinity'",
  );
  const of: readonly Partial<RequestLogRecord>[] = [
    { metadata: { team: '' } },
    { metadata: { team: '' } },
    { metadata: { team: 'red' } },
    { metadata: { team: LONG } },
    { metadata: { team: `${LONG}-and-more` } },
    { metadata: { other: 'x' } },
    { model: 'm'.repeat(128) },
    { model: `${'m'.repeat(128)}-and-more` },
    { provider: null, model: 'noprov' },
    { provider: 'openai', model: null },
    { status: 302 },
    { status: 404 },
    { usage_source: 'counted' },
    { usage_source: 'counted' },
    { usage_source: 'estimated' },
  ];
  records = of.map((given, at) =>
    aRecord({
      created_at: NOW + at * 1_000,
      organisation_id: app.first.organisation_id,
      workspace_id: app.first.workspace_id,
      ...given,
    }),
  );
  const aggregator = aggregatorOn(app.dataSource, clickhouse);
  for (const batch of await storeRecords(app.url, records)) await aggregator.aggregate(batch);
});
afterAll(() => app.close());

const RANGE = {
  time_of_generation_min: new Date(NOW).toISOString(),
  time_of_generation_max: new Date(NOW + HOUR).toISOString(),
};
async function get(path: string, query: Readonly<Record<string, string>>): Promise<Json> {
  const { status, body, text } = await app.call(
    'GET',
    `${path}?${new URLSearchParams({ ...RANGE, ...query }).toString()}`,
  );
  expect(status, text).toBe(200);
  return body;
}

describe('analytics and the list of requests', () => {
  const CASES: readonly (readonly [query: Record<string, string>, count: number])[] = [
    [{ 'metadata[team]': '' }, 2],
    [{ 'metadata[team]': 'red' }, 1],
    [{ 'metadata[team]': LONG }, 1],
    [{ ai_model: 'm'.repeat(128) }, 1],
    [{ ai_org_model: '__noprov' }, 1],
    [{ ai_org_model: 'openai__' }, 1],
    [{ is_success: 'true' }, 14],
    [{ is_success: 'false' }, 1],
    [{ status_code_min: '400' }, 1],
    [{ status_code_min: '300', status_code_max: '399' }, 1],
    [{ status_code_max: '299' }, 13],
    [{ not_status_code: '302,404' }, 13],
    [{ not_ai_model: 'noprov' }, 14],
    [{ not_ai_org: 'openai', ai_model: 'noprov' }, 1],
    [{ not_virtual_key: 'never-used' }, 15],
    [{ not_api_key_id: '01a0a1b2-0000-7000-8000-000000000000' }, 15],
    [{ not_config: 'never-saved' }, 15],
    [{ not_user: 'nobody' }, 15],
    [{ not_prompt_slug: 'none' }, 15],
    [{ not_error_code: 'none' }, 15],
    [{ 'not_metadata[team]': 'red' }, 14],
    [{ not_metadata: '{"team":""}' }, 13],
    [{ not_ai_org_model: '__noprov' }, 14],
  ];

  it.each(CASES)('agree about %j', async (query, count) => {
    expect((await get('/v1/logs', { ...query, page_size: '100' })).data).toHaveLength(count);
    expect((await get('/v1/analytics/graphs/requests', query)).summary).toEqual({ total: count });
  });

  it('show of each request the success by which they filter it', async () => {
    for (const is_success of ['true', 'false'])
      for (const row of (await get('/v1/logs', { is_success, page_size: '100' })).data)
        expect(String(row.is_success), String(row.status)).toBe(is_success);
  });
});

describe('a page of groups beyond the last', () => {
  it('has the total of the first', async () => {
    const first = await get('/v1/analytics/groups/model', { page_size: '2' });
    const beyond = await get('/v1/analytics/groups/model', { page_size: '2', current_page: '50' });
    expect(first.total).toBe(5);
    expect([beyond.total, beyond.data]).toEqual([5, []]);
  });
});

describe('requests with a counted usage', () => {
  it('are those whose tokens the gateway counted, without those of which it has an estimate', async () => {
    const sql = 'SELECT sum(counted_requests) AS counted FROM usage_minute';
    const [row] = clickhouse
      ? await clickhouse.read<{ counted: unknown }>(sql, {})
      : await app.dataSource.query<{ counted: unknown }[]>(sql);
    expect(Number(row?.counted)).toBe(2);
  });
});
