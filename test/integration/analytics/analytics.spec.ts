import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GROUPINGS } from '../../../src/admin/analytics/groups.js';
import type { RequestLogRecord } from '../../../src/request-log/record.js';
import { derive } from '../../../src/request-log/rollups/derive.js';
import { bucketOf, valueOf } from '../../../src/request-log/rollups/histogram.js';
import { dueBuckets } from '../../../src/request-log/rollups/dirty-buckets.js';
import { rebuildRollups } from '../../../src/request-log/rollups/rebuild.js';
import {
  chooseMetadataKeys,
  countMetadataKeysFrom,
  metadataKeysAreComplete,
} from '../../../src/request-log/rollups/metadata-keys.js';
import { AdminApp, type Json } from '../../support/admin-app.js';
import { aRecord, storeRecords } from '../../support/recorded-requests.js';
import { aggregatorOn, clickHouseUnderTest } from '../../support/usage-store.js';

const DAY = 86_400_000;
const HOUR = 3_600_000;
const MINUTE = 60_000;
const NANO_PER_CENT = 10_000_000;
/** Six days ago at midnight (UTC) until now. */
const FIRST = Math.floor(Date.now() / DAY) * DAY - 6 * DAY;
const LAST = Math.floor(Date.now() / MINUTE) * MINUTE;
const COUNT = 4_000;

/** Everything here is the contract of both stores that count. */
const clickhouse = clickHouseUnderTest();
/** Guarantees of the rollups, which ClickHouse does not have: no skipped tests of its run. */
const onPostgres = (name: string, cases: () => void): void => {
  if (!clickhouse) describe(name, cases);
};

let app: AdminApp;
let records: readonly RequestLogRecord[];
let feedback: { created_at: number; trace_id: string; value: number; weight: number }[];
let own: string;
let slugOf: Map<string, string>;
let keys: readonly string[];
/** Ids of saved configs by slug. */
const configs = new Map<string, string>();

/** Numbers that are the same in every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/**
 * Every other error is the gateway's: a refusal, also towards a provider that was already chosen, or a request that it lost. A stream that
 * it stopped has a status of success.
 */
function endingOf(status: number, at: number): RequestLogRecord['ending'] {
  if (at % 2 === 1) return 'completed';
  if (status === 500 && at % 4 === 0) return 'gateway_crashed';
  return status >= 400 || at % 16 === 0 ? 'refused' : 'completed';
}

function someRecords(workspaces: readonly string[]): RequestLogRecord[] {
  const next = numbers(42);
  const pick = <T>(values: readonly T[]): T => values[next(values.length)] as T;
  return Array.from({ length: COUNT }, (_, at) => {
    const created_at = FIRST + Math.floor(((LAST - FIRST - 1) * next(1_000_000)) / 1_000_000);
    const status = pick([200, 200, 200, 200, 201, 429, 500, 404]);
    const cache_status = pick([null, null, 'MISS', 'HIT', 'SEMANTIC HIT'] as const);
    const usage = at % 9 === 0 ? null : { input_tokens: next(2_000), output_tokens: next(500) };
    const retries = status < 400 ? pick([0, 0, 0, 1, 2]) : 0;
    const isFallback = status < 400 && next(10) === 0;
    const record = aRecord({
      created_at,
      organisation_id: app.first.organisation_id,
      workspace_id: pick(workspaces),
      api_key_id: pick(keys),
      provider: pick(['openai', 'anthropic', null]),
      model: pick(['gpt-5', 'claude-5', 'gpt-5-mini', null]),
      virtual_key: pick(['prod', 'test', null]),
      config_id: pick([...configs.values(), null]),
      endpoint: pick(['chat-completions', 'embeddings']),
      trace_id: `trace-${next(1_500)}`,
      status,
      cache_status,
      saved_nano_usd: cache_status?.includes('HIT') ? next(9_000_000) : null,
      usage,
      usage_source: usage ? 'provider' : 'none',
      cost_nano_usd: at % 9 === 0 ? null : next(50_000_000),
      duration_ms: next(20_000),
      first_token_ms: pick([null, next(900)]),
      metadata: pick([null, { _user: `user-${next(40)}`, tier: pick(['free', 'paid']) }]),
      ending: endingOf(status, at),
    });
    const [attempt] = record.attempts;
    if (!attempt) return record;
    const again = Array.from({ length: retries }, (_each, index) => ({ ...attempt, attempt: index + 1 }));
    const elsewhere = isFallback
      ? [{ ...attempt, attempt: retries + 1, origin: 'https://other.example.com' }]
      : [];
    return { ...record, attempts: [attempt, ...again, ...elsewhere] };
  });
}

async function savedConfig(slug: string): Promise<string> {
  const [id, version] = [randomUUID(), randomUUID()];
  await app.dataSource.query(
    `WITH config AS (
       INSERT INTO configs (id, organization_id, slug, name, version_id) VALUES ($1, $2, $3, $3, $4))
     INSERT INTO config_versions (id, organization_id, config_id, number, document) VALUES ($4, $2, $1, 1, '{}')`,
    [id, app.first.organisation_id, slug, version],
  );
  return id;
}

