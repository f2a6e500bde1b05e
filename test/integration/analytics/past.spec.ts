import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ensureLogPartitions } from '../../../src/request-log/store/partitions.js';
import { deriveRipe } from '../../../src/request-log/rollups/derive.js';
import { chooseMetadataKeys } from '../../../src/request-log/rollups/metadata-keys.js';
import { rebuildRollups } from '../../../src/request-log/rollups/rebuild.js';
import { clickHouseDays } from '../../../src/jobs/retention/cut-clickhouse-day.js';
import { daysOf } from '../../../src/jobs/retention/log-days.js';
import { Retention } from '../../../src/jobs/retention/retention.js';
import { AdminApp } from '../../support/admin-app.js';
import type { IntervalName } from '../../support/proof/calendar.js';
import type { Fact } from '../../support/proof/facts.js';
import { Figures } from '../../support/proof/figures.js';
import { aPair, byOneKey, NARROWINGS, narrowingOf } from '../../support/proof/narrowings.js';
import { aFact, byTheHour, newKeys, type Owner, pastDays, recordOf } from '../../support/proof/past.js';
import { GRAPHS_BY_HAND, GROUPS_BY_HAND } from '../../support/proof/recompute.js';
import { SeededRandom } from '../../support/random.js';
import { storeRecords } from '../../support/recorded-requests.js';
import { aggregatorOn, clickHouseUnderTest } from '../../support/usage-store.js';
import { eventually } from '../../support/waiting.js';

/**
 * Seven months of requests, around every change of the clocks. What the analytics say of them is what sums over a list say: as long as all
 * of it is there, when retention has taken request rows and minutes, and after the rollups were counted again. `PROOF_SEED=7` repeats a run.
 */
const SEED = SeededRandom.seedFrom('PROOF_SEED');
const REQUESTS = 1_200;
const PAIRS = 6;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const KEPT_DAYS = 30;
const NOW = Date.now();
const TODAY = Math.floor(NOW / DAY) * DAY;
const KEPT_FROM = TODAY - KEPT_DAYS * DAY;
const WHOLE_HOURS = ['Europe/Berlin', 'America/New_York', 'Pacific/Auckland'];
const ODD = ['Asia/Kolkata', 'Asia/Kathmandu', 'America/St_Johns', 'Australia/Lord_Howe', 'Pacific/Chatham'];
const DAYS = pastDays(TODAY, [...WHOLE_HOURS, ...ODD]);
const FROM = DAYS[0] ?? 0;
const TO = Math.ceil(NOW / MINUTE) * MINUTE;

const clickhouse = clickHouseUnderTest();
const random = new SeededRandom(SEED);
let keeping: AdminApp;
let dropping: AdminApp;
let facts: readonly Fact[];

beforeAll(async () => {
  console.log(`PROOF_SEED=${SEED}`);
  keeping = await AdminApp.start({ GATEHOUSE_MINUTE_RETENTION_DAYS: '0' }, clickhouse);
  const { dataSource, url } = keeping;
  dropping = await keeping.another(
    { retentionDays: { logs: KEPT_DAYS, bodies: KEPT_DAYS, minutes: KEPT_DAYS } },
    clickhouse,
  );
  await chooseMetadataKeys(dataSource, ['team']);
  // As where the key was chosen before the first request.
  await dataSource.query(
    "UPDATE rollup_metadata_keys SET counted_since = '-infinity', complete_since = '-infinity'",
  );
  for (const day of DAYS)
    await dataSource.transaction(async (manager) => {
      await ensureLogPartitions((sql) => manager.query(sql), 0, day);
    });
  const owner = await anOwner();
  facts = Array.from({ length: REQUESTS }, () => {
    const day = random.of(DAYS);
    return aFact(owner, day + random.whole(0, Math.min(DAY, NOW - day) - 1), random);
  });
  const records = facts.map((fact) => recordOf(fact, owner));
  for (const batch of await storeRecords(url, records))
    await aggregatorOn(dataSource, clickhouse).aggregate(batch);
  await deriveRipe(dataSource, 0);
});
afterAll(async () => {
  await dropping.close();
  await keeping.close();
});

