import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, jsonOf } from '../support/http-client.js';
import { inEachGateway } from '../support/each-gateway.js';
import { portRange } from '../support/ports.js';
import { isAlive } from '../support/process-tree.js';
import { expectRefusal } from '../support/refusals.js';
import { type OwnService, startService } from '../support/service.js';
import { type SharedStore, sharedStore } from '../support/shared-store.js';
import { Started } from '../support/started.js';
import { type ProxyMode, TcpProxy } from '../support/tcp-proxy.js';
import { eventually, inParallel, sleep } from '../support/waiting.js';
import { World } from '../support/world.js';

/** P1: the data plane goes on without its database. */
const REQUESTS = 120;
const CHANGES = 4;
/** Longest time that one step waits for a silent database. */
const STEP_MS = 3_000;
/**
 * How soon callers are refused: at once when the database refuses connections. When it is silent, each step that needs it costs at most its
 * time limit: authentication, the turn to write behind other changes, and the change. The duration of such a call while the database
 * responds comes on top: it measures the machine.
 */
const REFUSED_WITHIN_MS: Readonly<Partial<Record<ProxyMode, number>>> = {
  refuse: 1_000,
  blackhole: 3 * STEP_MS,
};

const started = new Started();
let proxy: TcpProxy;
let service: OwnService;
let world: World;

beforeAll(async () => {
  const store: SharedStore = started.add(await sharedStore(), (it) => it.stop());
  const through = new URL(store.databaseUrl);
  proxy = started.add(
    await TcpProxy.start({ host: through.hostname, port: Number(through.port || 5432) }),
    (it) => it.stop(),
  );
  through.hostname = '127.0.0.1';
  through.port = String(proxy.port);
  service = await startService({
    ...(store.bootstrapDir ? { bootstrapDir: store.bootstrapDir } : {}),
    egressPorts: await portRange(4),
    env: {
      ...store.env,
      DATABASE_URL: through.href,
      GATEHOUSE_PROCESSES: '2',
      GATEHOUSE_DRAIN_DELAY_MS: '0',
    },
  });
  started.add(service, (it) => it.dispose());
  world = started.add(await World.create('outage', service), (it) => it.close());
});
afterAll(() => started.end());

/** Longer than this nobody waits for an answer; a call that hangs fails with its name. */
const PATIENCE_MS = 20_000;

/** On a connection of its own: connections are dealt to the processes in turn, and all of them are meant. */
const use = (key = world.apiKey.key): Promise<Answer> =>
  service.client.call({
    path: '/v1/used',
    headers: { ...world.headers, 'x-gateway-api-key': key },
    fresh: true,
    signal: AbortSignal.timeout(PATIENCE_MS),
  });

/** Of the right form, checksum included, never shown to the data plane, and no longer in the database. */
async function aDeletedKey(): Promise<string> {
  const { id, key } = await world.administration.createKey('deleted');
  await world.administration.deleteKey(id);
  return key;
}

interface Timed {
  readonly status: number;
  readonly code: string;
  readonly ms: number;
}

/** How a call was refused and when; a call that was never answered has status 0. */
async function timed(pending: Promise<Answer>): Promise<Timed> {
  const started = Date.now();
  const answer = await Promise.race([pending.catch(() => null), sleep(PATIENCE_MS).then(() => null)]);
  const ms = Date.now() - started;
  if (!answer) return { status: 0, code: 'never answered', ms };
  expectRefusal(answer.body, jsonOf(answer).error.code);
  return { status: answer.status, code: jsonOf(answer).error.code, ms };
}

/** Milliseconds that something takes. */
async function took(work: () => Promise<unknown>): Promise<number> {
  const began = Date.now();
  await work();
  return Date.now() - began;
}

async function used(count: number): Promise<number[]> {
  const answers = await inParallel(Array.from({ length: count }), 8, () => use());
  for (const { requestId, status } of answers)
    world.note(requestId, status === 200 ? 'once' : 'at most once');
  return answers.map(({ status }) => status);
}

const everyProcessKnowsTheKey = (): Promise<boolean> =>
  eventually(
    async () => {
      const answers = await inEachGateway(service, () => use());
      for (const { requestId, status } of answers)
        world.note(requestId, status === 200 ? 'once' : 'at most once');
      return answers.every(({ status }) => status === 200);
    },
    { what: 'the key to be known in every process' },
  );