beforeAll(async () => {
  app = await AdminApp.start({}, clickhouse);
  const two = await app.anotherWorkspace('ws-two');
  const foreign = await app.anotherOrganization();
  keys = [randomUUID(), randomUUID(), randomUUID()];
  const [{ slug }] = await app.dataSource.query('SELECT slug FROM workspaces WHERE id = $1', [
    app.first.workspace_id,
  ]);
  slugOf = new Map([
    [app.first.workspace_id, slug],
    [two, 'ws-two'],
  ]);
  for (const slug of ['pc-a', 'pc-b']) configs.set(slug, await savedConfig(slug));
  own = (await app.workspaceKey(['analytics.view'])).key;
  records = someRecords([app.first.workspace_id, two]);
  const strangers = records.slice(0, 300).map((record) => ({
    ...record,
    id: randomUUID(),
    organisation_id: foreign.organizationId,
    workspace_id: foreign.workspaceId,
  }));
  const aggregator = aggregatorOn(app.dataSource, clickhouse);
  const batches = await storeRecords(app.url, [...records.slice(0, 3_600), ...strangers]);
  for (const batch of batches) await aggregator.aggregate(batch);
  for (const round of ['hours', 'days'])
    for (const mark of await dueBuckets(app.dataSource, 0, 1_000))
      await derive(app.dataSource, mark).then(() => round);
  // These come late: some of their hours and days are derived already and stay marked.
  for (const batch of await storeRecords(app.url, records.slice(3_600))) await aggregator.aggregate(batch);
  const next = numbers(7);
  feedback = Array.from({ length: 300 }, () => ({
    created_at: FIRST + Math.floor(((LAST - FIRST - 1) * next(1_000)) / 1_000),
    trace_id: `trace-${next(2_000)}`,
    value: next(21) - 10,
    weight: next(5) / 4,
  }));
  await app.dataSource.query(
    `INSERT INTO feedback (id, organization_id, workspace_id, api_key_id, trace_id, value, weight, created_at)
     SELECT gen_random_uuid(), $1, $2, gen_random_uuid(), trace_id, value, weight, to_timestamp(created_at / 1000.0)
     FROM jsonb_to_recordset($3::jsonb) AS given (trace_id text, value smallint, weight float8, created_at float8)`,
    [app.first.organisation_id, app.first.workspace_id, JSON.stringify(feedback)],
  );
}, 120_000);
afterAll(() => app.close());

interface Asked {
  readonly from?: number;
  readonly to?: number;
  readonly key?: string;
  readonly query?: Readonly<Record<string, string>>;
}

function answerTo(
  path: string,
  { from = FIRST, to = LAST, key, query = {} }: Asked = {},
): ReturnType<AdminApp['call']> {
  const parameters = new URLSearchParams({
    time_of_generation_min: new Date(from).toISOString(),
    time_of_generation_max: new Date(to).toISOString(),
    ...query,
  });
  return app.call('GET', `/v1/analytics/${path}?${parameters.toString()}`, { key });
}

async function ask(path: string, asked: Asked = {}): Promise<Json> {
  const answer = await answerTo(path, asked);
  expect(answer.status, answer.text).toBe(200);
  return answer.body;
}

const sum = (values: readonly (number | null | undefined)[]): number =>
  values.reduce<number>((total, value) => total + (value ?? 0), 0);
const tokensOf = ({ usage }: RequestLogRecord): number =>
  usage ? usage.input_tokens + usage.output_tokens : 0;
const userOf = ({ metadata }: RequestLogRecord): string => metadata?.['_user'] ?? '';
const isError = ({ status }: RequestLogRecord): boolean => status >= 400;
const isRefusal = (record: RequestLogRecord): boolean => isError(record) && record.ending === 'refused';
const within = (from: number, to: number): RequestLogRecord[] =>
  records.filter(({ created_at }) => created_at >= from && created_at < to);
const nearly = (value: number) => expect.closeTo(value, 6) as number;

const savedCents = (of: readonly RequestLogRecord[]): unknown =>
  nearly(sum(of.map(({ saved_nano_usd }) => saved_nano_usd)) / NANO_PER_CENT);

function percentileOf(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1] ?? null;
}

const percentile = (of: readonly RequestLogRecord[], share: number): number =>
  percentileOf(
    of.map(({ duration_ms }) => duration_ms),
    share,
  ) ?? 0;

/** Milliseconds as a histogram returns them. */
const inHistogram = (ms: number): number => valueOf(bucketOf(ms * 1_000)) / 1_000;

/** The 95th percentile of the time to the first token, as near to the recomputed one as the histogram promises. */
function nearFirstToken(of: readonly RequestLogRecord[]): unknown {
  const exact = percentileOf(
    of.flatMap(({ first_token_ms }) => first_token_ms ?? []),
    0.95,
  );
  if (exact === null) return null;
  const tolerance = exact * 0.011 + 1e-9;
  // The difference is less than half of ten to the power of minus these digits.
  return expect.closeTo(exact, -Math.log10(2 * tolerance)) as unknown;
}

/** Each graph by a second way: sums over the records themselves. */
const PLAIN: Readonly<Record<string, (of: readonly RequestLogRecord[]) => Record<string, unknown>>> = {
  requests: (of) => ({ total: of.length }),
  cost: (of) => {
    const total = sum(of.map(({ cost_nano_usd }) => cost_nano_usd)) / NANO_PER_CENT;
    return { total: nearly(total), avg: nearly(of.length ? total / of.length : 0) };
  },
  tokens: (of) => ({
    total: sum(of.map(tokensOf)),
    avg: nearly(of.length ? sum(of.map(tokensOf)) / of.length : 0),
  }),
  users: (of) => ({ total: new Set(of.map(userOf).filter(Boolean)).size }),
  errors: (of) => ({ total: of.filter(isError).length, refusals: of.filter(isRefusal).length }),
  'errors/rate': (of) => {
    const accepted = of.filter((record) => !isRefusal(record));
    return {
      rate: nearly(accepted.length ? (accepted.filter(isError).length / accepted.length) * 100 : 0),
      refusals: of.length - accepted.length,
    };
  },
};

const SLOTS: readonly (readonly [interval: string, width: number, from: number, to: number])[] = [
  ['day', DAY, FIRST, FIRST + 6 * DAY],
  ['hour', HOUR, FIRST + DAY + 7 * HOUR, FIRST + 3 * DAY + 5 * HOUR],
  ['minute', MINUTE, FIRST + DAY + 13 * MINUTE, FIRST + DAY + 3 * HOUR],
];