async function anOwner(): Promise<Owner> {
  const { workspace_id: workspaceId, organisation_id: organizationId } = keeping.first;
  const [{ slug }] = await keeping.dataSource.query('SELECT slug FROM workspaces WHERE id = $1', [
    workspaceId,
  ]);
  const configs = new Map<string, string>();
  for (const name of ['One', 'Two']) {
    const body = { name, workspace_id: workspaceId, config: { provider: 'sandbox' } };
    const { data } = (await keeping.call('POST', '/v1/configs', { body })).body;
    configs.set(data.slug, data.id);
  }
  return { organizationId, workspaceId, slug, keys: newKeys(), configs };
}

const figuresOf = (app: AdminApp): Figures =>
  new Figures(async (path, query) => {
    const { status, body, text } = await app.call(
      'GET',
      `/v1/analytics/${path}?${new URLSearchParams(query).toString()}`,
    );
    expect(status, `${path} ${JSON.stringify(query)} ${text}`).toBe(200);
    return body;
  });

const ALL = { from: FROM, to: TO };
const GRAPH_NAMES = Object.keys(GRAPHS_BY_HAND);
/** Values of a key that is not counted ahead are known by the request rows alone. */
const OF_ROWS = 'metadata/_environment';
const GROUP_NAMES = Object.keys(GROUPS_BY_HAND).filter((path) => path !== OF_ROWS);

/** What rollups tell: every graph in days of a zone of whole hours, every group, and narrowed by what is counted ahead. */
async function expectTheWholePast(app: AdminApp): Promise<void> {
  const figures = figuresOf(app);
  for (const [index, path] of GRAPH_NAMES.entries()) {
    const zone = WHOLE_HOURS[index % WHOLE_HOURS.length] ?? 'UTC';
    const interval = index % 2 === 0 ? 'day' : 'month';
    expect(await figures.graph(path, facts, { ...ALL, interval, zone })).toEqual([]);
  }
  for (const path of GROUP_NAMES) expect(await figures.groups(path, facts, ALL, 40)).toEqual([]);
  expect(await figures.cacheSummary(facts, ALL)).toEqual([]);
  for (const name of COUNTED_AHEAD) {
    const { query, fits } = narrowingOf(name, facts, random);
    const fitting = facts.filter(fits);
    const question = { ...ALL, query, interval: 'week', zone: random.of(WHOLE_HOURS) } as const;
    expect(await figures.graph('latency', fitting, question), JSON.stringify(query)).toEqual([]);
  }
  const red = facts.filter(({ metadata }) => metadata?.['team'] === 'red');
  expect(
    await figures.graph('cost', red, { ...ALL, query: { 'metadata[team]': 'red' }, interval: 'day' }),
  ).toEqual([]);
}

const COUNTED_AHEAD = [
  'api_key_id',
  'virtual_key',
  'provider',
  'model',
  'ai_org_model',
  'endpoint',
  'config',
  'status_code',
  'is_success',
  'cache_status',
  'prompt_slug',
  'user',
];

/** What needs minutes and request rows. */
async function expectEverything(app: AdminApp, range: { from: number; to: number }): Promise<void> {
  const figures = figuresOf(app);
  for (const zone of ODD)
    for (const interval of ['day', 'month'] satisfies IntervalName[]) {
      const question = { from: range.from + random.whole(0, 300) * MINUTE, to: range.to, interval, zone };
      expect(await figures.graph(random.of(GRAPH_NAMES), facts, question), zone).toEqual([]);
    }
  const narrowings = [
    ...Object.keys(NARROWINGS).map((name) => narrowingOf(name, facts, random)),
    ...Array.from({ length: PAIRS }, () => aPair(facts, random)),
    byOneKey(facts, random),
  ];
  for (const { query, fits } of narrowings) {
    const [fitting, told] = [facts.filter(fits), JSON.stringify(query)];
    const question = {
      ...range,
      query,
      interval: 'week',
      zone: random.of([...ODD, ...WHOLE_HOURS]),
    } as const;
    expect(await figures.graph(random.of(GRAPH_NAMES), fitting, question), told).toEqual([]);
    expect(
      await figures.groups(random.of([...GROUP_NAMES, OF_ROWS]), fitting, { ...range, query }),
      told,
    ).toEqual([]);
  }
}

