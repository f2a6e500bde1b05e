import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Administration, type CreatedKey } from '../support/administration.js';
import { databaseUrlOf, withDatabase } from '../support/database-dump.js';
import { jsonOf } from '../support/http-client.js';
import { OwnPostgres } from '../support/own-postgres.js';
import { OwnRedis } from '../support/own-redis.js';
import { portRange } from '../support/ports.js';
import { type OwnService, runToEnd, startService } from '../support/service.js';
import { Started } from '../support/started.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { BillingUpstream, priceOf } from '../support/upstreams/billing.js';
import { eventually, inParallel, sleep } from '../support/waiting.js';

/**
 * O03, O04: the store of the limits is killed under load, comes back (a Redis with nothing in it), and then says nothing for
 * a while. No budget is passed, nothing else is refused, and afterwards all limits hold again and all books agree.
 *
 * `OUTAGE_SECONDS=60 npx vitest run --project crash test/crash/limits` is the long run.
 */
const OUTAGE_S = Number(process.env['OUTAGE_SECONDS'] ?? 2);
/** What passes before, between and after the two outages. */
const BETWEEN_MS = 700;
/** Of each kind of key, at the same time; each pauses between two requests. */
const LANES = 2;
const PAUSE_MS = 25;
const PER_SECOND = (LANES * 1_000) / PAUSE_MS;
/** Longer than any answer takes; nobody waits for a store for so long. */
const PATIENCE_MS = 20_000;
const SLOTS = 4;
const RATE = 20;
const OUTPUT = 100;

/** A store that can be killed, and that can be made silent by what stands before it. */
interface Store {
  readonly proxy: TcpProxy;
  readonly kill: () => Promise<void>;
  readonly start: () => Promise<void>;
}

interface Seen {
  readonly status: number;
  readonly code: string | null;
}

const BODY_BYTES = 200;

/** Bodies of one length, because this provider bills bytes. Streams request their usage themselves, so that the gateway adds nothing. */
function bodyOf(user: 'plain' | 'silent'): string {
  const withContent = (content: string): string =>
    JSON.stringify({
      model: 'gpt-4o-mini',
      max_tokens: OUTPUT,
      messages: [{ role: 'user', content }],
      stream: user === 'silent',
      ...(user === 'silent' && { stream_options: { include_usage: true } }),
      user,
    });
  return withContent('x'.repeat(BODY_BYTES - withContent('').length));
}
const COST = priceOf(bodyOf('plain'), OUTPUT);

async function behind(url: string, started: Started): Promise<{ proxy: TcpProxy; url: string }> {
  const direct = new URL(url);
  const proxy = await TcpProxy.start({ host: direct.hostname, port: Number(direct.port) });
  started.add(proxy, (it) => it.stop());
  direct.hostname = '127.0.0.1';
  direct.port = String(proxy.port);
  return { proxy, url: direct.href };
}

/** Answers the settings of a service that counts there; null where there is none on this machine. */
const STORES = {
  Redis: async (started: Started) => {
    const redis = await OwnRedis.start();
    if (!redis) return null;
    started.add(redis, (it) => it.kill());
    const { proxy, url } = await behind(redis.url, started);
    const store: Store = { proxy, kill: () => redis.kill(), start: () => redis.start() };
    return { store, env: { REDIS_URL: url } };
  },
  PostgreSQL: async (started: Started) => {
    const postgres = started.add(await OwnPostgres.create(), (it) => it.remove());
    const { proxy, url } = await behind(postgres.url, started);
    const store: Store = { proxy, kill: () => postgres.kill(), start: () => postgres.start() };
    return { store, env: { DATABASE_URL: url } };
  },
};

