import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FEEDBACK_GRAPHS } from '../../../src/admin/analytics/feedback-graphs.js';
import { GRAPHS } from '../../../src/admin/analytics/graphs.js';
import { GROUPINGS } from '../../../src/admin/analytics/groups.js';
import { jsonOf } from '../../support/http-client.js';
import {
  aTenant,
  type Known,
  KnownRequests,
  numbers,
  type Tenant,
} from '../../support/proof/known-requests.js';
import {
  cacheSummaryByHand,
  COLUMNS_BY_HAND,
  GRAPHS_BY_HAND,
  groupBy,
  GROUPS_BY_HAND,
  type Timed,
} from '../../support/proof/recompute.js';
import { ScriptedProvider } from '../../support/proof/scripted-provider.js';
import { type LogRow, RequestLogs } from '../../support/request-logs.js';
import { eventually } from '../../support/waiting.js';
import { theService } from '../../support/world.js';

/**
 * Correctness by a second way: requests of known usage (retries, fallbacks, streams, hang-ups, cached answers, refusals; two
 * workspaces) go through the gateway, and every operation of the analytics must say what a plain sum over the provider's own book says.
 *
 * `PROOF_REQUESTS=50000 npx vitest run --project e2e test/e2e/proof/analytics` is the long run.
 */
const COUNT = Number(process.env['PROOF_REQUESTS'] ?? 700);
const MINUTE = 60_000;
const SETTLE_MS = 30_000 + COUNT * 4;
const SCORES = 21;
/** Percentiles are read from buckets; half a millisecond is what rounding to whole ones costs. */
const PERCENTILE_ERROR = 0.008;
const PERCENTILES = /^p\d\d/;

const service = theService();
let provider: ScriptedProvider;
let tenants: readonly [Tenant, Tenant];
let known: Timed[];
type StoredRow = LogRow & { readonly attempt_count: number; readonly duration_ms: number };
let rows: Map<string, StoredRow>;
let feedback: { readonly trace: string; readonly value: number; readonly weight: number }[];
let from: number;
let to: number;

beforeAll(
  async () => {
    provider = await ScriptedProvider.start(service.facts.egressPorts);
    const name = `proof-${Date.now().toString(36)}`;
    tenants = [
      await aTenant(service, provider, `${name}-one`),
      await aTenant(service, provider, `${name}-two`),
    ];
    from = Math.floor(Date.now() / MINUTE) * MINUTE;
    const requests = new KnownRequests(service, provider, tenants);
    const began = Date.now();
    await requests.send(COUNT);
    console.log(
      `${COUNT} requests in ${Date.now() - began} ms, ${provider.book.length} calls of the provider`,
    );
    const all = requests.known();
    to = Math.ceil(Date.now() / MINUTE) * MINUTE;
    const counted = async (tenant: Tenant): Promise<boolean> =>
      (await ask('graphs/requests', adminOf(tenant))).summary.total ===
      all.filter((one) => one.tenant === tenant).length;
    await eventually(async () => (await counted(tenants[0])) && (await counted(tenants[1])), {
      withinMs: SETTLE_MS,
      everyMs: 200,
      what: 'the rollups to have counted everything',
    });
    console.log(`all of it was counted ${Date.now() - began} ms after the first request`);
    rows = await storedRows();
    known = all.map((one) => ({ ...one, durationMs: rows.get(one.id)?.duration_ms ?? Number.NaN }));
    feedback = await giveFeedback(tenants[0]);
    to = Math.ceil(Date.now() / MINUTE) * MINUTE;
  },
  120_000 + COUNT * 20,
);
afterAll(async () => {
  await provider.upstream.stop();
});

async function storedRows(): Promise<Map<string, StoredRow>> {
  const found = new Map<string, StoredRow>();
  for (const { id } of tenants)
    for (const row of await new RequestLogs(service).all({ workspace_id: id }))
      found.set(row.id, row as StoredRow);
  return found;
}

/** On every fifth request of a workspace, with a key of it. */
async function giveFeedback(tenant: Tenant): Promise<typeof feedback> {
  const next = numbers(7);
  const given = of(tenant)
    .filter((_, index) => index % 5 === 0)
    .slice(0, 100)
    .map(({ exchange }) => ({ trace: exchange, value: next(SCORES) - 10, weight: next(5) / 4 }));
  const answer = await service.client.call({
    method: 'POST',
    path: '/v1/feedback',
    headers: { 'x-gateway-api-key': tenant.keys[0]?.key ?? '' },
    body: given.map(({ trace, ...more }) => ({ trace_id: trace, ...more })),
  });
  expect(answer.status, answer.body.toString()).toBeLessThan(300);
  return given;
}

const of = (tenant: Tenant): Timed[] => known.filter((one) => one.tenant === tenant);

interface Asker {
  readonly key: string;
  readonly query: Readonly<Record<string, string>>;
}
const adminOf = (tenant: Tenant): Asker => ({
  key: service.bootstrap.admin_api_key,
  query: { workspace_slug: tenant.slug },
});
const memberOf = (tenant: Tenant): Asker => ({ key: tenant.keys[0]?.key ?? '', query: {} });