describe('while all of it is there', () => {
  it('the figures of the past are the sums over the list', () => expectTheWholePast(keeping));

  it('so they are in odd time zones, for every filter, and for pairs of them', () =>
    expectEverything(keeping, ALL));
});

describe('when retention has taken request rows and minutes', () => {
  beforeAll(async () => {
    const retention = new Retention(dropping.dataSource, dropping.settings, clickhouse);
    retention.onApplicationBootstrap();
    const isOver = ({ to }: { readonly to: Date }): boolean => to.getTime() <= KEPT_FROM;
    await eventually(
      async () =>
        !(await daysOf(dropping.dataSource, 'logs')).some(isOver) &&
        !(clickhouse && (await clickHouseDays(clickhouse, 'logs', NOW)).some(isOver)),
      { what: 'retention to have removed the old days' },
    );
    await retention.beforeApplicationShutdown();
  });

  const itSays = () => {
    it('the figures of the past stay unchanged', () => expectTheWholePast(dropping));

    it('all covers the whole retention time', () => expectEverything(dropping, { from: KEPT_FROM, to: TO }));

    it('a range that cuts an hour is widened to it, and the response reports it', async () => {
      const figures = figuresOf(dropping);
      const old = facts.filter(({ at }) => at < KEPT_FROM - 2 * DAY);
      for (let times = 0; times < 10; times++) {
        const from = Math.floor(random.of(old).at / HOUR) * HOUR + random.whole(1, 50) * MINUTE;
        const question = { from, to: from + random.whole(1, 9) * MINUTE, interval: 'minute' } as const;
        const hour = Math.floor(from / HOUR) * HOUR;
        const counted = { from: hour, to: hour + HOUR, isExact: false };
        expect(
          await figures.graph('requests', byTheHour(facts, KEPT_FROM), { ...question, counted }),
        ).toEqual([]);
      }
    });

    it('an overview compares two periods that have no request in common', async () => {
      const old = facts.filter(({ at }) => at < KEPT_FROM - 2 * DAY);
      for (let question = 0; question < PAIRS; question++) {
        const from = Math.floor(random.of(old).at / HOUR) * HOUR + random.whole(1, 20) * MINUTE;
        const range = {
          time_of_generation_min: new Date(from).toISOString(),
          time_of_generation_max: new Date(from + random.whole(1, 90) * MINUTE).toISOString(),
        };
        const { body } = await dropping.call(
          'GET',
          `/v1/analytics/overview?${new URLSearchParams(range).toString()}`,
        );
        expect(body.range.is_exact).toBe(false);
        expect(body.previous_range.to).toBe(body.range.from);
        expect(Date.parse(body.previous_range.from)).toBeLessThan(Date.parse(body.previous_range.to));
        const { from: start, to: end } = body.previous_range;
        const between = byTheHour(facts, KEPT_FROM).filter(
          ({ at }) => at >= Date.parse(start) && at < Date.parse(end),
        );
        expect(body.previous_summary.requests).toBe(between.length);
      }
    });

    it.each(ODD)(
      'in days of %s an hour counts to the day in which it begins, and the response reports it',
      async (timeZone) => {
        const question = {
          ...ALL,
          interval: 'day',
          zone: timeZone,
          counted: { ...ALL, isExact: false },
        } as const;
        for (const path of ['cost', 'users'])
          expect(await figuresOf(dropping).graph(path, byTheHour(facts, KEPT_FROM), question)).toEqual([]);
      },
    );

    it('what only deleted request rows could show is not called exact', async () => {
      const { body } = await dropping.call(
        'GET',
        `/v1/analytics/groups/${OF_ROWS}?time_of_generation_min=${new Date(FROM).toISOString()}`,
      );
      expect(body.range.is_exact).toBe(false);
    });
  };

  describe('and nothing else happened,', itSays);

  describe('and the rollups were counted again,', () => {
    beforeAll(async () => {
      await rebuildRollups(dropping.dataSource);
    });
    itSays();
  });
});
