import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FEEDBACK_GRAPHS } from '../../../src/admin/analytics/feedback-graphs.js';
import { GRAPHS } from '../../../src/admin/analytics/graphs.js';
import { GROUPINGS } from '../../../src/admin/analytics/groups.js';
import { LOG_FILTERS } from '../../../src/request-log/reading/log-filters.js';
import { jsonOf } from '../../support/http-client.js';
import { type IntervalName } from '../../support/proof/calendar.js';
import { exported, exportedByHand, inCells } from '../../support/proof/exported.js';
import { feedbackByHand, sortedBy } from '../../support/proof/feedback.js';
import { type Fact, tokensOf } from '../../support/proof/facts.js';
import { differences, Figures } from '../../support/proof/figures.js';
import {
  aPair,
  byOneKey,
  type Narrowing,
  NARROWINGS,
  narrowingOf,
  TIMES,
} from '../../support/proof/narrowings.js';
import { GRAPHS_BY_HAND, GROUPS_BY_HAND } from '../../support/proof/recompute.js';
import { ScriptedProvider } from '../../support/proof/scripted-provider.js';
import type { Tenant } from '../../support/proof/tenant.js';
import { sendTraffic, type Traffic } from '../../support/proof/traffic.js';
import { SeededRandom } from '../../support/random.js';
import { RequestLogs } from '../../support/request-logs.js';
import { theService } from '../../support/world.js';

/**
 * Correctness by a second way: requests of known usage (retries, fallbacks, streams, hang-ups, cached answers, refusals; two workspaces) go
 * through the gateway, calls made elsewhere are told to it, and whatever it answers must be what a plain sum over the provider's own book
 * and the documents that were sent says.
 *
 * `PROOF_SEED=7` repeats a run. `PROOF_REQUESTS=50000 npx vitest run --project e2e test/e2e/proof/analytics` is the long one.
 */
const REQUESTS = Number(process.env['PROOF_REQUESTS'] ?? 2_000);
const SEED = SeededRandom.seedFrom('PROOF_SEED');
const PAIRS = 25;
const HOUR = 3_600_000;

const service = theService();
let provider: ScriptedProvider;
let traffic: Traffic;

beforeAll(
  async () => {
    console.log(`PROOF_SEED=${SEED}`);
    provider = await ScriptedProvider.start(service.facts.egressPorts);
    traffic = await sendTraffic(service, provider, { requests: REQUESTS, logs: 400, spans: 600 }, SEED);
  },
  120_000 + REQUESTS * 20,
);
afterAll(async () => {
  await provider.upstream.stop();
});

const of = ({ slug }: Tenant): Fact[] => traffic.facts.filter(({ workspace }) => workspace === slug);

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
  const parameters = new URLSearchParams({ ...query, ...more });
  const answer = await service.client.call({
    path: `/v1/analytics/${path}?${parameters.toString()}`,
    headers: { 'x-gateway-api-key': key },
  });
  expect(answer.status, `${path} ${answer.body.toString()}`).toBe(200);
  return jsonOf(answer);
}
const figures = (asker: Asker): Figures => new Figures((path, query) => ask(path, asker, query));
const range = () => ({ from: traffic.from, to: traffic.to });

describe('the log and the provider’s book', () => {
  it('agree on every request: none lost, none doubled, none made up', () => {
    const { facts, known, rows } = traffic;
    const asked = new Set(known.map(({ exchange }) => exchange));
    expect(
      facts.filter(({ id }) => id === ''),
      'never answered',
    ).toEqual([]);
    expect([...rows.keys()].sort()).toEqual(facts.map(({ id }) => id).sort());
    expect(provider.book.filter(({ exchange }) => !asked.has(exchange))).toEqual([]);
  });

  it('agree on status, tokens, money and metadata of each', () => {
    const found = traffic.facts.flatMap((fact) => {
      const row = traffic.rows.get(fact.id);
      return differences(
        fact.trace,
        row && [row.status, row.input_tokens, row.output_tokens, row.cost_nano_usd, row.metadata, row.source],
        [fact.status, fact.input, fact.output, fact.cost, fact.metadata, fact.source || null],
      );
    });
    expect(found).toEqual([]);
  });

  it('agree on the tries of each', () => {
    const odd = traffic.known.filter(({ id, calls }) => traffic.rows.get(id)?.attempt_count !== calls.length);
    expect(odd).toEqual([]);
  });

  it('agree on the times: a request arrived after it was sent, and lasted as long as its calls', () => {
    const odd = traffic.known.filter(({ id, at, sentAt, endedAt, calls }) => {
      const row = traffic.rows.get(id);
      const lasted = (calls.at(-1)?.endedAt ?? 0) - (calls[0]?.startedAt ?? 0);
      // The provider hears later than the gateway that a client has left.
      const isShort = row?.ending !== 'client_aborted' && (row?.duration_ms ?? 0) + 2 < lasted;
      return at < sentAt - 1 || at > endedAt + 1 || isShort;
    });
    expect(odd).toEqual([]);
  });

  it('hold every kind of request', () => {
    const { facts } = traffic;
    const kinds = {
      retried: facts.filter(({ retries }) => retries > 0),
      rescued: facts.filter(({ fallbacks, status }) => fallbacks > 0 && status === 200),
      hits: facts.filter(({ cacheStatus }) => cacheStatus === 'HIT'),
      left: facts.filter(({ ending }) => ending === 'client_aborted'),
      failed: facts.filter(({ status }) => status >= 500),
      refused: facts.filter(({ ending }) => ending === 'refused'),
      'custom logs': facts.filter(({ source }) => source === 'api'),
      spans: facts.filter(({ source }) => source === 'otlp'),
    };
    for (const [name, all] of Object.entries(kinds)) expect(all.length, name).toBeGreaterThan(REQUESTS / 200);
  });
});