async function ask(path: string, { key, query }: Asker, more: Readonly<Record<string, string>> = {}) {
  const parameters = new URLSearchParams({
    time_of_generation_min: new Date(from).toISOString(),
    time_of_generation_max: new Date(to).toISOString(),
    ...query,
    ...more,
  });
  const answer = await service.client.call({
    path: `/v1/analytics/${path}?${parameters.toString()}`,
    headers: { 'x-gateway-api-key': key },
  });
  expect(answer.status, `${path} ${answer.body.toString()}`).toBe(200);
  return jsonOf(answer);
}

/** The same questions asked of each source of the answers: what is counted by one dimension, by all of them, and the request rows. */
const ENDINGS = 'completed,refused,client_aborted,upstream_failed,upstream_truncated,gateway_crashed';
const NARROWED: readonly (readonly [
  name: string,
  query: Record<string, string>,
  fits: (one: Known) => boolean,
])[] = [
  ['everything', {}, () => true],
  ['of one model', { ai_model: 'gpt-4o-mini' }, ({ model }) => model === 'gpt-4o-mini'],
  [
    'of one model with one status, out of the cube',
    { ai_model: 'gpt-4o-mini', status_code: '200' },
    ({ model, status }) => model === 'gpt-4o-mini' && status === 200,
  ],
  ['everything, out of the request rows', { ending: ENDINGS }, () => true],
];
const ASKERS = [
  ['a key of the first workspace', 0, memberOf],
  ['a key of the second workspace', 1, memberOf],
  ['the admin key', 0, adminOf],
] as const;

/** Numbers as near as the way to them is exact. */
function near(fields: unknown): unknown {
  if (typeof fields === 'number') return expect.closeTo(fields, 6);
  if (Array.isArray(fields)) return fields.map(near);
  if (typeof fields !== 'object' || fields === null) return fields;
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      PERCENTILES.test(name) ? expect.any(Number) : near(value),
    ]),
  );
}

function expectNear(
  path: string,
  answered: Record<string, unknown>,
  expected: Readonly<Record<string, unknown>>,
): void {
  expect(answered, path).toEqual(near(expected));
  for (const [name, value] of Object.entries(expected))
    if (PERCENTILES.test(name) && typeof value === 'number')
      expect(Math.abs(Number(answered[name]) - value), `${path} ${name}`).toBeLessThanOrEqual(
        value * PERCENTILE_ERROR + 0.5,
      );
}

describe('the log and the provider’s book', () => {
  it('agree on every request: none lost, none doubled, none made up', () => {
    const asked = new Set(known.map(({ exchange }) => exchange));
    expect(known.filter(({ id }) => id === '').length, 'never answered').toBe(0);
    expect([...rows.keys()].sort()).toEqual(known.map(({ id }) => id).sort());
    expect(provider.book.filter(({ exchange }) => !asked.has(exchange))).toEqual([]);
  });

  it('agree on status, tries, tokens and money of each', () => {
    const logged = known.map(({ id }) => {
      const row = rows.get(id);
      return [
        id,
        row?.status,
        row?.attempt_count,
        (row?.input_tokens ?? 0) + (row?.output_tokens ?? 0),
        row?.cost_nano_usd,
      ];
    });
    expect(logged).toEqual(known.map((one) => [one.id, one.status, one.calls.length, one.tokens, one.cost]));
  });

  it('agree on the times: a request arrived after it was sent, and lasted as long as its calls', () => {
    const odd = known.filter(
      ({ id, at, sentAt, endedAt, calls, durationMs }) =>
        at < sentAt - 1 ||
        at > endedAt + 1 ||
        // The provider hears later than the gateway that a client has left.
        (rows.get(id)?.ending !== 'client_aborted' &&
          durationMs + 2 < (calls.at(-1)?.endedAt ?? 0) - (calls[0]?.startedAt ?? 0)),
    );
    expect(odd).toEqual([]);
  });

  it('hold every kind of request', () => {
    const kinds = {
      retried: known.filter(({ retries }) => retries > 0),
      rescued: known.filter(({ fallbacks, status }) => fallbacks > 0 && status === 200),
      hits: known.filter(({ cacheStatus }) => cacheStatus === 'HIT'),
      left: known.filter(({ id }) => rows.get(id)?.ending === 'client_aborted'),
      failed: known.filter(({ status }) => status >= 500),
      refused: known.filter(({ id }) => rows.get(id)?.ending === 'refused'),
    };
    console.log(
      Object.entries(kinds)
        .map(([name, all]) => `${name} ${all.length}`)
        .join(', '),
    );
    for (const [name, all] of Object.entries(kinds)) expect(all.length, name).toBeGreaterThan(COUNT / 200);
  });
});

/** Sources differ in what is asked and not in who asks. */
const QUESTIONS = [
  ...NARROWED.map((narrowed) => [...narrowed, ...ASKERS[0]] as const),
  ...ASKERS.slice(1).flatMap((asker) =>
    NARROWED.slice(0, 1).map((narrowed) => [...narrowed, ...asker] as const),
  ),
].map(([what, query, fits, who, which, askerOf]) => ({ what, query, fits, who, which, askerOf }));