describe.each(Object.keys(PLAIN))('the graph %s', (path) => {
  it.each(SLOTS)(
    'is what the requests add up to, by the %s, with a point for each',
    async (interval, width, from, to) => {
      const { data_points, summary, object } = await ask(`graphs/${path}`, { from, to, query: { interval } });
      const plain = PLAIN[path] as (of: readonly RequestLogRecord[]) => Record<string, unknown>;
      const expected = [];
      for (let at = from; at < to; at += width)
        expected.push({
          timestamp: new Date(at).toISOString(),
          ...plain(within(at, Math.min(to, at + width))),
        });

      expect(object).toBe('analytics-graph');
      expect(summary).toEqual(plain(within(from, to)));
      expect(data_points).toEqual(expected);
    },
  );

  it('is the same to the newest minute, though hours and days above are not derived yet', async () => {
    const plain = PLAIN[path] as (of: readonly RequestLogRecord[]) => Record<string, unknown>;
    expect((await ask(`graphs/${path}`)).summary).toEqual(plain(records));
  });
});

describe('the other graphs', () => {
  it('latency: mean exactly, percentiles within 1.1 percent', async () => {
    const { summary } = await ask('graphs/latency');
    expect(summary.avg).toBeCloseTo(sum(records.map(({ duration_ms }) => duration_ms)) / COUNT, 6);
    for (const [name, share] of [
      ['p50', 0.5],
      ['p90', 0.9],
      ['p95', 0.95],
      ['p99', 0.99],
    ] as const) {
      const exact = percentile(records, share);
      expect(Math.abs(summary[name] - exact), name).toBeLessThanOrEqual(exact * 0.011);
    }
  });

  it.each(SLOTS)('users/requests, by the %s', async (interval, width, from, to) => {
    const counted = (of: readonly RequestLogRecord[]) => {
      const named = of.filter((record) => userOf(record) !== '');
      const unique = new Set(named.map(userOf)).size;
      return { total: named.length, unique, avg: nearly(unique ? named.length / unique : 0) };
    };
    const times = Array.from({ length: Math.ceil((to - from) / width) }, (_, at) => from + at * width);
    const queries: readonly Readonly<Record<string, string>>[] = [{}, { ai_model: 'gpt-5' }];
    for (const query of queries) {
      const fits = ({ model }: RequestLogRecord) => [model, undefined].includes(query.ai_model);
      const { summary, data_points } = await ask('graphs/users/requests', {
        from,
        to,
        query: { interval, ...query },
      });
      expect(summary).toEqual(counted(within(from, to).filter(fits)));
      expect(data_points.map(({ avg }: Json) => avg)).toEqual(
        times.map((at) => counted(within(at, Math.min(to, at + width)).filter(fits)).avg),
      );
    }
  });

  it('errors/stacks and errors/status-codes', async () => {
    const ofStatus = (status: number) => records.filter((record) => record.status === status);
    const count = (status: number) => ofStatus(status).length;
    const refusals = (status: number) => ofStatus(status).filter(isRefusal).length;
    const codes = await ask('graphs/errors/status-codes');
    expect(codes.summary).toEqual({
      total_errors: count(404) + count(429) + count(500),
      unique_error_codes: 3,
    });
    expect(codes.data_points).toEqual(
      [404, 429, 500].map((status_code) => ({
        status_code,
        count: count(status_code),
        refusals: refusals(status_code),
      })),
    );
    const { data_points } = await ask('graphs/errors/stacks');
    const stats = data_points.flatMap((point: Json) => point.stats);
    const stacked = (status: number, field: string) =>
      sum(
        stats
          .filter((each: Json) => each.response_status_code === status)
          .map((each: Json) => Number(each[field])),
      );
    for (const status of [404, 429, 500])
      expect([stacked(status, 'count'), stacked(status, 'refusals')]).toEqual([
        count(status),
        refusals(status),
      ]);
    expect(sum(stats.map((each: Json) => Number(each.count)))).toBe(codes.summary.total_errors);
  });

  it('requests/rescued', async () => {
    const fallbacks = records.filter(
      ({ attempts }) => new Set(attempts.map(({ origin }) => origin)).size > 1,
    );
    const retries = records.filter((record) => record.attempts.length > 1 && !fallbacks.includes(record));
    const { summary, data_points } = await ask('graphs/requests/rescued');
    expect(summary).toEqual({ retry: retries.length, fallback: fallbacks.length });
    expect(sum(data_points.map(({ fallback }: Json) => fallback))).toBe(fallbacks.length);
    const twice = data_points
      .flatMap(({ retry }: Json) => retry)
      .filter((each: Json) => each.retry_success_count === 2);
    expect(sum(twice.map(({ count }: Json) => count))).toBe(
      retries.filter(({ attempts }) => attempts.length === 3).length,
    );
  });

  it('cache/hit-rate, cache/latency and summary/cache', async () => {
    const hits = records.filter(({ cache_status }) => cache_status?.includes('HIT'));
    const simple = records.filter(({ cache_status }) => cache_status === 'HIT');
    const { summary, data_points } = await ask('graphs/cache/hit-rate');
    expect(summary).toEqual({ total: hits.length, rate: nearly((hits.length / COUNT) * 100) });
    expect(data_points.at(-1).cumulative_simple_cache_savings).toBeCloseTo(
      sum(simple.map(({ saved_nano_usd }) => saved_nano_usd)) / NANO_PER_CENT,
      6,
    );
    const avg = sum(hits.map(({ duration_ms }) => duration_ms)) / hits.length;
    expect((await ask('graphs/cache/latency')).summary).toEqual({ avg: nearly(avg) });
    expect(await ask('summary/cache')).toMatchObject({
      object: 'analytics-summary',
      summary: { hits: hits.length, total_requests: COUNT, avg_latency: nearly(avg) },
    });
  });

  it('feedbacks, scores, weighted, by model', async () => {
    const weighted = sum(feedback.map(({ value, weight }) => value * weight)) / feedback.length;
    expect((await ask('graphs/feedbacks')).summary).toEqual({ total: 300 });
    expect((await ask('graphs/feedbacks/weighted')).summary).toEqual({ avg: nearly(weighted) });
    const { data_points } = await ask('graphs/feedbacks/scores');
    expect(data_points).toEqual(
      Array.from({ length: 21 }, (_, index) => ({
        score: index - 10,
        total: feedback.filter(({ value }) => value === index - 10).length,
      })),
    );
    const models = (await ask('graphs/feedbacks/ai-models')).data_points;
    expect(sum(models.map(({ total }: Json) => total))).toBe(300);
    const narrowed = await ask('graphs/feedbacks', { query: { ai_model: 'gpt-5' } });
    const traces = new Set(
      records
        .filter(({ model, workspace_id }) => model === 'gpt-5' && workspace_id === app.first.workspace_id)
        .map(({ trace_id }) => trace_id),
    );
    expect(narrowed.summary).toEqual({
      total: feedback.filter(({ trace_id }) => traces.has(trace_id)).length,
    });
  });

  it('also respond at the dashed paths that clients use', async () => {
    const PAIRS = [
      ['users-requests', 'users/requests'],
      ['errors-rate', 'errors/rate'],
      ['errors-stack', 'errors/stacks'],
      ['errors-status-code', 'errors/status-codes'],
      ['requests-rescued', 'requests/rescued'],
      ['cache-hit-rate', 'cache/hit-rate'],
      ['cache-latency', 'cache/latency'],
      ['feedbacks/score', 'feedbacks/scores'],
    ];
    for (const [one, other] of PAIRS)
      expect(await ask(`graphs/${one}`)).toEqual(await ask(`graphs/${other}`));
  });
});

