import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withDatabase } from '../support/database-dump.js';
import { type Answer, jsonOf } from '../support/http-client.js';
import { portRange } from '../support/ports.js';
import { type OwnService, runToEnd, startService } from '../support/service.js';
import { Administration, type CreatedKey } from '../support/administration.js';
import { type Behaviour, BillingUpstream, priceOf } from '../support/upstreams/billing.js';
import { databaseUrlOf } from '../support/database-dump.js';
import { eventually, inParallel, sleep } from '../support/waiting.js';

const OUTPUT = 100;
const NANO = 1e9;
/** Starting processes takes long where many others run. */
const PATIENCE_MS = 240_000;

let service: OwnService;
let upstream: BillingUpstream;
let administration: Administration;
let virtualKey: string;

beforeAll(async () => {
  const ports = await portRange(8);
  upstream = await BillingUpstream.start(ports);
  service = await startService({
    egressPorts: ports,
    env: { GATEHOUSE_PROCESSES: '4', GATEHOUSE_DRAIN_DELAY_MS: '0' },
  });
  administration = new Administration(service);
  virtualKey = await administration.createVirtualKey({
    name: 'billing',
    secret: 'sk-billing',
    customHost: `${upstream.url}/v1`,
  });
});
afterAll(async () => {
  await service.dispose();
  await upstream.stop();
});

const BODY_BYTES = 220;

/**
 * All behaviours give bodies of one length, so that each request costs the same: this provider bills bytes. Streams request their usage
 * themselves, so that the gateway adds nothing.
 */
function bodyOf(behaviour: Behaviour): string {
  const isStream = behaviour === 'stream' || behaviour === 'silent';
  const withContent = (content: string): string =>
    JSON.stringify({
      model: 'gpt-4o-mini',
      max_tokens: OUTPUT,
      messages: [{ role: 'user', content }],
      stream: isStream,
      ...(isStream && { stream_options: { include_usage: true } }),
      user: behaviour,
    });
  return withContent('x'.repeat(BODY_BYTES - withContent('').length));
}
const COST = priceOf(bodyOf('plain'), OUTPUT);
const headers = (key: string, slug = virtualKey) => ({
  'x-gateway-api-key': key,
  'x-gateway-virtual-key': slug,
  'content-type': 'application/json',
});
const ask = (key: string, behaviour: Behaviour = 'plain', slug = virtualKey): Promise<Answer> =>
  service.client.call({
    method: 'POST',
    path: '/v1/chat/completions',
    headers: headers(key, slug),
    body: bodyOf(behaviour),
    fresh: true,
  });
/** Asks for an answer that never ends, and leaves after its first words. */
async function hangUp(key: string): Promise<number> {
  const answer = await open(key);
  if (answer.status === 200) await new Promise((done) => answer.stream.once('data', done));
  answer.request.destroy();
  return answer.status;
}
const open = (key: string) =>
  service.client.open({
    method: 'POST',
    path: '/v1/chat/completions',
    headers: headers(key),
    body: bodyOf('silent'),
    fresh: true,
  });
const keyWith = (limits: object): Promise<CreatedKey> =>
  administration.createKey('limited', ['completions.write', 'logs.list'], limits);
const budgetOf = (requests: number) => ({ usage_limits: { credit_limit: (requests * COST) / NANO } });

interface Books {
  readonly counter: number;
  readonly ledger: number;
  readonly leased: number;
}
const booksOf = ({ id }: CreatedKey): Promise<Books> =>
  withDatabase(service, async (client) => {
    const { rows } = await client.query<Record<keyof Books, string>>(
      `SELECT c.spent AS counter,
         (SELECT coalesce(sum(a.cost_nano_usd), 0) FROM request_attempts a WHERE a.charged ? c.key) AS ledger,
         (SELECT coalesce(sum(l.amount), 0) FROM limit_leases l WHERE l.counter = c.key) AS leased
       FROM api_keys k, limit_counters c WHERE k.id = $1 AND c.limit_id = (k.usage_limits->0->>'id')::uuid`,
      [id],
    );
    const [row] = rows;
    return {
      counter: Number(row?.counter ?? 0),
      ledger: Number(row?.ledger ?? 0),
      leased: Number(row?.leased ?? 0),
    };
  });