/** The same questions asked of each source of the answers: what is counted by one dimension, by all of them, and the request rows. */
const ENDINGS = 'completed,refused,client_aborted,upstream_failed,upstream_truncated,gateway_crashed';
const NARROWED: readonly (readonly [name: string, narrowing: Narrowing])[] = [
  ['everything', { query: {}, fits: () => true }],
  ['one model', { query: { ai_model: 'gpt-4o-mini' }, fits: ({ model }) => model === 'gpt-4o-mini' }],
  [
    'one model with one status, out of the cube',
    {
      query: { ai_model: 'gpt-4o-mini', status_code: '200' },
      fits: ({ model, status }) => model === 'gpt-4o-mini' && status === 200,
    },
  ],
  ['everything, out of the request rows', { query: { ending: ENDINGS }, fits: () => true }],
];
const [EVERYTHING] = NARROWED;
const ASKERS = [
  ['a key of the second workspace', 1, memberOf],
  ['the admin key', 0, adminOf],
] as const;

/** Sources differ in what is asked and not in who asks. */
const QUESTIONS = [
  ...NARROWED.map((narrowed) => [...narrowed, 'a key of the first workspace', 0, memberOf] as const),
  ...ASKERS.flatMap((asker) => (EVERYTHING ? [[...EVERYTHING, ...asker] as const] : [])),
].map(([what, narrowing, who, which, askerOf]) => ({ what, narrowing, who, which, askerOf }));

describe.each(QUESTIONS)('$who, for $what:', ({ narrowing, which, askerOf }) => {
  const begin = () => {
    const tenant = traffic.tenants[which];
    const facts = of(tenant).filter(narrowing.fits);
    return { figures: figures(askerOf(tenant)), facts, question: { ...range(), query: narrowing.query } };
  };

  it.each(Object.keys(GRAPHS_BY_HAND))('the graph %s is the sum over the book', async (path) => {
    const { figures: asked, facts, question } = begin();
    expect(await asked.graph(path, facts, { ...question, interval: 'minute' })).toEqual([]);
  });

  it('the summary of the cache is the sum over the book', async () => {
    const { figures: asked, facts, question } = begin();
    expect(await asked.cacheSummary(facts, question)).toEqual([]);
  });

  it.each(Object.keys(GROUPS_BY_HAND))('the groups by %s are the sums over the book', async (path) => {
    const { figures: asked, facts, question } = begin();
    // Those by user have the most pages.
    const pageSize = path === 'users' ? 7 + (SEED % 20) : 100;
    expect(await asked.groups(path, facts, question, pageSize)).toEqual([]);
  });
});

const GRAPH_NAMES = Object.keys(GRAPHS_BY_HAND);
const GROUP_NAMES = Object.keys(GROUPS_BY_HAND);

/** A graph, groups and the list of requests, drawn for each question. */
async function expectNarrowed(narrowing: Narrowing, random: SeededRandom): Promise<void> {
  const [tenant] = traffic.tenants;
  const facts = of(tenant).filter(narrowing.fits);
  const asked = figures(memberOf(tenant));
  const question = { ...range(), query: narrowing.query };
  const told = JSON.stringify(narrowing.query);
  expect(await asked.graph(random.of(GRAPH_NAMES), facts, question), told).toEqual([]);
  expect(await asked.groups(random.of(GROUP_NAMES), facts, question), told).toEqual([]);
  if (Object.keys(narrowing.query).some((name) => name.startsWith('metadata['))) return;
  const rows = await new RequestLogs(service, tenant.keys[0]?.key).all({
    workspace_id: tenant.id,
    ...narrowing.query,
  });
  expect(rows.map(({ id }) => id).sort(), told).toEqual(facts.map(({ id }) => id).sort());
}