/** Filters and what they mean, said a second time. */
const FILTERS: readonly (readonly [
  query: Record<string, string>,
  fits: (record: RequestLogRecord) => boolean,
])[] = [
  [{ ai_model: 'gpt-5,claude-5' }, ({ model }) => model === 'gpt-5' || model === 'claude-5'],
  [{ ai_org_model: 'openai__gpt-5' }, ({ provider, model }) => provider === 'openai' && model === 'gpt-5'],
  [{ status_code: '429,500' }, ({ status }) => status === 429 || status === 500],
  [{ is_success: 'false' }, ({ status }) => status >= 400],
  [{ virtual_keys: 'prod' }, ({ virtual_key }) => virtual_key === 'prod'],
  [
    { configs: 'pc-b', ai_model: 'gpt-5' },
    ({ config_id, model }) => config_id === configs.get('pc-b') && model === 'gpt-5',
  ],
  [{ cache_status: 'SEMANTIC HIT' }, ({ cache_status }) => cache_status === 'SEMANTIC HIT'],
  [{ user: 'user-3' }, (record) => userOf(record) === 'user-3'],
  [{ metadata: '{"_user":"user-3"}' }, (record) => userOf(record) === 'user-3'],
  [{ metadata: '{"tier":"paid"}' }, ({ metadata }) => metadata?.['tier'] === 'paid'],
  [
    { metadata: '{"tier":"paid","_user":"user-5"}' },
    ({ metadata }) => metadata?.['tier'] === 'paid' && metadata['_user'] === 'user-5',
  ],
  [
    { user: 'user-3', ai_model: 'gpt-5' },
    (record) => userOf(record) === 'user-3' && record.model === 'gpt-5',
  ],
  [
    { cost_min: '2', cost_max: '4' },
    ({ cost_nano_usd }) =>
      cost_nano_usd !== null && cost_nano_usd >= 20_000_000 && cost_nano_usd <= 40_000_000,
  ],
  [{ total_units_min: '1000' }, (record) => tokensOf(record) >= 1_000],
  [{ prompt_token_max: '100' }, ({ usage }) => usage !== null && usage.input_tokens <= 100],
  [{ completion_token_min: '400' }, ({ usage }) => usage !== null && usage.output_tokens >= 400],
  [{ response_time_min: '15000' }, ({ duration_ms }) => duration_ms >= 15_000],
  [{ trace_id: 'trace-7,trace-8' }, ({ trace_id }) => trace_id === 'trace-7' || trace_id === 'trace-8'],
];

describe('the overview', () => {
  const [from, to] = [FIRST + 3 * DAY, FIRST + 5 * DAY];

  it('is what the requests of the period and of the one before add up to', async () => {
    const overview = await ask('overview', { from, to, query: { interval: 'hour' } });
    const figures = (of: readonly RequestLogRecord[]) => ({
      requests: of.length,
      errors: of.filter(isError).length,
      refusals: of.filter(isRefusal).length,
      tokens: sum(of.map(tokensOf)),
      cost: nearly(sum(of.map(({ cost_nano_usd }) => cost_nano_usd)) / NANO_PER_CENT),
      cache_saved: savedCents(of),
      first_token_p95: nearFirstToken(of),
    });
    const [now, before] = [within(from, to), within(2 * from - to, from)];
    expect(overview.summary).toMatchObject(figures(now));
    expect(overview.previous_summary).toMatchObject(figures(before));
    expect(overview.summary.latency_p95 / percentile(now, 0.95)).toBeCloseTo(1, 1);
    expect(overview.data_points).toHaveLength(48);
    for (const [at, point] of overview.data_points.entries()) {
      const of = within(from + at * HOUR, from + (Number(at) + 1) * HOUR);
      expect(point).toMatchObject({
        timestamp: new Date(from + at * HOUR).toISOString(),
        requests: of.length,
        client_errors: of.filter((each) => isError(each) && !isRefusal(each) && each.status < 500).length,
        server_errors: of.filter((each) => !isRefusal(each) && each.status >= 500).length,
        refusals: of.filter(isRefusal).length,
        cache_saved: savedCents(of),
        first_token_p95: nearFirstToken(of),
      });
    }
    expect(sum(overview.previous_points.map(({ requests }: Json) => requests))).toBe(before.length);
  });

  it('has the largest groups, as the groups of analytics have them', async () => {
    const query = { columns: 'requests,cost', order_by: 'cost', page_size: '5' };
    const overview = await ask('overview', { from, to, key: own });
    const models = await ask('groups/model', { from, to, key: own, query });
    const apiKeys = await ask('groups/api_key', { from, to, key: own, query });
    const shown = (rows: Json[], field: string) =>
      rows.map((row) => ({ value: row[field], requests: row.requests, cost: row.cost }));
    expect(overview.top_models).toEqual(shown(models.data, 'model'));
    // No row has these keys, so they have no names.
    expect(overview.top_api_keys).toEqual(
      shown(apiKeys.data, 'api_key').map((group) => ({ ...group, name: null })),
    );
    const users = await ask('groups/users', { from, to, key: own, query });
    expect(overview.top_users).toEqual(
      shown(users.data, 'user').map(({ value, requests, cost }) => ({
        value,
        requests: Number(requests),
        cost: nearly(Number(cost)),
      })),
    );
    const errors = within(from, to).filter(
      (record) => isError(record) && record.workspace_id === app.first.workspace_id,
    );
    const ofStatus = (status: number) => errors.filter((record) => record.status === status);
    expect(overview.top_errors).toHaveLength(3);
    expect(overview.top_errors).toEqual(
      expect.arrayContaining(
        [404, 429, 500].map((status_code) => ({
          status_code,
          requests: ofStatus(status_code).length,
          refusals: ofStatus(status_code).filter(isRefusal).length,
        })),
      ),
    );
  });
});

