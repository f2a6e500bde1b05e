import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FACETS } from '../../../src/admin/analytics/facets.service.js';
import { FEEDBACK_GRAPHS } from '../../../src/admin/analytics/feedback-graphs.js';
import { GRAPHS } from '../../../src/admin/analytics/graphs.js';
import { COLUMNS, GROUPINGS } from '../../../src/admin/analytics/groups.js';
import type { Usage } from '../../../src/common/contracts/usage.js';
import { type LogFilterName, LOG_FILTERS } from '../../../src/request-log/reading/log-filters.js';
import { verifyMoney } from '../../../src/request-log/charging/verify-money.js';
import { EXPORT_FIELD_NAMES } from '../../../src/request-log/log-export.js';
import type { RequestLogRecord } from '../../../src/request-log/record.js';
import { AdminApp } from '../../support/admin-app.js';
import { exportWriter } from '../../support/log-exports.js';
import { aRecord, storeRecords } from '../../support/recorded-requests.js';
import { aggregatorOn, clickHouseUnderTest } from '../../support/usage-store.js';

const HOUR = 3_600_000;
const NOW = Math.floor(Date.now() / HOUR) * HOUR - HOUR;
const INT4 = 2 ** 31 - 1;
const clickhouse = clickHouseUnderTest();
/** As many calls at the highest cost as exceed a signed 64-bit sum of nano-dollars. */
const COSTLY = 1_100;

let app: AdminApp;
let folder: string;
let exportKey: string;

const USAGE: Usage = {
  input_tokens: INT4,
  output_tokens: INT4,
  cached_input_tokens: INT4,
  cache_write_tokens: INT4,
  reasoning_tokens: INT4,
  audio_input_tokens: INT4,
  audio_output_tokens: INT4,
};
const TIMES = { duration_ms: INT4, first_token_ms: INT4, overhead_us: INT4 };
const SIZES = { request_bytes: Number.MAX_SAFE_INTEGER, response_bytes: Number.MAX_SAFE_INTEGER };
const HIT = { cache_status: 'HIT', saved_nano_usd: Number.MAX_SAFE_INTEGER } as const;
const COST = { cost_nano_usd: Number.MAX_SAFE_INTEGER };

/** Each numeric column at its largest alone, and all of them together. */
const EXTREMES: readonly Partial<RequestLogRecord>[] = [
  ...Object.entries({ ...TIMES, ...SIZES, ...COST }).map(([name, value]) => ({ [name]: value })),
  ...Object.entries(USAGE).map(([name, value]) => ({
    usage: { input_tokens: 1, output_tokens: 1, [name]: value as number },
  })),
  HIT,
  { cache_score: 3.4e38 },
  { status: 999 },
  { ...TIMES, ...SIZES, ...HIT, ...COST, usage: USAGE, status: 999 },
  ...Array.from({ length: COSTLY }, () => ({ ...HIT, ...COST, usage: USAGE })),
];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-extremes-'));
  app = await AdminApp.start({ GATEHOUSE_EXPORT_DIR: folder }, clickhouse);
  const records = EXTREMES.map((given, at) =>
    aRecord({
      created_at: NOW + at,
      organisation_id: app.first.organisation_id,
      workspace_id: app.first.workspace_id,
      trace_id: `trace-${at}`,
      metadata: { _user: 'someone', team: 'red' },
      ...given,
    }),
  );
  const aggregator = aggregatorOn(app.dataSource, clickhouse);
  for (const batch of await storeRecords(app.url, records)) await aggregator.aggregate(batch);
  const key = await app.workspaceKey(['logs.write', 'logs.export']);
  exportKey = key.key;
  const given = await app.call('POST', '/v1/feedback', {
    key: key.key,
    body: { trace_id: 'trace-0', value: 10, weight: 1 },
  });
  expect(given.status, given.text).toBe(200);
}, 120_000);
afterAll(async () => {
  await app.close();
  await rm(folder, { recursive: true, force: true });
});

const RANGE = {
  time_of_generation_min: new Date(NOW).toISOString(),
  time_of_generation_max: new Date(NOW + HOUR).toISOString(),
};

async function failures(
  paths: readonly string[],
  query: Readonly<Record<string, string>>,
): Promise<string[]> {
  const failed: string[] = [];
  for (const path of paths) {
    const text = new URLSearchParams({ ...RANGE, ...query }).toString();
    const answer = await app.call('GET', `${path}${path.includes('?') ? '&' : '?'}${text}`);
    if (answer.status !== 200)
      failed.push(`${path} ${JSON.stringify(query)}: ${answer.status} ${answer.text}`);
  }
  return failed;
}