describe.each<ProxyMode>(['refuse', 'blackhole'])('P1: while the database is unavailable (%s)', (mode) => {
  it(
    'known keys keep working, unknown keys get 503, the administration says 503, and nothing is lost',
    { timeout: 240_000 },
    async () => {
      proxy.mode = 'pass';
      await eventually(async () => (await world.administration.call('GET', '/v1/api-keys')).status === 200, {
        what: 'the administration',
      });
      await everyProcessKnowsTheKey();
      const unknownKey = await aDeletedKey();
      // Connections that stood before are the ones on which a silent database is found out last.
      const listed = await took(() =>
        inParallel(Array.from({ length: 16 }), 16, () => world.administration.call('GET', '/v1/api-keys')),
      );
      const usual = await took(() => used(REQUESTS));
      proxy.mode = mode;
      await sleep(200);

      const without = await took(async () => expect(new Set(await used(REQUESTS))).toEqual(new Set([200])));
      expect(without, `ms for all of them, which took ${usual} before`).toBeLessThan(6_000 + 2 * usual);
      expect(await service.ready(), '/readyz').toBe(true);

      const [unknown, ...changes] = await Promise.all([
        timed(use(unknownKey)),
        ...Array.from({ length: CHANGES }, () =>
          timed(
            world.administration.call('POST', '/v1/api-keys/workspace/service', {
              name: 'x',
              workspace_id: service.bootstrap.workspace_id,
              scopes: ['logs.list'],
            }),
          ),
        ),
      ]);
      console.log(
        `${mode}: unknown key ${JSON.stringify(unknown)}, administrators ${JSON.stringify(changes)}`,
      );
      expect([unknown.status, unknown.code]).toEqual([503, 'auth_unavailable']);
      for (const { status, code } of changes)
        expect([status, code]).toEqual([
          503,
          expect.toBeOneOf(['database_unavailable', 'audit_unavailable', 'auth_unavailable']),
        ]);
      const limit = (REFUSED_WITHIN_MS[mode] ?? 0) + 4 * listed;
      expect(
        [unknown, ...changes].filter(({ ms }) => ms > limit),
        `refusals later than ${limit} ms`,
      ).toEqual([]);

      proxy.mode = 'refuse';
      proxy.mode = 'pass';
      const back = Date.now();
      await eventually(async () => (await world.administration.call('GET', '/v1/api-keys')).status === 200, {
        what: 'the administration to be back',
      });
      console.log(`the administration was back after ${Date.now() - back} ms`);
      await world.checkLog();
      console.log(`all rows were there after ${Date.now() - back} ms`);
      await eventually(async () => (await use(unknownKey)).status === 401, {
        what: 'a 401 for the unknown key',
      });
    },
  );
});

describe('processes that have to start while the database is unavailable', () => {
  it(
    'wait for it: the gateways go on, and what they wrote is stored when it is back',
    { timeout: 240_000 },
    async () => {
      proxy.mode = 'pass';
      await everyProcessKnowsTheKey();
      proxy.mode = 'refuse';
      const { worker, administration, gateways } = service.pids;
      for (const pid of [worker, administration]) if (pid !== null) process.kill(pid, 'SIGKILL');
      await eventually(
        () =>
          service.output.split('The database is unavailable. This process starts when it is available.')
            .length > 2 && service.pids.worker !== worker,
        { what: 'both to be waiting' },
      );

      expect(new Set(await used(REQUESTS))).toEqual(new Set([200]));
      expect(service.pids.gateways).toEqual(gateways);

      proxy.mode = 'pass';
      await eventually(async () => (await service.serving())['administration'] === 1, {
        what: 'the administration to be back',
      });
      await world.checkLog();
    },
  );
});

describe('kill -9 of the embedded database', () => {
  it(
    'fails no request of a known key, and the service mends it by itself',
    { timeout: 240_000 },
    async () => {
      const own = await startService({
        egressPorts: await portRange(4),
        env: { GATEHOUSE_PROCESSES: '2', GATEHOUSE_DRAIN_DELAY_MS: '0' },
      });
      const mine = await World.create('killed-database', own);
      try {
        const { postgres } = own.pids;
        if (postgres === null) {
          expect(own.facts.databaseUrl, 'there is an outside database instead').not.toBeNull();
          return;
        }
        const warm = await inEachGateway(own, () => mine.send({ path: '/v1/used', fresh: true }));
        expect(warm.map(({ status }) => status)).toEqual([200, 200]);
        process.kill(postgres, 'SIGKILL');
        await eventually(() => !isAlive(postgres), { what: 'the database to be gone' });
        const answers = await inParallel(Array.from({ length: REQUESTS }), 8, () =>
          mine.send({ path: '/v1/used' }),
        );
        expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
        await eventually(async () => (await mine.administration.call('GET', '/v1/api-keys')).status === 200, {
          what: 'the administration to be back',
        });
        expect(own.pids.postgres).not.toBe(postgres);
        await mine.checkLog();
      } finally {
        await mine.close();
        await own.dispose();
      }
    },
  );
});