describe('the failing providers of the overview', () => {
  it('are those of its last hour with ten requests and five per cent of failures, without refusals and crashes of the gateway', async () => {
    let named = 0;
    for (let end = FIRST + 3 * DAY; end < FIRST + 4 * DAY; end += 2 * HOUR) {
      const overview = await ask('overview', { from: end - 5 * HOUR, to: end });
      const expected = ['openai', 'anthropic'].flatMap((provider) => {
        const of = within(end - HOUR, end).filter(
          (record) =>
            record.provider === provider && !isRefusal(record) && record.ending !== 'gateway_crashed',
        );
        const failed = of.map(({ status }) => status).filter((status) => status === 429 || status >= 500);
        const times = (status: number): number => failed.filter((each) => each === status).length;
        const statuses = [...new Set(failed)].sort((one, other) => times(other) - times(one) || one - other);
        return of.length >= 10 && failed.length >= of.length * 0.05
          ? [{ provider, requests: of.length, failures: failed.length, statuses }]
          : [];
      });
      expect(overview.failing_providers).toHaveLength(expected.length);
      expect(overview.failing_providers).toEqual(expect.arrayContaining(expected));
      const failures = overview.failing_providers.map((one: Json) => one.failures);
      expect(failures).toEqual([...failures].sort((one, other) => other - one));
      named += expected.length;
    }
    expect(named).toBeGreaterThan(0);
  });
});

describe('a facet', () => {
  const counts = (
    of: readonly RequestLogRecord[],
    valueOf: (record: RequestLogRecord) => string | number | null | undefined,
  ) => {
    const all = new Map<string, number>();
    for (const record of of) {
      const value = String(valueOf(record) ?? '');
      if (value !== '') all.set(value, (all.get(value) ?? 0) + 1);
    }
    return all;
  };
  const found = (facet: Json) =>
    new Map(facet.data.map(({ value, requests }: Json) => [String(value), requests]));

  const FIELDS: Readonly<Record<string, (record: RequestLogRecord) => unknown>> = {
    status_code: ({ status }) => status,
    model: ({ model }) => model,
    provider: ({ provider }) => provider,
    virtual_key: ({ virtual_key }) => virtual_key,
    api_key_id: ({ api_key_id }) => api_key_id,
    config: ({ config_id }) => [...configs].find(([, id]) => id === config_id)?.[0],
    endpoint: ({ endpoint }) => endpoint,
    cache_status: ({ cache_status }) => cache_status,
  };

  it.each(Object.keys(FIELDS))('%s has every value with its requests, most frequent first', async (field) => {
    const facet = await ask(`facets/${field}`);
    const valueOf = FIELDS[field] as (record: RequestLogRecord) => string | number | null;
    const amounts = facet.data.map(({ requests }: Json) => requests);
    expect(found(facet)).toEqual(counts(records, valueOf));
    expect(amounts).toEqual([...amounts].sort((one, other) => other - one));
    expect(facet).toMatchObject({ is_filtered: true, has_more: false });
  });

  it('counts what the other filters let in, where rollups distinguish their values', async () => {
    const facet = await ask('facets/provider', { query: { model: 'gpt-5', status_code: '429' } });
    const fitting = records.filter(({ model, status }) => model === 'gpt-5' && status === 429);
    expect(found(facet)).toEqual(counts(fitting, ({ provider }) => provider));
  });

  it('never reads request rows: it leaves out a filter that would need them, and reports it', async () => {
    const facet = await ask('facets/provider', { query: { model: 'gpt-5', cost_min: '2' } });
    const fitting = records.filter(({ model }) => model === 'gpt-5');
    expect(facet.is_filtered).toBe(false);
    expect(found(facet)).toEqual(counts(fitting, ({ provider }) => provider));
  });

  it('has a page of values, and says that there are more', async () => {
    const { data, has_more } = await ask('facets/model', { query: { page_size: '2' } });
    expect([data.length, has_more]).toEqual([2, true]);
    expect((await ask('facets/model', { query: { page_size: '3' } })).has_more).toBe(false);
  });

  it('requires the right to list requests, and covers only visible requests and known fields', async () => {
    const { key } = await app.workspaceKey(['logs.list']);
    const inOwn = records.filter(({ workspace_id }) => workspace_id === app.first.workspace_id);
    expect(found(await ask('facets/model', { key }))).toEqual(counts(inOwn, ({ model }) => model));
    expect((await answerTo('facets/trace_id')).body.error.message).toContain('"trace_id" has no facet');
  });
});