describe('narrowed by values that are drawn from what was sent, analytics and the list of requests say the same:', () => {
  it.each(Object.keys(NARROWINGS))('by %s', async (name) => {
    const random = new SeededRandom(SEED + name.length);
    await expectNarrowed(narrowingOf(name, of(traffic.tenants[0]), random), random);
  });

  it('by a key of the metadata, an empty value among them', async () => {
    const random = new SeededRandom(SEED);
    for (let times = 0; times < 5; times++)
      await expectNarrowed(byOneKey(of(traffic.tenants[0]), random), random);
    const empty = ({ metadata }: Fact): boolean => metadata?.['team'] === '';
    await expectNarrowed({ query: { 'metadata[team]': '' }, fits: empty }, random);
  });

  it(`by ${PAIRS} pairs of filters`, async () => {
    const random = new SeededRandom(SEED);
    for (let pair = 0; pair < PAIRS; pair++)
      await expectNarrowed(aPair(of(traffic.tenants[0]), random), random);
  });
});

describe('in the days, weeks and months of a time zone', () => {
  const ZONES = [
    'Asia/Kolkata',
    'Asia/Kathmandu',
    'America/St_Johns',
    'Australia/Lord_Howe',
    'Pacific/Chatham',
    'Europe/Berlin',
  ];

  it.each(ZONES)('of %s the points are the sums over the book', async (zone) => {
    const random = new SeededRandom(SEED);
    const [tenant] = traffic.tenants;
    const asked = figures(memberOf(tenant));
    const { from, to } = range();
    for (const interval of ['hour', 'day', 'week', 'month'] satisfies IntervalName[]) {
      const question = { from: from + random.whole(0, 300) * 60_000, to, zone, interval };
      expect(await asked.graph(random.of(GRAPH_NAMES), of(tenant), question), interval).toEqual([]);
    }
  });
});

describe('feedback', () => {
  it('of one workspace is in all four graphs as it was given, and in those of the other there is none', async () => {
    const { feedback, facts, tenants, to } = traffic;
    const time = {
      time_of_generation_min: new Date(to - HOUR).toISOString(),
      time_of_generation_max: new Date(to).toISOString(),
    };
    const [one, other] = [memberOf(tenants[0]), memberOf(tenants[1])];
    for (const [path, expected] of Object.entries(feedbackByHand(feedback, facts))) {
      const { summary, data_points } = await ask(`graphs/${path}`, one, time);
      expect(differences(path, summary, expected.summary)).toEqual([]);
      if (expected.points)
        expect(differences(path, sortedBy(data_points, 'ai_model'), expected.points)).toEqual([]);
    }
    const perMinute = await ask('graphs/feedbacks', one, { ...time, interval: 'minute' });
    const points = perMinute.data_points.map((point: { total: number }) => point.total);
    expect(points.reduce((sum: number, each: number) => sum + each, 0)).toBe(feedback.length);
    expect((await ask('graphs/feedbacks', other, time)).summary).toEqual({ total: 0 });
  });
});

describe('an export', () => {
  it.each(['jsonl', 'csv'] as const)('in %s has every request, field by field', async (format) => {
    const [tenant] = traffic.tenants;
    const facts = of(tenant);
    const byId = new Map(facts.map((fact) => [fact.id, exportedByHand(fact)]));
    const rows = await exported(service, tenant.keys[0]?.key ?? '', format, { workspace_slug: tenant.slug });
    const told = rows.flatMap((row) => {
      const expected = byId.get(String(row['id'])) ?? {};
      return differences(String(row['id']), row, format === 'csv' ? inCells(expected) : expected);
    });
    expect(told.slice(0, 10)).toEqual([]);
    expect(rows).toHaveLength(facts.length);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(facts.length);
    const moments = rows.map((row) => String(row['created_at']));
    expect(moments).toEqual([...moments].sort());
  });
});

describe('what is proven', () => {
  it('is every operation that the analytics have, and every filter', () => {
    expect(Object.keys(GRAPHS_BY_HAND).sort()).toEqual(GRAPHS.map(({ paths }) => paths[0]).sort());
    expect(FEEDBACK_GRAPHS).toHaveLength(4);
    expect(GROUP_NAMES.filter((path) => !path.startsWith('metadata/')).sort()).toEqual(
      Object.keys(GROUPINGS).sort(),
    );
    expect([...Object.keys(NARROWINGS), ...TIMES].sort()).toEqual(Object.keys(LOG_FILTERS).sort());
    expect(traffic.facts.reduce((sum, fact) => sum + tokensOf(fact), 0)).toBeGreaterThan(REQUESTS * 100);
  });
});
