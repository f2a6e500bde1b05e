import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { withDatabase } from '../support/database-dump.js';
import { OwnPostgres } from '../support/own-postgres.js';
import { OwnRedis } from '../support/own-redis.js';
import { portRange } from '../support/ports.js';
import { type OwnService, startService } from '../support/service.js';
import { Started } from '../support/started.js';
import { type ProxyMode, TcpProxy } from '../support/tcp-proxy.js';
import { eventually, inParallel, sleep } from '../support/waiting.js';
import { World } from '../support/world.js';

/**
 * P1, O01: a process that has just begun loses a store at any moment of its start. Libraries remember their first failure longer than
 * any later one. When the store is back, the process does all of its work without anybody's help.
 *
 * `CRASH_ROUNDS=60 npx vitest run --project crash test/crash/starting` looks at more moments.
 */
const ROUNDS = Math.ceil(Number(process.env['CRASH_ROUNDS'] ?? 3) / 3);
/** On a slow machine a process is ready after about this time; it goes on connecting for a while. */
const START_MS = 4_000;
const AWAY_MS = 1_500;
/** A sweep looks at batches that are older than this: what was counted sooner was counted because the queue said so. */
const UNHEARD_AFTER_S = 30;
const REQUESTS = 16;

const PROCESSES = ['worker', 'administration', 'gateway'] as const;
type Process = (typeof PROCESSES)[number];
const MODES: readonly ProxyMode[] = ['refuse', 'blackhole'];

/** What happens in a round: every process and every way of being away has its turn, at a moment that chance decides. */
const turn = <T>(all: readonly T[], round: number): T => all[round % all.length] as T;

async function proxyTo(started: Started, url: URL, usualPort: number): Promise<TcpProxy> {
  const target = { host: url.hostname, port: Number(url.port || usualPort) };
  const proxy = started.add(await TcpProxy.start(target), (it) => it.stop());
  url.hostname = '127.0.0.1';
  url.port = String(proxy.port);
  return proxy;
}

const redisIsHere = await OwnRedis.start();
await redisIsHere?.kill();

describe.each(redisIsHere ? (['PostgreSQL', 'Redis'] as const) : (['PostgreSQL'] as const))(
  'with queues in %s',
  (place) => {
    const started = new Started();
    let stores: readonly TcpProxy[];
    let service: OwnService;
    let world: World;

    beforeAll(async () => {
      const postgres = started.add(await OwnPostgres.create(), (it) => it.remove());
      const databaseUrl = new URL(postgres.url);
      const database = await proxyTo(started, databaseUrl, 5432);
      const redis = place === 'Redis' ? await OwnRedis.start() : null;
      if (redis) started.add(redis, (it) => it.kill());
      const redisUrl = redis && new URL(redis.url);
      const queue = redisUrl && (await proxyTo(started, redisUrl, 6379));
      stores = queue ? [queue, database] : [database];
      service = await startService({
        egressPorts: await portRange(4),
        env: {
          DATABASE_URL: databaseUrl.href,
          ...(redisUrl ? { REDIS_URL: redisUrl.href } : {}),
          GATEHOUSE_PROCESSES: '2',
          GATEHOUSE_DRAIN_DELAY_MS: '0',
        },
      });
      started.add(service, (it) => it.dispose());
      world = started.add(await World.create('starting', service), (it) => it.close());
      await use();
    });
    afterAll(() => started.end());
    afterEach(({ task }) => {
      if (task.result?.state === 'fail') console.log(service.output.slice(-6_000));
    });

    async function use(): Promise<void> {
      const answers = await inParallel(Array.from({ length: REQUESTS }), 8, () =>
        service.client.call({ path: '/v1/used', headers: world.headers, fresh: true }),
      );
      for (const { requestId, status } of answers)
        world.note(requestId, status === 200 ? 'once' : 'at most once');
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    }

    const pidsOf = (process: Process): readonly number[] => {
      const { worker, administration, gateways } = service.pids;
      if (process === 'gateway') return gateways;
      return [process === 'worker' ? worker : administration].filter((pid) => pid !== null);
    };

    /** Ends a process, and waits for the one that takes its place to begin. */
    async function startAnew(name: Process): Promise<void> {
      const before = pidsOf(name);
      process.kill(before[0] as number, 'SIGKILL');
      await eventually(() => pidsOf(name).some((pid) => !before.includes(pid)), {
        everyMs: 10,
        what: `the next ${name}`,
      });
    }

    async function away(store: TcpProxy, mode: ProxyMode): Promise<void> {
      store.mode = mode;
      await sleep(AWAY_MS);
      // What was silent is dead: nobody on the way knows these connections any more.
      store.mode = 'refuse';
      store.mode = 'pass';
    }

    /** Seconds from the storing of a batch to its counting, of those that were stored since; null while one is not counted. */
    const slowestCounting = (since: Date): Promise<number | null> =>
      withDatabase(service, async (client) => {
        const { rows } = await client.query(
          `SELECT count(*)::int AS batches, count(aggregated_at)::int AS counted,
             max(extract(epoch FROM aggregated_at - created_at))::float8 AS seconds
           FROM log_batches WHERE created_at > $1`,
          [since],
        );
        const [{ batches, counted, seconds }] = rows;
        return batches > 0 && counted === batches ? seconds : null;
      });

    it(
      `every process recovers by itself, ${ROUNDS * PROCESSES.length} moments`,
      { timeout: 60_000 * ROUNDS * PROCESSES.length },
      async () => {
        for (let round = 0; round < ROUNDS * PROCESSES.length; round++) {
          const name = turn(PROCESSES, round);
          const mode = turn(MODES, Math.floor(round / PROCESSES.length));
          const store = turn(stores, Math.floor(round / 2));
          await startAnew(name);
          const afterMs = Math.random() * START_MS;
          await sleep(afterMs);
          await away(store, mode);

          const what = `the ${name}, whose store ${stores.indexOf(store)} was away (${mode}) after ${Math.round(afterMs)} ms`;
          await eventually(
            async () => {
              const { worker, administration, gateway } = await service.serving();
              return worker === 1 && administration === 1 && gateway === 2;
            },
            { what: `all processes after ${what}` },
          );
          await eventually(
            async () => (await world.administration.call('GET', '/v1/api-keys')).status === 200,
            { what: `the administration after ${what}` },
          );
          const since = new Date();
          await use();
          await world.checkLog();
          const seconds = await eventually(() => slowestCounting(since), {
            withinMs: 2 * UNHEARD_AFTER_S * 1_000,
            what: `the counting after ${what}`,
          });
          console.log(`${what}: counted ${seconds.toFixed(1)} s after it was stored`);
          expect(seconds, what).toBeLessThan(UNHEARD_AFTER_S);
        }
      },
    );
  },
);
