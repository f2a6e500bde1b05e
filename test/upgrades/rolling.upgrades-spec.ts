import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { disagreements, readRows } from '../several-machines/bookkeeping.js';
import { RememberingProvider } from '../several-machines/remembering-provider.js';
import { type ClientView, type Group, Traffic } from '../several-machines/traffic.js';
import { Administration } from '../support/administration.js';
import { Balancer } from '../support/balancer.js';
import { gatehouseBin } from '../support/built-service.js';
import { HttpClient } from '../support/http-client.js';
import { portRange } from '../support/ports.js';
import { Started } from '../support/started.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { eventually, inParallel, sleep } from '../support/waiting.js';
import { expectChangesToReach, expectSessionsToBeShared, untilAdministered } from './both-releases.js';
import { Fleet, type Place } from './fleet.js';
import { buildOf, RELEASES } from './releases.js';

/**
 * A rolling upgrade of each release to this one, under load: two API instances behind a load balancer and a worker, on one PostgreSQL and
 * one Redis. The load balancer sends a request once, to an instance whose readiness is good, and tries none again.
 *
 * `UPGRADES_REST_MS=20000 npm run test:upgrades` stays longer in each state.
 */
const REST_MS = Number(process.env['UPGRADES_REST_MS'] ?? 6_000);
/** For each of three keys: some 130 requests a second. */
const EVERY_MS = 20;
/** Longer than an instance waits until it stops accepting, so that streams are in progress when it does. */
const STREAM_MS = 2_500;
const SETTLE_MS = 120_000;
/** Reached in the second half of the upgrade, where the machine is idle. */
const CAP_NANO = 40_000_000;
const NEWEST = gatehouseBin();

const perSecond = (views: readonly ClientView[]): number => {
  const times = views.map(({ sentAt }) => sentAt);
  return (views.length * 1_000) / (Math.max(...times) - Math.min(...times));
};

const isServed = ({ group, status, code }: ClientView): boolean =>
  status === 200 || (group === 'capped' && status === 402 && code === 'budget_exceeded');