describe('filters', () => {
  it.each(FILTERS)('%j', async (query, fits) => {
    const found = records.filter(fits);
    expect(found.length).toBeGreaterThan(0);
    const { summary } = await ask('graphs/cost', { query });
    const total = sum(found.map(({ cost_nano_usd }) => cost_nano_usd)) / NANO_PER_CENT;
    expect((await ask('graphs/requests', { query })).summary).toEqual({ total: found.length });
    expect(summary.total).toBeCloseTo(total, 6);
  });

  it('weighted feedback is that of the trace', async () => {
    const { summary } = await ask('graphs/requests', {
      query: { weighted_feedback_min: '3', has_feedback: 'true' },
    });
    const of = new Map<string, number[]>();
    for (const { trace_id, value, weight } of feedback)
      of.set(trace_id, [...(of.get(trace_id) ?? []), value * weight]);
    const fits = records.filter(({ trace_id, workspace_id }) => {
      const given = workspace_id === app.first.workspace_id ? of.get(trace_id) : undefined;
      return given !== undefined && sum(given) / given.length >= 3;
    });
    expect(summary).toEqual({ total: fits.length });
  });

  it.each([
    ['graphs/requests', { interval: 'fortnight' }],
    ['graphs/requests', { time_zone: "UTC'; SELECT 1" }],
    ['graphs/requests', { group_by: 'model;drop table' }],
    ['graphs/requests', { cost_min: '1; SELECT pg_sleep(5)' }],
    ['groups/model', { order_by: 'created_at desc,(select pg_sleep(5))' }],
    ['groups/model', { order_by_type: 'desc; SELECT 1' }],
    ['groups/model', { columns: 'requests, (SELECT 1)' }],
    ['groups/model', { include_total: 'yes' }],
    ['summary/cache', { interval: 'day' }],
    ['summary/cache', { page_size: '10' }],
    ['graphs/requests', { page_size: 'many' }],
    ['groups/passwords', {}],
    ['groups/constructor', {}],
  ])('%s with %j is refused', async (path, query) => {
    const answer = await app.call(
      'GET',
      `/v1/analytics/${path}?${new URLSearchParams(query as Record<string, string>).toString()}`,
    );
    expect(answer.status).toBe(400);
  });
});

describe('groups', () => {
  const VALUES: Readonly<Record<string, (record: RequestLogRecord) => string>> = {
    users: userOf,
    'ai-models': ({ model }) => model ?? '',
    workspaces: ({ workspace_id }) => slugOf.get(workspace_id ?? '') ?? '',
    ai_service: ({ provider }) => provider ?? '',
    status_code: ({ status }) => String(status),
    api_key: ({ api_key_id }) => api_key_id ?? '',
    config: ({ config_id }) => [...configs].find(([, id]) => id === config_id)?.[0] ?? '',
    provider: ({ virtual_key }) => virtual_key ?? '',
    prompt: () => '',
    'metadata/tier': ({ metadata }) => metadata?.['tier'] ?? '',
    'metadata/_user': userOf,
  };

  it.each(Object.keys(VALUES))('by %s are what the requests add up to', async (path) => {
    const valueOf = VALUES[path] as (record: RequestLogRecord) => string;
    const field = path.startsWith('metadata/')
      ? 'metadata_value'
      : GROUPINGS[path as keyof typeof GROUPINGS].field;
    const { data, total } = await ask(`groups/${path}`, {
      query: { columns: 'requests,cost,total_tokens', page_size: '100' },
    });
    const expected = new Map<string, RequestLogRecord[]>();
    for (const record of records)
      expected.set(valueOf(record), [...(expected.get(valueOf(record)) ?? []), record]);

    expect(total).toBe(expected.size);
    expect(new Map(data.map((row: Json) => [row[field], Number(row.requests)]))).toEqual(
      new Map([...expected].map(([value, of]) => [value, of.length])),
    );
    for (const row of data)
      expect(row.total_tokens).toBe(sum((expected.get(row[field]) ?? []).map(tokensOf)));
  });

  it.each(['ai_service', 'status_code', 'api_key'] as const)(
    'by %s have a success rate without the refusals of the gateway, and none where it refused all',
    async (path) => {
      const valueOf = VALUES[path] as (record: RequestLogRecord) => string;
      const field = GROUPINGS[path].field;
      const columns = 'requests,success_rate,error_count,refusal_count';
      const filters: readonly Readonly<Record<string, string>>[] = [{}, { ending: 'refused' }];
      for (const filter of filters) {
        const { data } = await ask(`groups/${path}`, { query: { columns, page_size: '100', ...filter } });
        const fitting = records.filter(({ ending }) => (filter['ending'] ?? ending) === ending);
        const refused = (of: readonly RequestLogRecord[]) => of.filter(isRefusal).length;
        const expected = [...new Set(fitting.map(valueOf))].map((value) => {
          const of = fitting.filter((record) => valueOf(record) === value);
          const accepted = of.filter((record) => !isRefusal(record));
          const good = accepted.filter((record) => !isError(record));
          return {
            [field]: value,
            requests: of.length,
            success_rate: accepted.length === 0 ? null : nearly((good.length / accepted.length) * 100),
            error_count: of.filter(isError).length,
            refusal_count: refused(of),
            // The keys of these records are not stored.
            ...(path === 'api_key' && { api_key_name: null }),
            object: expect.any(String) as string,
          };
        });
        expect(data).toHaveLength(expected.length);
        expect(data).toEqual(expect.arrayContaining(expected));
      }
    },
  );

  it('whose requests were all refused come last by their success rate, in both directions', async () => {
    for (const order_by_type of ['asc', 'desc']) {
      const query = { order_by: 'success_rate', columns: 'success_rate', ending: 'refused', order_by_type };
      const { data } = await ask('groups/status_code', { query });
      expect(data.map((row: Json) => row.success_rate)).toEqual([100, 100, null, null, null]);
    }
  });

  it('are sorted and paginated by every column, and pages do not overlap', async () => {
    for (const order_by of [
      'requests',
      'cost',
      'avg_latency',
      'p95_latency',
      'success_rate',
      'cache_hit_rate',
      'last_seen',
    ]) {
      const query = { order_by, columns: order_by, page_size: '15' };
      const pages = await Promise.all(
        ['0', '1', '2'].map((current_page) => ask('groups/users', { query: { ...query, current_page } })),
      );
      const rows = pages.flatMap(({ data }) => data);
      const shown = rows.map((row: Json) =>
        order_by === 'last_seen' ? Date.parse(row[order_by]) : Number(row[order_by]),
      );
      expect(shown, order_by).toEqual([...shown].sort((one, other) => other - one));
      expect(new Set(rows.map(({ user }: Json) => user)).size, order_by).toBe(41);
    }
  });

  it('of users are sorted by a percentile in both directions, and a page beyond the last has their total', async () => {
    const query = { order_by: 'p95_latency', columns: 'requests,p95_latency', page_size: '100' };
    const page = (more: object) => ask('groups/users', { query: { ...query, ...more } });
    const [falling, rising, beyond] = await Promise.all([
      page({}),
      page({ order_by_type: 'asc' }),
      page({ current_page: '7' }),
    ]);
    const percentiles = (of: Json): number[] => of.data.map((row: Json) => row.p95_latency);

    expect(percentiles(rising)).toEqual(percentiles(falling).reverse());
    expect(sum(falling.data.map(({ requests }: Json) => Number(requests)))).toBe(
      sum(rising.data.map(({ requests }: Json) => Number(requests))),
    );
    expect([falling.total, beyond.total, beyond.data]).toEqual([41, 41, []]);
  });

  it('of metadata show the feedback on their requests', async () => {
    const { data } = await ask('groups/metadata/tier');
    const on = new Set(feedback.map(({ trace_id }) => trace_id));
    const paid = records.filter(
      ({ metadata, trace_id, workspace_id }) =>
        metadata?.['tier'] === 'paid' && workspace_id === app.first.workspace_id && on.has(trace_id),
    );
    expect(data.find((row: Json) => row.metadata_value === 'paid').requests_with_feedback).toBe(paid.length);
  });

  it('always make up the whole, whatever is filtered and grouped', async () => {
    const filter = fc.constantFrom(...FILTERS.map(([query]) => query));
    const group = fc.constantFrom(...Object.keys(VALUES));
    const minute = fc.integer({ min: 0, max: Math.floor((LAST - FIRST) / MINUTE) - 1 });
    await fc.assert(
      fc.asyncProperty(filter, filter, group, minute, minute, async (one, other, path, start, end) => {
        const range = {
          from: FIRST + Math.min(start, end) * MINUTE,
          to: FIRST + (Math.max(start, end) + 1) * MINUTE,
        };
        const query = { ...one, ...other };
        const { data } = await ask(`groups/${path}`, {
          ...range,
          query: { ...query, page_size: '100', columns: 'requests,cost' },
        });
        const requests = await ask('graphs/requests', { ...range, query });
        const cost = await ask('graphs/cost', { ...range, query });
        expect(sum(data.map((row: Json) => Number(row.requests)))).toBe(requests.summary.total);
        expect(sum(requests.data_points.map(({ total }: Json) => total))).toBe(requests.summary.total);
        expect(sum(data.map((row: Json) => Number(row.cost)))).toBeCloseTo(cost.summary.total, 6);
      }),
      { numRuns: 40 },
    );
  }, 60_000);
});