const settled = (key: CreatedKey, nano: number): Promise<Books> =>
  eventually(
    async () => {
      const books = await booksOf(key);
      return books.counter === nano && books.leased === 0 ? books : null;
    },
    { withinMs: 40_000, what: `a counter of ${nano}` },
  );
/** When the gateway took a request, milliseconds: its id begins with that (https://www.rfc-editor.org/rfc/rfc9562#section-5.7). */
const counted = (statuses: readonly number[], status: number): number =>
  statuses.filter((each) => each === status).length;

describe('a budget that pays for 100 requests', () => {
  it('admits exactly 100 of 500 that come at once to four processes, and every book says the same', async () => {
    const key = await keyWith(budgetOf(100));
    const before = upstream.bill;

    const answers = await inParallel(Array.from({ length: 500 }), 500, (_, at) =>
      ask(key.key, at % 2 === 0 ? 'plain' : 'stream'),
    );

    const statuses = answers.map(({ status }) => status);
    expect(counted(statuses, 200)).toBe(100);
    expect(counted(statuses, 402)).toBe(400);
    expect(upstream.bill - before).toBe(BigInt(100 * COST));
    expect(await settled(key, 100 * COST)).toMatchObject({ ledger: 100 * COST });
    const refused = answers.find(({ status }) => status === 402);
    expect(refused?.headers['x-should-retry']).toBe('false');
    expect(jsonOf(await administration.call('GET', `/v1/api-keys/${key.id}`))).toMatchObject({
      status: 'exhausted',
      usage_limits: { usage: (100 * COST) / NANO },
    });
  });

  it('I02: that is spent makes the official client call once, and reaches no provider', async () => {
    const key = await keyWith(budgetOf(8));
    const spent = await inParallel(Array.from({ length: 8 }), 1, () => ask(key.key));
    expect(spent.map(({ status }) => status)).toEqual(Array(8).fill(200));
    const before = upstream.bill;
    let tries = 0;
    const client = new OpenAI({
      apiKey: key.key,
      baseURL: `${service.baseUrl}/v1`,
      maxRetries: 3,
      defaultHeaders: { 'x-gateway-virtual-key': virtualKey },
      fetch: (...call) => {
        tries += 1;
        return fetch(...call);
      },
    });

    await expect(
      client.chat.completions.create({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'x' }] }),
    ).rejects.toMatchObject({ status: 402, code: 'budget_exceeded' });
    expect(tries).toBe(1);
    expect(upstream.bill).toBe(before);
  });

  it('I18: of a workspace admits exactly as many, however many keys share it', async () => {
    const { usage_limits } = budgetOf(20);
    const workspace = await administration.ask('POST', '/v1/admin/workspaces', {
      name: 'With a budget',
      usage_limits: [usage_limits],
    });
    const customHost = `${upstream.url}/v1`;
    const wish = { name: 'billing of one', secret: 'sk-billing', customHost, workspaceId: workspace.id };
    const slug = await administration.createVirtualKey(wish);
    const keys = await inParallel(Array.from({ length: 50 }), 10, () =>
      administration.createKey('one of fifty', ['completions.write'], { workspace_id: workspace.id }),
    );
    const before = upstream.bill;

    const answers = await inParallel([...keys, ...keys], 100, ({ key }) => ask(key, 'plain', slug));

    const statuses = answers.map(({ status }) => status);
    expect([counted(statuses, 200), counted(statuses, 402)]).toEqual([20, 80]);
    expect(upstream.bill - before).toBe(BigInt(20 * COST));
  });

  it(
    'is spent to the last nano-dollar and never passed, whatever fails and whoever leaves',
    { timeout: PATIENCE_MS },
    async () => {
      const key = await keyWith(budgetOf(100));
      const before = upstream.bill;
      const behaviours: Behaviour[] = [
        'plain',
        'silent',
        'stream',
        'fail',
        'silent',
        'plain',
        'stream',
        'silent',
        'fail',
        'plain',
      ];

      const mixed = await inParallel(Array.from({ length: 300 }), 120, async (_, at) => {
        const behaviour = behaviours[at % behaviours.length] ?? 'plain';
        return behaviour === 'silent' ? hangUp(key.key) : (await ask(key.key, behaviour)).status;
      });
      expect(upstream.bill - before).toBeLessThanOrEqual(BigInt(100 * COST));
      expect(counted(mixed, 500)).toBeGreaterThan(0);
      let wave: number[];
      do {
        await sleep(1_500);
        wave = (await inParallel(Array.from({ length: 40 }), 40, () => ask(key.key))).map(
          ({ status }) => status,
        );
      } while (counted(wave, 402) < 40);

      expect(upstream.bill - before).toBe(BigInt(100 * COST));
      expect(await settled(key, 100 * COST)).toMatchObject({ ledger: 100 * COST });
    },
  );

  it(
    'is charged the reservation of what a killed process had sent, and nothing of it is spent again',
    { timeout: PATIENCE_MS },
    async () => {
      const key = await keyWith(budgetOf(8));
      const open8 = await Promise.all(Array.from({ length: 8 }, () => open(key.key)));
      expect(open8.map(({ status }) => status)).toEqual(Array(8).fill(200));
      for (const { stream } of open8) stream.on('error', () => undefined);
      expect((await ask(key.key)).status).toBe(402);

      for (const pid of service.pids.gateways) process.kill(pid, 'SIGKILL');
      await service.untilReady(60_000);
      const books = await eventually(
        async () => {
          const found = await booksOf(key);
          return found.leased === 0 && found.counter > 0 ? found : null;
        },
        { withinMs: 60_000, what: 'the leases to end' },
      );

      expect(books.counter).toBe(books.ledger);
      const answers = await inParallel(Array.from({ length: 20 }), 20, () => ask(key.key));
      expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(402));
    },
  );
});