describe.each(QUESTIONS)('$who, asked for $what:', ({ query, fits, which, askerOf }) => {
  it.each(Object.keys(GRAPHS_BY_HAND))('the graph %s is the sum over the book', async (path) => {
    const all = of(tenants[which]).filter(fits);
    const byHand = GRAPHS_BY_HAND[path];
    const answer = await ask(`graphs/${path}`, askerOf(tenants[which]), { ...query, interval: 'minute' });
    expectNear(path, answer.summary, byHand?.summary(all) ?? {});
    if (byHand?.entries) return expect(answer.data_points).toEqual(byHand.entries(all));
    expect(answer.data_points).toHaveLength((to - from) / MINUTE);
    for (const [index, { timestamp, ...point }] of answer.data_points.entries()) {
      const at = from + index * MINUTE;
      expect(timestamp).toBe(new Date(at).toISOString());
      const slot = all.filter((one) => one.at >= at && one.at < at + MINUTE);
      expectNear(
        path,
        point,
        byHand?.point?.(
          slot,
          all.filter((one) => one.at < at),
        ) ?? {},
      );
    }
  });

  it('the summary of the cache is the sum over the book', async () => {
    const all = of(tenants[which]).filter(fits);
    const { summary } = await ask('summary/cache', askerOf(tenants[which]), query);
    expectNear('summary/cache', summary, cacheSummaryByHand(all));
  });

  it.each(Object.keys(GROUPS_BY_HAND))('the groups by %s are the sums over the book', async (path) => {
    const [field, valueOf] = GROUPS_BY_HAND[path] ?? ['', () => ''];
    const expected = groupBy(of(tenants[which]).filter(fits), valueOf);
    const { data, total } = await ask(`groups/${path}`, askerOf(tenants[which]), {
      ...query,
      columns: Object.keys(COLUMNS_BY_HAND).join(','),
      page_size: '100',
    });
    expect(total).toBe(expected.size);
    const answered = new Map<string, Record<string, unknown>>(
      data.map((row: Record<string, unknown>) => [String(row[field]), row]),
    );
    expect([...answered.keys()].sort()).toEqual([...expected.keys()].sort());
    for (const [value, group] of expected) {
      const row = answered.get(value) ?? {};
      const numbersOf = Object.fromEntries(
        Object.keys(COLUMNS_BY_HAND).map((name) => [
          name,
          name.endsWith('_seen') ? row[name] : Number(row[name]),
        ]),
      );
      const byHand = Object.fromEntries(
        Object.entries(COLUMNS_BY_HAND).map(([name, column]) => [name, column(group)]),
      );
      expectNear(`${path} ${value}`, numbersOf, byHand);
    }
  });
});

describe('feedback', () => {
  it('of one workspace is in all four graphs as it was given, and in those of the other there is none', async () => {
    const asker = memberOf(tenants[0]);
    const weighted = (all: typeof feedback): number =>
      all.length === 0 ? 0 : all.reduce((sum, { value, weight }) => sum + value * weight, 0) / all.length;
    const total = { total: feedback.length };
    const perMinute = await ask('graphs/feedbacks', asker, { interval: 'minute' });
    expect(perMinute.summary).toEqual(total);
    expect(
      perMinute.data_points.reduce((sum: number, point: { total: number }) => sum + point.total, 0),
    ).toBe(feedback.length);
    expect(await ask('graphs/feedbacks/scores', asker)).toMatchObject({
      summary: total,
      data_points: Array.from({ length: SCORES }, (_, index) => ({
        score: index - 10,
        total: feedback.filter(({ value }) => value === index - 10).length,
      })),
    });
    expect((await ask('graphs/feedbacks/weighted', asker)).summary).toEqual({
      avg: expect.closeTo(weighted(feedback), 6),
    });
    const models = new Map(known.map(({ exchange, model }) => [exchange, model]));
    const { data_points } = await ask('graphs/feedbacks/ai-models', asker);
    const byModel = groupBy(feedback, ({ trace }) => models.get(trace) ?? '');
    expect(new Map(data_points.map((point: { ai_model: string }) => [point.ai_model, point]))).toEqual(
      new Map(
        [...byModel].map(([ai_model, all]) => [
          ai_model,
          { ai_model, total: all.length, avg_weighted_feedback: expect.closeTo(weighted(all), 6) },
        ]),
      ),
    );
    expect((await ask('graphs/feedbacks', memberOf(tenants[1]))).summary).toEqual({ total: 0 });
  });
});

describe('what is proven', () => {
  it('is every operation that the analytics have', () => {
    expect(Object.keys(GRAPHS_BY_HAND).sort()).toEqual(GRAPHS.map(({ paths }) => paths[0]).sort());
    expect(FEEDBACK_GRAPHS).toHaveLength(4);
    expect(
      Object.keys(GROUPS_BY_HAND)
        .filter((path) => !path.startsWith('metadata/'))
        .sort(),
    ).toEqual(Object.keys(GROUPINGS).sort());
  });
});
