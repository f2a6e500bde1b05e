import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withDatabase } from '../support/database-dump.js';
import { jsonOf } from '../support/http-client.js';
import { OwnPostgres } from '../support/own-postgres.js';
import { OwnRedis } from '../support/own-redis.js';
import { portRange } from '../support/ports.js';
import { isAlive } from '../support/process-tree.js';
import { type Known, KnownRequests } from '../support/proof/known-requests.js';
import { aTenant, type Tenant } from '../support/proof/tenant.js';
import { ScriptedProvider } from '../support/proof/scripted-provider.js';
import { type LogRow, RequestLogs } from '../support/request-logs.js';
import { type OwnService, startService } from '../support/service.js';
import { Started } from '../support/started.js';
import { type ProxyMode, TcpProxy } from '../support/tcp-proxy.js';
import { eventually, sleep } from '../support/waiting.js';

/**
 * O01, O03, O04: requests of known usage go on without a pause while the background process, the database and the queue are
 * killed in turn, and while the database is away. The clients notice nothing, and in the end log and analytics say what the provider's book says.
 *
 * `CRASH_ROUNDS=20 OUTAGE_SECONDS=600 npx vitest run --project crash test/crash/log-faults` is the long run.
 */
const ROUNDS = Number(process.env['CRASH_ROUNDS'] ?? 3);
const OUTAGE_S = Number(process.env['OUTAGE_SECONDS'] ?? 4);
const WIDTH = 8;
const ROUND_MS = 2_000;
/** A client rests in between so that a long outage leaves no more rows than can be read back and compared one by one. */
const REST_MS = Math.max(5, (OUTAGE_S * 1_000 * WIDTH) / 15_000);
/** Batches whose announcement died with the queue are found by a sweep after half a minute, and each 15 seconds. */
const SETTLE_MS = 180_000;

type Victim = 'queue' | 'worker' | 'database';
const VICTIMS: readonly Victim[] = ['queue', 'worker', 'database'];

const started = new Started();
let postgres: OwnPostgres;
let redis: OwnRedis | null;
let proxy: TcpProxy;
let service: OwnService;
let provider: ScriptedProvider;
let tenants: readonly Tenant[];
let requests: KnownRequests;

beforeAll(async () => {
  postgres = started.add(await OwnPostgres.create(), (it) => it.remove());
  redis = await OwnRedis.start();
  if (redis) started.add(redis, (it) => it.kill());
  const direct = new URL(postgres.url);
  proxy = started.add(await TcpProxy.start({ host: direct.hostname, port: Number(direct.port) }), (it) =>
    it.stop(),
  );
  direct.port = String(proxy.port);
  service = await startService({
    egressPorts: await portRange(4),
    env: {
      DATABASE_URL: direct.href,
      ...(redis ? { REDIS_URL: redis.url } : {}),
      GATEHOUSE_PROCESSES: '2',
      GATEHOUSE_DRAIN_DELAY_MS: '0',
    },
  });
  started.add(service, (it) => it.dispose());
  provider = await ScriptedProvider.start(service.facts.egressPorts);
  started.add(provider, (it) => it.upstream.stop());
  tenants = [await aTenant(service, provider, 'faults-one'), await aTenant(service, provider, 'faults-two')];
  requests = new KnownRequests(service, provider, tenants);
  // Every process has to know keys and configs once before the database may go away.
  await requests.send(200);
});
afterAll(() => started.end());

async function killed(victim: Victim): Promise<void> {
  if (victim === 'database') {
    await postgres.kill();
    await sleep(300);
    return postgres.start();
  }
  if (victim === 'queue' && redis) {
    await redis.kill();
    await sleep(300);
    return redis.start();
  }
  const { worker } = service.pids;
  if (worker === null) throw new Error('There is no background process.');
  process.kill(worker, 'SIGKILL');
  await eventually(() => !isAlive(worker), { what: 'the background process to be gone' });
}

/** The first rounds have each victim once, the others any. */
const victimOf = (round: number): Victim =>
  VICTIMS[round < VICTIMS.length ? round : Math.floor(Math.random() * VICTIMS.length)] ?? 'worker';

/** Load for as long as the work takes. */
async function underLoad(work: () => Promise<void>, restMs?: number): Promise<void> {
  let isOver = false;
  const load = requests.sendWhile(() => !isOver, WIDTH, restMs);
  try {
    await work();
  } finally {
    isOver = true;
    await load;
  }
}