describe('a limit of 3 requests at the same time', () => {
  it('refuses the fourth, and lets one in when one has left', async () => {
    const key = await keyWith({ rate_limits: { type: 'concurrency', value: 3 } });
    const running = await Promise.all(Array.from({ length: 8 }, () => open(key.key)));
    const [first] = running.filter(({ status }) => status === 200);

    expect(
      counted(
        running.map(({ status }) => status),
        200,
      ),
    ).toBe(3);
    expect(
      counted(
        running.map(({ status }) => status),
        429,
      ),
    ).toBe(5);
    first?.request.destroy();
    await eventually(async () => (await ask(key.key)).status === 200, {
      what: 'a free place',
    });

    for (const { request } of running) request.destroy();
  });
});

describe('gatehouse verify money', () => {
  const verify = (...more: string[]) =>
    runToEnd(
      ['verify', 'money', ...more],
      { DATABASE_URL: databaseUrlOf(service), GATEHOUSE_DATA_DIR: service.facts.dataDir },
      60_000,
    );

  it('finds that all books agree, and names the one that does not', { timeout: PATIENCE_MS }, async () => {
    // They do as soon as all that was asked above is stored and its leases are given back.
    await eventually(async () => (await verify()).code === 0, {
      withinMs: 60_000,
      everyMs: 500,
      what: 'books that agree',
    });
    await withDatabase(service, (client) =>
      client.query("UPDATE limit_counters SET spent = spent + 7 WHERE measure = 'cost' AND spent > 0"),
    );

    const wrong = await verify();
    expect(wrong.code).toBe(1);
    expect(wrong.output).toContain('unexplained');

    expect(await verify('--repair')).toMatchObject({ code: 0 });
    expect(await verify()).toMatchObject({ code: 0 });
  });
});