const graphs = [...new Set([...GRAPHS, ...FEEDBACK_GRAPHS].flatMap(({ paths }) => paths))];
const PATHS = [
  '/v1/logs',
  '/v1/analytics/overview',
  ...graphs.map((path) => `/v1/analytics/graphs/${path}`),
  ...Object.keys(GROUPINGS).map((name) => `/v1/analytics/groups/${name}`),
  '/v1/analytics/groups/metadata/team',
  ...Object.keys(COLUMNS).map((name) => `/v1/analytics/groups/model?columns=${name}&order_by=${name}`),
  ...Object.keys(FACETS).map((name) => `/v1/analytics/facets/${name}`),
];
/** One path for each statement that filters end up in. */
const PLAIN_PATHS = ['/v1/logs', '/v1/analytics/graphs/cost', '/v1/analytics/groups/model'];

const NUMBERS = ['0', '-999999999999.9999999', '999999999999.9999999'];
const SAMPLES = [
  '200',
  'true',
  '2030-01-31',
  '01a0a1b2-0000-7000-8000-000000000000',
  '{"team":"red"}',
  'red',
];
const NAMES = Object.keys(LOG_FILTERS) as LogFilterName[];
const isBound = (name: string): boolean => /_(min|max)$/.test(name) && !/^(created_at|time_of)/.test(name);
const sampleFor = (name: LogFilterName): string =>
  SAMPLES.find((text) => LOG_FILTERS[name].read(text) !== undefined) ?? '';

describe('requests with the largest numbers that their columns hold', () => {
  it('are counted by every chart, group, list and overview', async () => {
    expect(await failures(PATHS, {})).toEqual([]);
  }, 120_000);

  it.each(NAMES.filter(isBound).filter((name) => !name.startsWith('status')))(
    'are found by %s with any number, in every chart, group and list',
    async (name) => {
      expect(await failures(PATHS, { [name]: '1' })).toEqual([]);
      for (const value of NUMBERS) expect(await failures(PLAIN_PATHS, { [name]: value })).toEqual([]);
    },
    120_000,
  );

  it.each(NAMES.filter((name) => !/^(created_at|time_of)/.test(name)))(
    'do not make a list or a count fail that is filtered by %s',
    async (name) => {
      const value = isBound(name) && !name.startsWith('status') ? '1' : sampleFor(name);
      expect(await failures(PLAIN_PATHS, { [name]: value })).toEqual([]);
    },
    60_000,
  );

  it('are exported whole, with a filter on their tokens', async () => {
    for (const format of ['jsonl', 'csv', 'parquet']) {
      const body = {
        requested_data: [...EXPORT_FIELD_NAMES],
        format,
        filters: { ...RANGE, total_units_min: '2147483648', cost_min: '1', response_time_max: '99999999999' },
      };
      const made = await app.call('POST', '/v1/logs/exports', { key: exportKey, body });
      expect(made.status, made.text).toBe(200);
      const { id } = made.body as { id: string };
      await app.call('POST', `/v1/logs/exports/${id}/start`, { key: exportKey, body: {} });
      await exportWriter(app.dataSource, { folder }).write(id);
      const { body: read } = await app.call('GET', `/v1/logs/exports/${id}`, { key: exportKey });
      expect(read, format).toMatchObject({ status: 'success', exported_rows: COSTLY + 1 });
    }
  }, 120_000);

  it('are more tokens together than 32 bits hold, and are found by their sum', async () => {
    const query = new URLSearchParams({ ...RANGE, total_units_min: String(2 * INT4) }).toString();
    const found = await app.call('GET', `/v1/analytics/graphs/requests?${query}`);
    expect(found.body.summary.total).toBe(COSTLY + 1);
  });

  it('have a sum of costs that stops at the largest number and does not wrap around', async () => {
    const query = new URLSearchParams(RANGE).toString();
    const { body } = await app.call('GET', `/v1/analytics/graphs/cost?${query}`);
    expect(body.summary.total).toBe((2 ** 63 - 1) / 10_000_000);
  });

  it('do not make the comparison of the books of money fail', async () => {
    const books = await verifyMoney(app.dataSource, clickhouse ? 'ClickHouse' : 'PostgreSQL');
    expect(books.length).toBeGreaterThan(1);
  });
});
