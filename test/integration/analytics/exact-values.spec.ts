import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chooseMetadataKeys } from '../../../src/request-log/rollups/metadata-keys.js';
import { AdminApp, type Json } from '../../support/admin-app.js';
import { aRecord, storeRecords } from '../../support/recorded-requests.js';
import { aggregatorOn, clickHouseUnderTest } from '../../support/usage-store.js';

const HOUR = 3_600_000;
const NOW = Math.floor(Date.now() / HOUR) * HOUR - HOUR;
const clickhouse = clickHouseUnderTest();
/** Alike in their first 128 characters, by which rollups once told values apart. */
const LONG = ['first', 'second'].map((end) => `${'ü'.repeat(160)}-${end}`);
const VALUES = ['a', '  a', 'a  ', '\ta=1', 'a\n', 'a,b', '[a]', '["a"]', 'x', ' ', ...LONG];

let app: AdminApp;
beforeAll(async () => {
  app = await AdminApp.start({}, clickhouse);
  await chooseMetadataKeys(app.dataSource, ['counted']);
  await app.dataSource.query(
    "UPDATE rollup_metadata_keys SET counted_since = '-infinity', complete_since = '-infinity'",
  );
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
      metadata: { _user: value, counted: value, rare: value },
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

  const GROUPS = [
    ['model', 'ai_model'],
    ['users', 'user'],
    ['ai_service', 'provider'],
    ['provider', 'virtual_key'],
    ['prompt', 'prompt_slug'],
    ['endpoint', 'endpoint'],
    ['metadata/counted', 'metadata[counted]'],
    ['metadata/rare', 'metadata[rare]'],
  ] as const;
  const groupsOf = async (grouping: string): Promise<readonly string[]> => {
    const { data, total } = await get(`/v1/analytics/groups/${grouping}`, { page_size: '100' });
    expect(total).toBe(VALUES.length);
    return (data as Json[]).map((group) => {
      const value = Object.entries(group).find(([name]) => FIELDS.has(name))?.[1];
      expect(String(group.requests), String(value)).toBe('1');
      return String(value);
    });
  };
  const FIELDS = new Set(['model', 'user', 'ai_service', 'provider', 'prompt', 'endpoint', 'metadata_value']);
  const forFilter = (filter: string, value: string): string =>
    filter.startsWith('metadata') ? value : parameterFor(value);

  it.each(GROUPS)(
    'is a group by %s of at most 128 characters, whose requests %s finds',
    async (grouping, filter) => {
      for (const value of await groupsOf(grouping)) {
        expect(Array.from(value).length).toBeLessThanOrEqual(128);
        const parameter = forFilter(filter, value);
        expect((await get('/v1/logs', { [filter]: parameter })).data, value).toHaveLength(1);
        expect(
          (await get('/v1/analytics/graphs/requests', { [filter]: parameter })).summary.total,
          value,
        ).toBe(1);
        const others = { [`not_${filter}`]: parameter };
        expect((await get('/v1/analytics/graphs/requests', others)).summary.total, value).toBe(
          VALUES.length - 1,
        );
      }
    },
  );

  it.each(GROUPS)('has the same groups by %s in the rollups as in the request rows', async (grouping) => {
    const counted = await groupsOf(grouping);
    const rows = await get(`/v1/analytics/groups/${grouping}`, { page_size: '100', response_time_min: '0' });
    expect(JSON.stringify(rows.data)).toBe(
      JSON.stringify((await get(`/v1/analytics/groups/${grouping}`, { page_size: '100' })).data),
    );
    expect(new Set(counted).size).toBe(VALUES.length);
  });

  it('is a group with the feedback on its own requests only', async () => {
    const { organisation_id, workspace_id } = app.first;
    await app.dataSource.query(
      `INSERT INTO feedback (id, organization_id, workspace_id, trace_id, value, weight)
       VALUES (gen_random_uuid(), $1, $2, $3, 7, 1)`,
      [organisation_id, workspace_id, LONG[0]],
    );
    const { data } = await get('/v1/analytics/groups/metadata/counted', { page_size: '100' });
    const judged = (data as Json[]).filter((group) => Number(group.requests_with_feedback) > 0);
    expect(judged.map((group) => group.avg_weighted_feedback)).toEqual([7]);
    const found = await get('/v1/logs', { 'metadata[counted]': String(judged[0]?.metadata_value) });
    expect((found.data as Json[]).map(({ model }) => model)).toEqual([LONG[0]]);
  });

  it.each(LONG)('is found by its model beside its provider, by label as whole: %s', async (value) => {
    const labels = await groupsOf('model');
    const found = await get('/v1/logs', { ai_model: value });
    expect(found.data).toHaveLength(1);
    const totals = await Promise.all(
      [value, ...labels.filter((label) => label.includes('…'))].map(async (model) => {
        const ai_org_model = `${model}__${model}`;
        return (await get('/v1/analytics/graphs/requests', { ai_org_model })).summary.total;
      }),
    );
    expect(totals).toEqual([1, 1, 1]);
  });

  it.each(['model', 'provider', 'virtual_key', 'endpoint'])(
    'is a value of the filter by %s',
    async (field) => {
      const { data } = await get(`/v1/analytics/facets/${field}`, { page_size: '100' });
      expect((data as Json[]).map(({ requests }) => requests)).toEqual(VALUES.map(() => 1));
    },
  );

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