describe('who sees what', () => {
  it('a workspace key its workspace, an admin key all or the one it names, no key another organization', async () => {
    const inOwn = records.filter(({ workspace_id }) => workspace_id === app.first.workspace_id).length;
    expect((await ask('graphs/requests', { key: own })).summary).toEqual({ total: inOwn });
    expect((await ask('groups/workspaces', { key: own })).data).toHaveLength(1);
    expect((await ask('graphs/requests')).summary).toEqual({ total: COUNT });
    expect((await ask('graphs/requests', { query: { workspace_slug: 'ws-two' } })).summary).toEqual({
      total: COUNT - inOwn,
    });
    const denied = await app.call('GET', '/v1/analytics/graphs/requests?workspace_slug=ws-two', { key: own });
    const absent = await app.call('GET', '/v1/analytics/graphs/requests?workspace_slug=ws-none', {
      key: own,
    });
    expect([denied.status, absent.status]).toEqual([404, 404]);
  });

  it('G09: no parameter widens the scope', async () => {
    const inOwn = records.filter(({ workspace_id }) => workspace_id === app.first.workspace_id).length;
    const names = ['workspace_id', 'workspace_id[]', 'workspace_slug', 'organisation_id'];
    const values = ['ws-two', '*', '%', 'null', '', app.first.organisation_id, randomUUID()];
    for (const name of names)
      for (const value of values) {
        const { status, body } = await answerTo('graphs/requests', { key: own, query: { [name]: value } });
        if (status === 200) expect(body.summary, `${name}=${value}`).toEqual({ total: inOwn });
        else expect([400, 404], `${name}=${value}`).toContain(status);
      }
  });

  it('requires the scope', async () => {
    const { key } = await app.workspaceKey(['logs.list']);
    expect((await app.call('GET', '/v1/analytics/graphs/cost', { key })).status).toBe(403);
    expect((await app.call('GET', '/v1/analytics/groups/users', { key })).status).toBe(403);
  });
});

describe('a time zone', () => {
  it('moves where days begin, and loses nothing', async () => {
    for (const time_zone of ['America/New_York', 'Asia/Kolkata', 'Pacific/Auckland']) {
      const { data_points, summary } = await ask('graphs/requests', {
        query: { interval: 'day', time_zone },
      });
      expect(summary).toEqual({ total: COUNT });
      const starts = data_points.map(({ timestamp }: Json) => Date.parse(timestamp));
      for (const [index, { total }] of data_points.entries())
        expect(total, time_zone).toBe(
          within(Number(starts[index]), Number(starts[Number(index) + 1] ?? LAST)).length,
        );
    }
  });
});