describe.each(['Redis', 'PostgreSQL'] as const)('limits while %s is unavailable', (name) => {
  const started = new Started();
  let store: Store | null = null;
  let service: OwnService;
  let administration: Administration;
  /** Only requests under the budget go to the first: its bill is the budget's. */
  let metered: BillingUpstream;
  let virtualKeys: { metered: string; others: string };

  beforeAll(async () => {
    const made = await STORES[name](started);
    if (!made) return;
    const ports = await portRange(4);
    service = await startService({
      egressPorts: ports,
      env: { ...made.env, GATEHOUSE_PROCESSES: '2', GATEHOUSE_DRAIN_DELAY_MS: '0' },
    });
    started.add(service, (it) => it.dispose());
    store = made.store;
    administration = new Administration(service);
    metered = started.add(await BillingUpstream.start(ports), (it) => it.stop());
    const others = started.add(await BillingUpstream.start(ports), (it) => it.stop());
    const virtualKey = (slug: string, { url }: BillingUpstream): Promise<string> =>
      administration.createVirtualKey({ name: slug, secret: 'sk-billing', customHost: `${url}/v1` });
    virtualKeys = {
      metered: await virtualKey('metered', metered),
      others: await virtualKey('others', others),
    };
  });
  afterAll(() => started.end());

  const keyWith = (limits: object): Promise<CreatedKey> =>
    administration.createKey('limited', ['completions.write'], limits);
  const call = (key: CreatedKey, user: 'plain' | 'silent', virtualKey: string) => ({
    method: 'POST',
    path: '/v1/chat/completions',
    headers: {
      'x-gateway-api-key': key.key,
      'x-gateway-virtual-key': virtualKey,
      'content-type': 'application/json',
    },
    body: bodyOf(user),
    fresh: true,
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  const ask = async (key: CreatedKey, virtualKey = virtualKeys.others): Promise<Seen> => {
    const answer = await service.client.call(call(key, 'plain', virtualKey)).catch(() => null);
    if (!answer) return { status: 0, code: 'never answered' };
    return { status: answer.status, code: answer.status === 200 ? null : jsonOf(answer).error.code };
  };
  const kindsOf = (seen: readonly Seen[]) =>
    [...new Set(seen.map(({ status, code }) => `${status} ${code}`))].sort();

  const known = async (key: CreatedKey, virtualKey: string): Promise<void> => {
    let seen: Seen[] = [];
    const isKnown = async (): Promise<boolean> => {
      seen = await inParallel(Array<null>(12).fill(null), 2, () => ask(key, virtualKey));
      return seen.every(({ status }) => status === 200);
    };
    await eventually(isKnown, { withinMs: 30_000, what: 'a known key' }).catch(() =>
      expect(kindsOf(seen)).toEqual(['200 null']),
    );
  };

  async function underLoad(
    keys: readonly (readonly [CreatedKey, string])[],
    work: () => Promise<void>,
  ): Promise<Seen[][]> {
    let isOver = false;
    const lane = async (key: CreatedKey, virtualKey: string, seen: Seen[]): Promise<void> => {
      while (!isOver) {
        seen.push(await ask(key, virtualKey));
        await sleep(PAUSE_MS);
      }
    };
    const seen: Seen[][] = keys.map(() => []);
    const lanes = keys.flatMap(([key, virtualKey], at) =>
      Array.from({ length: LANES }, () => lane(key, virtualKey, seen[at] ?? [])),
    );
    try {
      await work();
    } finally {
      isOver = true;
      await Promise.all(lanes);
    }
    return seen;
  }

  async function bothOutages({ proxy, kill, start }: Store): Promise<void> {
    await sleep(BETWEEN_MS);
    await kill();
    await sleep(OUTAGE_S * 1_000);
    await start();
    await sleep(BETWEEN_MS);
    proxy.mode = 'blackhole';
    await sleep(OUTAGE_S * 1_000);
    proxy.mode = 'refuse';
    proxy.mode = 'pass';
    await sleep(BETWEEN_MS);
  }

  const booksOf = ({ id }: CreatedKey) =>
    withDatabase(service, async (client) => {
      const { rows } = await client.query<Record<'counter' | 'ledger' | 'leased', string>>(
        `SELECT c.spent AS counter,
           (SELECT coalesce(sum(a.cost_nano_usd), 0) FROM request_attempts a WHERE a.charged ? c.key) AS ledger,
           (SELECT coalesce(sum(l.amount), 0) FROM limit_leases l WHERE l.counter = c.key) AS leased
         FROM api_keys k, limit_counters c WHERE k.id = $1 AND c.limit_id = (k.usage_limits->0->>'id')::uuid`,
        [id],
      );
      const [row] = rows;
      return { counter: Number(row?.counter), ledger: Number(row?.ledger), leased: Number(row?.leased) };
    });

  it(
    'no budget is passed, nothing else is refused, and afterwards every limit holds again',
    { timeout: OUTAGE_S * 10_000 + 240_000 },
    async ({ skip }) => {
      if (!store) return skip('There is no redis-server on this machine.');
      const requests = PER_SECOND * (OUTAGE_S + 2);
      const budget = requests * COST;
      const budgeted = await keyWith({ usage_limits: { credit_limit: budget / 1e9 } });
      const free = await keyWith({});
      const rated = await keyWith({ rate_limits: { type: 'requests', unit: 'rpm', value: 1_000_000 } });
      const counted = await keyWith({ rate_limits: { type: 'concurrency', value: SLOTS } });
      const keys = [budgeted, free, rated, counted].map(
        (key) => [key, key === budgeted ? virtualKeys.metered : virtualKeys.others] as const,
      );
      // Every process has to know the keys before their database may go away.
      for (const [key, virtualKey] of keys) await known(key, virtualKey);

      const [ofBudget = [], ...ofOthers] = await underLoad(keys, () => bothOutages(store as Store));

      console.log(
        `${name}: ${[ofBudget, ...ofOthers].map((seen) => `${seen.length} (${kindsOf(seen).join(', ')})`).join('; ')}`,
      );
      expect(metered.bill, 'spent while the store came and went').toBeLessThanOrEqual(BigInt(budget));
      for (const seen of ofOthers) {
        expect(kindsOf(seen)).toEqual(['200 null']);
        expect(seen.length).toBeGreaterThan(OUTAGE_S);
      }
      const refusals = ['402 budget_exceeded', ...(name === 'PostgreSQL' ? ['503 limits_unavailable'] : [])];
      expect(kindsOf(ofBudget).filter((kind) => kind !== '200 null' && !refusals.includes(kind))).toEqual([]);

      // What nobody used is given back, so that the budget is spent to its end.
      await eventually(
        async () => {
          const wave = await inParallel(Array(40).fill(null), 20, () => ask(budgeted, virtualKeys.metered));
          if (!wave.every(({ status }) => status === 402)) return false;
          const { counter, leased } = await booksOf(budgeted);
          return counter === budget && leased === 0;
        },
        { withinMs: 120_000, everyMs: 250, what: 'the budget to be spent to its end' },
      ).catch(async () =>
        expect(await booksOf(budgeted)).toEqual({ counter: budget, ledger: budget, leased: 0 }),
      );
      expect(metered.bill).toBe(BigInt(budget));
      expect(await booksOf(budgeted)).toEqual({ counter: budget, ledger: budget, leased: 0 });

      // A rate is open until each process has found its store again.
      const began = Date.now();
      await eventually(
        async () => {
          const again = await keyWith({ rate_limits: { type: 'requests', unit: 'rpm', value: RATE } });
          const burst = await inParallel(Array<null>(3 * RATE).fill(null), RATE, () => ask(again));
          return isDeepStrictEqual(burst.map(({ code }) => code ?? '').sort(), [
            ...Array<string>(RATE).fill(''),
            ...Array<string>(2 * RATE).fill('rate_limited'),
          ]);
        },
        { withinMs: 20_000, what: `exactly ${RATE} requests to be admitted` },
      );
      console.log(`rates hold again after ${Date.now() - began} ms`);

      // No slot got lost on the way to or from the store, and none is given twice.
      const streams = await eventually(
        async () => {
          const opened = await Promise.all(
            Array.from({ length: 2 * SLOTS }, () =>
              service.client.open(call(counted, 'silent', virtualKeys.others)),
            ),
          );
          const running = opened.filter(({ status }) => status === 200);
          if (running.length === SLOTS) return opened;
          for (const { request, stream } of opened) {
            stream.on('error', () => undefined);
            request.destroy();
          }
          return null;
        },
        { withinMs: 20_000, everyMs: 1_000, what: `exactly ${SLOTS} slots` },
      );
      for (const { request, stream } of streams) {
        stream.on('error', () => undefined);
        request.destroy();
      }

      const settings = { DATABASE_URL: databaseUrlOf(service), GATEHOUSE_DATA_DIR: service.facts.dataDir };
      const verified = await eventually(
        async () => {
          const run = await runToEnd(['verify', 'money'], settings, 60_000);
          return run.code === 0 ? run : null;
        },
        { withinMs: 60_000, everyMs: 1_000, what: 'books that agree' },
      );
      expect(verified.output).toMatch(/Budgets against the charges of attempts\D+\d+\s+0\b/);
    },
  );
});
