import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AdminApp, type Json } from '../../support/admin-app.js';
import { aRecord, storeRecords } from '../../support/recorded-requests.js';
import { aggregatorOn, clickHouseUnderTest } from '../../support/usage-store.js';

const HOUR = 3_600_000;
const NOW = Math.floor(Date.now() / HOUR) * HOUR - HOUR;
const clickhouse = clickHouseUnderTest();
const VALUES = ['a', '  a', 'a  ', '\ta=1', 'a\n', 'a,b', '[a]', '["a"]', 'x', ' '];

let app: AdminApp;
beforeAll(async () => {
  app = await AdminApp.start({}, clickhouse);
  const records = VALUES.map((value, at) =>
    aRecord({
      created_at: NOW + at,
      organisation_id: app.first.organisation_id,
      workspace_id: app.first.workspace_id,
      model: value,
      provider: value,
      trace_id: value,
      span_id: value,
      virtual_key: value,
      prompt_slug: value,
      endpoint: value,
      error_code: value,
      metadata: { _user: value },
    }),
  );
  const aggregator = aggregatorOn(app.dataSource, clickhouse);
  for (const batch of await storeRecords(app.url, records)) await aggregator.aggregate(batch);
});
afterAll(() => app.close());

async function get(path: string, query: Readonly<Record<string, string>> = {}): Promise<Json> {
  const range = {
    time_of_generation_min: new Date(NOW).toISOString(),
    time_of_generation_max: new Date(NOW + HOUR).toISOString(),
  };
  const text = new URLSearchParams({ ...range, ...query }).toString();
  const { status, body, text: sent } = await app.call('GET', `${path}?${text}`);
  expect(status, sent).toBe(200);
  return body;
}

const FILTERS = [
  'ai_model',
  'provider',
  'user',
  'trace_id',
  'span_id',
  'virtual_key',
  'prompt_slug',
  'endpoint',
  'error_code',
];
/** A comma separates values, and a text that is a JSON array is one, so such values are sent in an array. */
const parameterFor = (value: string): string =>
  value.includes(',') || value === '["a"]' ? JSON.stringify([value]) : value;

describe('a value with white space or separators in it', () => {
  const CELLS = FILTERS.flatMap((filter) => VALUES.map((value) => ({ filter, value })));

  it.each(CELLS)('is found by $filter, alone, and excluded: $value', async ({ filter, value }) => {
    const found = await get('/v1/logs', { [filter]: parameterFor(value), page_size: '100' });
    expect(found.data.map((row: Json) => row.model)).toEqual([value]);
    const counted = await get('/v1/analytics/graphs/requests', { [filter]: parameterFor(value) });
    expect(counted.summary.total).toBe(1);
    const others = await get('/v1/analytics/graphs/requests', { [`not_${filter}`]: parameterFor(value) });
    expect(others.summary.total).toBe(VALUES.length - 1);
  });

  it.each([
    ['model', 'ai_model'],
    ['users', 'user'],
    ['ai_service', 'provider'],
    ['endpoint', 'endpoint'],
  ])('is a group by %s with the requests that its own filter finds', async (grouping, filter) => {
    const { data, total } = await get(`/v1/analytics/groups/${grouping}`, { page_size: '100' });
    expect(total).toBe(VALUES.length);
    for (const group of data as Json[]) {
      const value = String(group.ai_model ?? group.model ?? group.user ?? group.ai_service ?? group.endpoint);
      const counted = await get('/v1/analytics/graphs/requests', { [filter]: parameterFor(value) });
      expect(String(counted.summary.total), value).toBe(String(group.requests));
    }
  });

  it('is one of several values, which commas or a JSON array separate', async () => {
    const count = async (ai_model: string): Promise<number> =>
      (await get('/v1/analytics/graphs/requests', { ai_model })).summary.total;

    expect(await count('a, x')).toBe(2);
    expect(await count(JSON.stringify(['  a', 'a,b', 'x']))).toBe(3);
    for (const refused of ['', 'a,', '[""]', JSON.stringify(Array.from({ length: 101 }, () => 'a'))])
      expect(
        (await app.call('GET', `/v1/logs?ai_model=${encodeURIComponent(refused)}`)).status,
        refused,
      ).toBe(400);
  });
});
