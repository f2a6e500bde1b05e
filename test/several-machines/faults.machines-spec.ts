import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { portRange } from '../support/ports.js';
import { Dice } from '../support/random-bodies.js';
import { Started } from '../support/started.js';
import { eventually, inParallel } from '../support/waiting.js';
import { disagreements, readRows } from './bookkeeping.js';
import { type Fault, nameOf, roundOfFaults } from './fault-schedule.js';
import { API_MACHINES, type Machine, Machines, WORKER_MACHINES } from './machines.js';
import { RememberingProvider } from './remembering-provider.js';
import { slowestPing } from './slowest-ping.js';
import { type ClientView, type Group, Traffic } from './traffic.js';

/**
 * Three API machines and two worker machines on one PostgreSQL and one Redis, with a fault proxy between each machine and each store.
 * Traffic goes on while faults follow one another; then the books of the clients, of the provider and of the log are compared.
 *
 * `SEVERAL_MACHINES_MINUTES=60 npm run test:several-machines` goes on for an hour, `SEVERAL_MACHINES_FAULTS=4` ends after four of them;
 * `SEED=7` repeats an order of faults.
 */
const FAULTS = Number(process.env['SEVERAL_MACHINES_FAULTS'] ?? Infinity);
const MINUTES = Number(process.env['SEVERAL_MACHINES_MINUTES'] ?? 0);
const SEED = Number(process.env['SEED'] ?? Date.now() % 1_000_000);
const FAULT_MS = 4_000;
const REST_MS = 2_000;
const EVERY_MS = 100;
/** Announcements that died with Redis are found by a sweep after half a minute, and leases of dead processes end then. */
const SETTLE_MS = 120_000;
/** The gateway probes its limit stores every 5 s. */
const PROBE_MS = 6_000;
const RATE = 30;
const SLOTS = 4;
/** Less than the traffic of the key costs, so that it is reached while faults go on. */
const BUDGET_NANO = 5_000_000;

const MACHINES = { api: API_MACHINES, worker: WORKER_MACHINES };

const started = new Started();
const dice = new Dice(SEED);
let machines: Machines | null;
let provider: RememberingProvider;
let traffic: Traffic;
let plain: Group;
let budgeted: Group;

beforeAll(async () => {
  console.log(`SEED=${SEED}`);
  const ports = await portRange(2);
  machines = await Machines.start(started, ports);
  if (!machines) return;
  provider = started.add(await RememberingProvider.start(ports), (it) => it.stop());
  const { administration, apis } = machines;
  const virtualKey = await administration.createVirtualKey({
    name: 'remembering',
    secret: 'sk-remembering',
    customHost: `${provider.url}/v1`,
  });
  traffic = new Traffic(apis, virtualKey);
  plain = await groupOf('plain', {});
  budgeted = await groupOf('budgeted', { usage_limits: { credit_limit: BUDGET_NANO / 1e9 } });
  // Every machine knows the keys before a store may be lost.
  for (const group of [plain, budgeted]) await inParallel(apis, 1, () => traffic.send(group));
});
afterAll(() => started.end());

async function groupOf(name: string, limits: object): Promise<Group> {
  const key = await (machines as Machines).administration.createKey(name, ['completions.write'], limits);
  return { name, ...key };
}

/** A metric over all machines that serve. */
async function sumOf(metric: string): Promise<number> {
  const values = await Promise.all((machines as Machines).apis.map(({ service }) => service.metric(metric)));
  return values.reduce((sum, value) => sum + value, 0);
}

/** A process that was asked nothing meanwhile notices a connection that was lost silently by its next probe. */
async function limitStoresToAnswer(): Promise<void> {
  await sleep(PROBE_MS);
  await eventually(async () => (await sumOf('gatehouse_limits_store_unavailable')) === 0, {
    withinMs: SETTLE_MS,
    everyMs: 500,
    what: 'the limit stores to answer every machine',
  });
}

async function inject(fault: Fault): Promise<void> {
  const { apis, workers, all } = machines as Machines;
  if (fault.kind === 'kill') {
    const victim = (fault.role === 'api' ? apis : workers)[fault.machine] as Machine;
    await victim.kill();
    await sleep(FAULT_MS / 2);
    return victim.start();
  }
  const hit = fault.machine === null ? all : [all[fault.machine] as Machine];
  for (const machine of hit) machine[fault.store].mode = fault.mode;
  await sleep(FAULT_MS);
  for (const machine of hit) machine[fault.store].mode = 'pass';
}

/** What clients may not see while stores fail. A machine that is killed fails what it was answering. */
const unexpected = ({ group, status, code, wasKilled }: ClientView): boolean => {
  if (wasKilled || status === 200) return false;
  return group !== 'budgeted' || !['budget_exceeded', 'limits_unavailable'].includes(code ?? '');
};