describe.each(RELEASES)('from $version to this release', (release) => {
  const started = new Started();
  let fleet: Fleet | null;
  let previous: string;
  let provider: RememberingProvider;
  let traffic: Traffic;
  let virtualKey: string;
  let groups: readonly Group[];
  let apis: readonly [Place, Place];
  let worker: Place;

  const running = (): Fleet => fleet as Fleet;

  beforeAll(async () => {
    previous = await buildOf(release);
    const ports = await portRange(2);
    fleet = await Fleet.create(started, ports);
    if (!fleet) return;
    provider = started.add(await RememberingProvider.start(ports, STREAM_MS), (it) => it.stop());
    apis = [await fleet.place('api-1', 'api'), await fleet.place('api-2', 'api')];
    worker = await fleet.place('worker', 'worker');
    for (const place of [...apis, worker]) await fleet.start(place, previous);

    const administration = new Administration(fleet.service(apis[0]));
    virtualKey = await administration.createVirtualKey({
      name: 'remembering',
      secret: 'sk-remembering',
      customHost: `${provider.url}/v1`,
    });
    const limits = {
      plain: {},
      budgeted: { usage_limits: { credit_limit: 100 } },
      capped: { usage_limits: { credit_limit: CAP_NANO / 1e9 } },
    };
    groups = await inParallel(Object.entries(limits), 1, async ([name, limit]) => ({
      name,
      ...(await administration.createKey(name, ['completions.write'], limit)),
    }));
    const balancer = started.add(await Balancer.start(apis.map(({ port }) => port)), (it) => it.stop());
    await eventually(() => balancer.readyBackends === apis.length, {
      what: 'the instances behind the load balancer',
    });
    const client = new HttpClient(balancer.url);
    started.add(client, (it) => it.close());
    traffic = new Traffic([{ name: 'balancer', isUp: true, service: { client } }], virtualKey);
  }, 600_000);
  afterAll(() => started.end());

  it(
    'fails no request while one instance after the other is replaced',
    { timeout: 600_000 },
    async ({ skip }) => {
      if (!fleet) return skip('There is no redis-server on this machine.');
      let isOver = false;
      const load = traffic.run(groups, EVERY_MS, () => isOver);
      const rest = async (state: string): Promise<void> => {
        await sleep(REST_MS);
        console.log(`${traffic.views.length} requests: ${state}`);
      };
      try {
        await rest(`all of ${release.version}`);
        const migration = await fleet.run(apis[0], NEWEST, 'migrate');
        expect(migration, migration.output).toMatchObject({ code: 0 });
        await rest('the schema of this release');
        await fleet.replace(apis[0], NEWEST);
        const [newer, older] = [fleet.service(apis[0]), fleet.service(apis[1])];
        for (const service of [newer, older]) await untilAdministered(service);
        await expectChangesToReach(newer, older, virtualKey);
        await expectChangesToReach(older, newer, virtualKey);
        await expectSessionsToBeShared(newer, older);
        await expectSessionsToBeShared(older, newer);
        await rest('one API instance of each release');
        await fleet.replace(worker, NEWEST);
        await rest('the worker of this release');
        await fleet.replace(apis[1], NEWEST);
        await rest('all of this release');
      } finally {
        isOver = true;
        await load;
      }
      console.log(`${perSecond(traffic.views).toFixed()} requests/s`);
      expect(traffic.views.filter((view) => !isServed(view))).toEqual([]);
    },
  );

  it(
    'loses nothing, doubles nothing and charges what the provider charges',
    { timeout: 300_000 },
    async ({ skip }) => {
      if (!fleet) return skip();
      let found: readonly string[] = [];
      const ofTraffic = new Map([...provider.calls].filter(([exchange]) => !exchange.startsWith('changes/')));
      await eventually(
        async () => {
          const log = await readRows(running().database, groups);
          found = disagreements({ clients: traffic.views, provider: ofTraffic, log });
          return found.length === 0;
        },
        { withinMs: SETTLE_MS, everyMs: 1_000, what: 'the books to agree' },
      ).catch(() => undefined);
      expect(found.slice(0, 20)).toEqual([]);
      expect(traffic.views.length).toBeGreaterThan(1_000);
    },
  );

  it('spends a budget over both releases, and never more', { timeout: 300_000 }, async ({ skip }) => {
    if (!fleet) return skip();
    const capped = groups[2] as Group;
    // A busy machine sends too few requests during the upgrade to spend it.
    for (let isSpent = false; !isSpent;) {
      const views = await inParallel(Array<null>(12).fill(null), 4, () => traffic.send(capped));
      isSpent = views.some(({ status }) => status === 402);
    }
    const bill = provider.billOf('capped');
    console.log(`budget ${CAP_NANO}, bill ${bill} nano-dollars`);
    expect(bill).toBeGreaterThan(CAP_NANO * 0.9);
    expect(bill).toBeLessThanOrEqual(CAP_NANO);
  });

  it('leaves equal books of money and an unbroken audit log', { timeout: 300_000 }, async ({ skip }) => {
    if (!fleet) return skip();
    const money = await eventually(
      async () => {
        const run = await running().run(apis[0], NEWEST, 'verify', 'money');
        return run.code === 0 ? run : null;
      },
      { withinMs: SETTLE_MS, everyMs: 2_000, what: 'equal books of money' },
    ).catch(() => running().run(apis[0], NEWEST, 'verify', 'money'));
    expect(money, money.output).toMatchObject({ code: 0 });
    const audit = await fleet.run(apis[0], NEWEST, 'audit', 'verify');
    expect(audit, audit.output).toMatchObject({ code: 0 });
  });

  describe.each([
    { from: release.version, to: 'this release', isUpgrade: true },
    { from: 'this release', to: release.version, isUpgrade: false },
  ])('the spool of $from', ({ to, isUpgrade }) => {
    it(`is stored by ${to}`, { timeout: 300_000 }, async ({ skip }) => {
      if (!fleet) return skip();
      const [first, second] = isUpgrade ? [previous, NEWEST] : [NEWEST, previous];
      const { proxy, url } = await TcpProxy.before(fleet.databaseUrl);
      started.add(proxy, (it) => it.stop());
      const place = await fleet.place(`spool-${isUpgrade ? 'up' : 'down'}`, 'api', url);
      const name = isUpgrade ? 'upgraded' : 'downgraded';
      const administration = new Administration(fleet.service(apis[0]));
      const group: Group = { name, ...(await administration.createKey(name, ['completions.write'])) };
      const { client } = await fleet.start(place, first);
      const own = new Traffic([{ name, isUp: true, service: { client } }], virtualKey);
      await own.send(group);
      proxy.mode = 'refuse';
      const views = await inParallel(Array<null>(12).fill(null), 4, () => own.send(group));
      expect(views.map(({ status }) => status)).toEqual(views.map(() => 200));
      await fleet.kill(place);
      expect((await readRows(fleet.database, [group])).length).toBeLessThan(views.length);

      proxy.mode = 'pass';
      await fleet.start(place, second);

      let found: readonly string[] = [];
      await eventually(
        async () => {
          const log = await readRows(running().database, [group]);
          const calls = new Map([...provider.calls].filter(([exchange]) => exchange.startsWith(`${name}/`)));
          found = disagreements({ clients: own.views, provider: calls, log });
          return found.length === 0;
        },
        { withinMs: SETTLE_MS, everyMs: 500, what: 'the rows of the spool' },
      ).catch(() => undefined);
      expect(found).toEqual([]);
      await fleet.service(place).stop();
    });
  });

  it(
    'goes back: the earlier release runs on the schema of this one',
    { timeout: 300_000 },
    async ({ skip }) => {
      if (!fleet) return skip();
      const status = await fleet.run(apis[1], previous, 'migrate', '--status');
      expect(status, status.output).toMatchObject({ code: 0 });
      await fleet.replace(apis[1], previous);
      await fleet.replace(worker, previous);
      const sent = await inParallel(Array<null>(20).fill(null), 4, () => traffic.send(groups[1] as Group));
      expect(sent.map(({ status: of }) => of)).toEqual(sent.map(() => 200));
      await eventually(
        async () => {
          const ids = new Set((await readRows(running().database, groups)).map(({ id }) => id));
          return sent.every(({ id }) => ids.has(id));
        },
        { withinMs: SETTLE_MS, everyMs: 500, what: 'the rows of both releases' },
      );
    },
  );
});