const workerIsBack = () =>
  eventually(async () => (await service.serving())['worker'] === 1, {
    what: 'the background process',
  });

it(
  `kill -9 of queue, background process and database at random, ${ROUNDS} rounds`,
  { timeout: ROUNDS * 40_000 + 60_000 },
  async () => {
    await underLoad(async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const victim = victimOf(round);
        await sleep(ROUND_MS * Math.random());
        console.log(`round ${round + 1}: ${victim}, after ${requests.count} requests`);
        await killed(victim);
        await workerIsBack();
      }
    });
  },
);

it.each<ProxyMode>(['refuse', 'blackhole'])(
  `the database is unavailable (%s) for ${OUTAGE_S} s under load`,
  { timeout: OUTAGE_S * 1_000 + 60_000 },
  async (mode) => {
    const before = requests.count;
    await underLoad(async () => {
      proxy.mode = mode;
      await sleep(OUTAGE_S * 1_000);
      proxy.mode = 'refuse';
      proxy.mode = 'pass';
    }, REST_MS);
    console.log(`${requests.count - before} requests while the database was away`);
    expect(requests.count - before).toBeGreaterThan(WIDTH);
  },
);

describe('after all of this', () => {
  let known: Known[];
  let rows: LogRow[];

  beforeAll(async () => {
    known = requests.known();
    const began = Date.now();
    await eventually(
      async () => {
        rows = [];
        for (const { id } of tenants)
          rows.push(...(await new RequestLogs(service).all({ workspace_id: id })));
        return rows.length >= known.length;
      },
      { withinMs: SETTLE_MS, everyMs: 1_000, what: 'all rows' },
    ).catch(() => undefined);
    console.log(
      `${rows.length} rows of ${known.length} requests, ${Date.now() - began} ms after the last fault`,
    );
  }, SETTLE_MS + 30_000);

  it("no client noticed: each got the provider's output, or the refusal that it should get", () => {
    const wrong = known.filter(({ via, status, calls, cacheStatus }) => {
      // Whether a virtual key that nobody knows exists cannot be said while the database is away.
      if (via === 'nothing') return status !== 404 && status !== 503;
      return status !== (cacheStatus === 'HIT' ? 200 : calls.at(-1)?.status);
    });
    expect(wrong.map(({ exchange, status }) => ({ exchange, status }))).toEqual([]);
  });

  it('nothing is lost, doubled, made up or priced wrongly', () => {
    const facts = (all: readonly (readonly unknown[])[]) => all.map((each) => JSON.stringify(each)).sort();
    expect(
      facts(
        rows.map((row) => [
          row.id,
          row.status,
          row.input_tokens ?? 0,
          row.output_tokens ?? 0,
          row.cost_nano_usd,
        ]),
      ),
    ).toEqual(facts(known.map(({ id, status, input, output, cost }) => [id, status, input, output, cost])));
  });

  it('the analytics say the same', { timeout: SETTLE_MS + 30_000 }, async () => {
    const began = Date.now();
    for (const tenant of tenants) {
      const own = known.filter((one) => one.tenant === tenant);
      const expected = {
        total: own.length,
        cost: own.reduce((sum, { cost }) => sum + (cost ?? 0), 0),
        tokens: own.reduce((sum, one) => sum + one.input + one.output, 0),
      };
      const told = async () => {
        const [total, cost, tokens] = await Promise.all(
          ['requests', 'cost', 'tokens'].map((path) => totalOf(tenant, path)),
        );
        return { total, cost: Math.round((cost ?? 0) * 10_000_000), tokens };
      };
      await eventually(async () => (await told()).total === expected.total, {
        withinMs: SETTLE_MS,
        everyMs: 500,
        what: 'the rollups',
      }).catch(() => undefined);
      expect(await told()).toEqual(expected);
    }
    console.log(`all of it was counted ${Date.now() - began} ms after all rows were there`);
  });

  it('no record was laid aside', async () => {
    const dead = await withDatabase(service, (client) =>
      client.query('SELECT reason FROM request_log_dead_letters'),
    );
    expect(dead.rows).toEqual([]);
  });
});

async function totalOf({ slug }: Tenant, path: string): Promise<number | undefined> {
  const answer = await service.client.call({
    path: `/v1/analytics/graphs/${path}?workspace_slug=${slug}`,
    headers: { 'x-gateway-api-key': service.bootstrap.admin_api_key },
  });
  return answer.status === 200 ? (jsonOf(answer).summary.total as number) : undefined;
}