describe('several machines whose stores fail', () => {
  it(
    'accept the known keys throughout, whatever fails',
    { timeout: MINUTES * 60_000 + 600_000 },
    async ({ skip }) => {
      if (!machines) return skip('There is no redis-server on this machine.');
      const endsAt = Date.now() + MINUTES * 60_000;
      let isOver = false;
      const load = traffic.run([plain, budgeted], EVERY_MS, () => isOver);
      try {
        do
          for (const fault of roundOfFaults(dice, MACHINES).slice(0, FAULTS)) {
            console.log(`${traffic.views.length} requests, then ${nameOf(fault)}`);
            await inject(fault);
            await sleep(REST_MS);
          }
        while (Date.now() < endsAt);
      } finally {
        isOver = true;
        await load;
      }
      expect(traffic.views.filter(unexpected)).toEqual([]);
    },
  );

  it('lose nothing, double nothing and charge what the provider charges', async ({ skip }) => {
    if (!machines) return skip();
    const { database } = machines.stores;
    let found: readonly string[] = [];
    await eventually(
      async () => {
        const log = await readRows(database, [plain, budgeted]);
        found = disagreements({ clients: traffic.views, provider: provider.calls, log });
        return found.length === 0;
      },
      { withinMs: SETTLE_MS, everyMs: 1_000, what: 'the books to agree' },
    ).catch(() => undefined);
    expect(found.slice(0, 20)).toEqual([]);
    console.log(`${traffic.views.length} requests, ${provider.calls.size} reached the provider`);
  });

  it('never spend more than a budget', ({ skip }) => {
    if (!machines) return skip();
    const bill = provider.billOf('budgeted');
    console.log(`budget ${BUDGET_NANO}, bill ${bill} nano-dollars`);
    expect(bill).toBeGreaterThan(BUDGET_NANO / 2);
    expect(bill).toBeLessThanOrEqual(BUDGET_NANO);
  });

  it('hold a rate exactly over all of them, once the faults have ended', async ({ skip }) => {
    if (!machines) return skip();
    await limitStoresToAnswer();
    const before = await sumOf('gatehouse_limits_failed_open_total');
    const faults = await sumOf('gatehouse_limits_single_faults_total');
    const group = await groupOf('rated', {
      rate_limits: { type: 'requests', unit: 'rpm', value: RATE },
    });
    const send = (count: number, width: number) =>
      inParallel(Array<null>(count).fill(null), width, () => traffic.send(group));
    const views: ClientView[] = [];
    const pingMs = await slowestPing(machines.stores.redisUrl, async () => {
      // Machines give back what they lease, all of it, between two bursts.
      for (let burst = 0; burst < 3; burst++) {
        views.push(...(await send(6, 6)));
        await sleep(1_700);
      }
      views.push(...(await send(3 * RATE, 12)));
    });
    // On a busy machine Redis may take longer than a request waits. Each request that then passes unlimited is counted,
    // and the slowest ping tells whether Redis was late.
    const failedOpen = (await sumOf('gatehouse_limits_failed_open_total')) - before;
    const admitted = views.filter(({ status }) => status === 200).length;
    console.log(
      `${admitted} admitted at a rate of ${RATE}, ${failedOpen} of them unlimited; slowest ping ${pingMs.toFixed()} ms`,
    );
    expect(await sumOf('gatehouse_limits_single_faults_total')).toBe(faults);
    expect(admitted).toBeLessThanOrEqual(RATE + failedOpen);
    expect(admitted).toBeGreaterThanOrEqual(failedOpen === 0 ? RATE : 1);
    expect(failedOpen).toBeLessThanOrEqual(RATE / 5);
    expect(views.filter(({ code }) => code === 'rate_limited')).toHaveLength(views.length - admitted);
  });

  it('hold a concurrency over all of them, once the faults have ended', async ({ skip }) => {
    if (!machines) return skip();
    const before = await sumOf('gatehouse_limits_failed_open_total');
    const faults = await sumOf('gatehouse_limits_single_faults_total');
    const group = await groupOf('slotted', { rate_limits: { type: 'concurrency', value: SLOTS } });
    let views: readonly ClientView[] = [];
    const pingMs = await slowestPing(machines.stores.redisUrl, async () => {
      views = await inParallel(Array<null>(120).fill(null), 24, () => traffic.send(group));
    });
    const failedOpen = (await sumOf('gatehouse_limits_failed_open_total')) - before;
    console.log(
      `${provider.mostAtOnce.get('slotted')} at once in ${SLOTS} slots, ${failedOpen} passed unlimited; slowest ping ${pingMs.toFixed()} ms`,
    );
    expect(await sumOf('gatehouse_limits_single_faults_total')).toBe(faults);
    expect(provider.mostAtOnce.get('slotted')).toBeLessThanOrEqual(SLOTS + failedOpen);
    expect(failedOpen).toBeLessThanOrEqual(views.length / 5);
    expect(views.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(SLOTS);
    expect(new Set(views.map(({ status }) => status))).toEqual(new Set([200, 429]));
  });
});