onPostgres('what lies ready in hours and days', () => {
  const asked: readonly (readonly [path: string, query: Readonly<Record<string, string>>])[] = [
    ['graphs/users', {}],
    ['graphs/users/requests', {}],
    ['graphs/latency', { ai_model: 'gpt-5', status_code: '200' }],
    ['graphs/latency', { virtual_key: 'prod' }],
    ['groups/users', { columns: 'requests,p95_latency', order_by: 'p95_latency', page_size: '100' }],
  ];
  const answers = async (): Promise<Json[]> => {
    const all = asked.flatMap(([path, query]) =>
      path.startsWith('groups')
        ? [ask(path, { query })]
        : ['day', 'hour'].map((interval) => ask(path, { query: { interval, ...query } })),
    );
    return Promise.all(all);
  };
  const forget = (where: string): Promise<unknown> =>
    Promise.all(
      ['hour', 'day'].flatMap((grain) => [
        app.dataSource.query(`UPDATE usage_${grain} SET durations = NULL WHERE ${where}`),
        app.dataSource.query(`UPDATE usage_slice_${grain} SET users = NULL, durations = NULL WHERE ${where}`),
      ]),
    );

  it('states its source: responses are the same with all, some and none of it', async () => {
    const ready = await app.dataSource.query<Readonly<Record<string, boolean>>[]>(
      `SELECT (SELECT bool_and(durations IS NOT NULL) FROM usage_day) AS durations,
         (SELECT bool_and(durations IS NOT NULL) FROM usage_slice_day) AS durations_of_slices,
         (SELECT bool_and(users IS NOT NULL) FROM usage_slice_day WHERE dimension = 'all') AS users`,
    );
    expect(ready).toEqual([{ durations: true, durations_of_slices: true, users: true }]);
    const before = await answers();
    expect(before[0]?.summary.total).toBe(40);
    const paid = records.filter(({ model, status }) => model === 'gpt-5' && status === 200);
    const exact = percentile(paid, 0.9);
    expect(Math.abs(before[4]?.summary.p90 - exact)).toBeLessThanOrEqual(exact * 0.011);

    const ranked: readonly Json[] = before.at(-1)?.data;
    const latencies = ranked.map(({ p95_latency }) => p95_latency);
    expect(latencies).toEqual(latencies.toSorted((one, other) => other - one));
    expect(latencies).toEqual(
      ranked.map(({ user }) =>
        inHistogram(
          percentile(
            records.filter((record) => userOf(record) === user),
            0.95,
          ),
        ),
      ),
    );

    await forget('extract(day FROM bucket)::int % 2 = 0');
    expect(await answers()).toEqual(before);
    await forget('true');
    expect(await answers()).toEqual(before);
  });
});

onPostgres('a chosen key of the metadata', () => {
  const tiers = async (): Promise<Json> => {
    const { data } = await ask('groups/metadata/tier', { query: { columns: 'requests,cost' } });
    // Feedback, which is beside them, is joined to request rows.
    return data.map(({ metadata_value, requests, cost }: Json) => ({ metadata_value, requests, cost }));
  };

  it('keeps the counts of days whose request rows retention has removed when rollups are rebuilt', async () => {
    await chooseMetadataKeys(app.dataSource, ['tier']);
    await rebuildRollups(app.dataSource);
    const before = await tiers();
    const retained = new Date(FIRST + 3 * DAY);
    const nobody = randomUUID();
    // As if they were gone: out of reach of the organization, and before the edge of retention.
    const removed = await app.dataSource.query<unknown[]>(
      'UPDATE request_logs SET organisation_id = $1 WHERE created_at < $2 AND organisation_id = $3 RETURNING id',
      [nobody, retained, app.first.organisation_id],
    );
    try {
      expect(removed.length).toBeGreaterThan(0);
      await app.dataSource.query("UPDATE rollup_seals SET before = $1 WHERE grain = 'row'", [retained]);

      expect((await rebuildRollups(app.dataSource)).keptBefore).toEqual(retained);
      expect(await tiers()).toEqual(before);
      // A second rebuild, after one that was killed before it could complete the keys.
      await countMetadataKeysFrom(app.dataSource, retained);
      await rebuildRollups(app.dataSource);
      expect(await tiers()).toEqual(before);
    } finally {
      await app.dataSource.query('UPDATE request_logs SET organisation_id = $1 WHERE organisation_id = $2', [
        app.first.organisation_id,
        nobody,
      ]);
      await app.dataSource.query("UPDATE rollup_seals SET before = '-infinity'");
      await chooseMetadataKeys(app.dataSource, []);
    }
  });

  it('is complete only from where a rebuild has counted it, never from where rows were gone', async () => {
    const since = async (): Promise<Json> =>
      app.dataSource.query(
        `SELECT complete_since = $1::timestamptz AS from_cut, complete_since > now() AS from_now
         FROM rollup_metadata_keys`,
        [retained],
      );
    const retained = new Date(FIRST + 3 * DAY);
    await chooseMetadataKeys(app.dataSource, ['tier']);
    try {
      await app.dataSource.query("UPDATE rollup_seals SET before = $1 WHERE grain = 'row'", [retained]);
      // A rebuild that was killed, before retention went on to the cut.
      await countMetadataKeysFrom(app.dataSource, new Date(FIRST + DAY));
      await rebuildRollups(app.dataSource);
      expect(await since()).toEqual([{ from_cut: true, from_now: false }]);
      await chooseMetadataKeys(app.dataSource, []);
      await chooseMetadataKeys(app.dataSource, ['tier']);
      await metadataKeysAreComplete(app.dataSource, retained);
      expect(await since(), 'a key that was chosen during the rebuild').toEqual([
        { from_cut: false, from_now: true },
      ]);
    } finally {
      await app.dataSource.query("UPDATE rollup_seals SET before = '-infinity'");
      await chooseMetadataKeys(app.dataSource, []);
    }
  });

  it('is read from the requests until they are counted again, and says the same afterwards', async () => {
    const before = await ask('groups/metadata/tier');
    await chooseMetadataKeys(app.dataSource, ['tier']);
    expect(await ask('groups/metadata/tier')).toEqual(before);
    await rebuildRollups(app.dataSource);
    await app.dataSource.query('ALTER TABLE request_logs RENAME COLUMN metadata TO hidden');
    await app.dataSource.query('ALTER TABLE request_logs ADD COLUMN metadata jsonb');
    const after = await ask('groups/metadata/tier', {
      query: { columns: 'requests,cost,avg_tokens,last_seen' },
    });
    expect(after.data.map((row: Json) => [row.metadata_value, row.requests, row.cost])).toEqual(
      before.data.map((row: Json) => [row.metadata_value, row.requests, row.cost]),
    );
  });
});
