import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Administration, type CreatedKey } from '../support/administration.js';
import { databaseUrlOf, withDatabase } from '../support/database-dump.js';
import { portRange } from '../support/ports.js';
import { type OwnService, runToEnd, startService } from '../support/service.js';
import { Started } from '../support/started.js';
import {
  BURST,
  costOf,
  GeneratingUpstream,
  type Generation,
  OUTPUT_NANO,
} from '../support/upstreams/generating.js';
import { eventually, sleep } from '../support/waiting.js';

/**
 * Streams under a budget, of whose clients a third hang up, from four gateway processes, of which one is killed. The provider keeps its own
 * bill. It is never above the budget, and never above what the ledger says, but for what the provider generates after a cut.
 *
 * `SETTLEMENT_ROUNDS=20 npx vitest run --project crash test/crash/settlement` is the long run.
 */
const ROUNDS = Number(process.env['SETTLEMENT_ROUNDS'] ?? 2);
const PROCESSES = 4;
const STREAMS = 120;
const HANG_UPS = 0.3;
const OUTPUT = 40;
const TOKEN_MS = 25;
const SETTLE_MS = 90_000;
/** Fewer than all can be paid, so that the budget refuses some. */
const PAID = 90;

const bodyOf = (user: string): string =>
  JSON.stringify({
    model: 'gpt-4o-mini',
    max_tokens: OUTPUT,
    stream: true,
    // Else the gateway would add it, and this provider bills bytes.
    stream_options: { include_usage: true },
    messages: [{ role: 'user', content: 'Hello' }],
    user,
  });
/** `held`: tokens after which the provider waits for its reader to leave; 0 for never. All ids are equally long. */
const idOf = (round: string, n: number, held = 0): string =>
  `${round}-${String(n).padStart(4, '0')}-h${String(held).padStart(2, '0')}`;
const MOST = costOf(Buffer.byteLength(bodyOf(idOf('xxxxxxxx', 0))), OUTPUT);

interface Books {
  readonly counter: number;
  readonly ledger: number;
  readonly leased: number;
  readonly estimated: number;
}

const started = new Started();
let service: OwnService;
let administration: Administration;
let upstream: GeneratingUpstream;
let virtualKey: string;

beforeAll(async () => {
  const ports = await portRange(4);
  service = await startService({
    egressPorts: ports,
    env: { GATEHOUSE_PROCESSES: String(PROCESSES), GATEHOUSE_DRAIN_DELAY_MS: '0' },
  });
  started.add(service, (it) => it.dispose());
  administration = new Administration(service);
  upstream = started.add(await GeneratingUpstream.start(ports, TOKEN_MS), (it) => it.stop());
  virtualKey = await administration.createVirtualKey({
    name: 'generating',
    secret: 'sk-generating',
    customHost: `${upstream.url}/v1`,
  });
});
afterAll(() => started.end());

type Rule = 'finish' | 'cancel';

/** How the client of a stream hangs up: after so many milliseconds, or once it has received so many events. */
interface HangUp {
  readonly afterMs?: number;
  readonly afterEvents?: number;
}

async function ask(key: CreatedKey, id: string, rule: Rule, { afterMs, afterEvents }: HangUp): Promise<void> {
  const leave = new AbortController();
  const timer = afterMs === undefined ? null : setTimeout(() => leave.abort(), afterMs);
  try {
    const { stream } = await service.client.open({
      method: 'POST',
      path: '/v1/chat/completions',
      fresh: true,
      signal: leave.signal,
      headers: {
        'x-gateway-api-key': key.key,
        'x-gateway-config': JSON.stringify({ virtual_key: virtualKey, on_client_disconnect: rule }),
        'x-gateway-trace-id': id,
        'content-type': 'application/json',
      },
      body: bodyOf(id),
    });
    let events = 0;
    for await (const chunk of stream) {
      events += (chunk as Buffer).toString().split('data: ').length - 1;
      if (afterEvents !== undefined && events >= afterEvents) leave.abort();
    }
  } catch {
    // It hung up, or its process was killed.
  } finally {
    if (timer) clearTimeout(timer);
  }
}

/** With "cancel" the provider waits for the cut, so that it knows exactly what it generated before. */
function hangUpOf(rule: Rule): HangUp & { readonly held: number } {
  if (Math.random() >= HANG_UPS) return { held: 0 };
  if (rule === 'finish') return { held: 0, afterMs: 100 + Math.random() * 900 };
  const held = BURST + 1 + Math.floor(Math.random() * (OUTPUT / 2));
  return { held, afterEvents: held - BURST };
}

function booksOf({ id }: CreatedKey): Promise<Books> {
  return withDatabase(service, async (client) => {
    const { rows } = await client.query<Record<keyof Books, string>>(
      `SELECT c.spent AS counter,
         (SELECT coalesce(sum(a.cost_nano_usd), 0) FROM request_attempts a WHERE a.charged ? c.key) AS ledger,
         (SELECT coalesce(sum(a.cost_nano_usd), 0) FROM request_attempts a WHERE a.charged ? c.key AND a.estimated)
           AS estimated,
         (SELECT coalesce(sum(l.amount), 0) FROM limit_leases l WHERE l.counter = c.key) AS leased
       FROM api_keys k, limit_counters c WHERE k.id = $1 AND c.limit_id = (k.usage_limits->0->>'id')::uuid`,
      [id],
    );
    const { counter, ledger, leased, estimated } = rows[0] ?? {
      counter: 0,
      ledger: 0,
      leased: 0,
      estimated: 0,
    };
    return {
      counter: Number(counter),
      ledger: Number(ledger),
      leased: Number(leased),
      estimated: Number(estimated),
    };
  });
}

/** Cost of each request that reached the provider, by its id. */
function costsOf(round: string): Promise<Map<string, number | null>> {
  return withDatabase(service, async (client) => {
    const { rows } = await client.query<{ trace_id: string; cost_nano_usd: string | null }>(
      'SELECT trace_id, cost_nano_usd FROM request_logs WHERE trace_id LIKE $1',
      [`${round}-%`],
    );
    return new Map(
      rows.map(({ trace_id, cost_nano_usd }) => [
        trace_id,
        cost_nano_usd === null ? null : Number(cost_nano_usd),
      ]),
    );
  });
}

interface Round {
  readonly key: CreatedKey;
  readonly budget: number;
  readonly generations: readonly Generation[];
  readonly costs: ReadonlyMap<string, number | null>;
  readonly books: Books;
}

/** A round of streams, until everything is generated and stored. */
async function play(rule: Rule, hasKill: boolean): Promise<Round> {
  const round = Math.random().toString(36).slice(2, 10).padEnd(8, '0');
  const budget = PAID * MOST;
  const key = await administration.createKey('settled', ['completions.write'], {
    usage_limits: { credit_limit: budget / 1e9 },
  });
  upstream.generations.clear();
  const streams = Array.from({ length: STREAMS }, async (_, n) => {
    await sleep(Math.random() * 600);
    const hangUp = hangUpOf(rule);
    await ask(key, idOf(round, n, hangUp.held), rule, hangUp);
  });
  if (hasKill) await killOne();
  await Promise.all(streams);
  await eventually(() => upstream.isIdle, { withinMs: SETTLE_MS, what: 'the provider to end' });
  const sent = [...upstream.generations.keys()];
  await eventually(
    async () => {
      const [costs, books] = [await costsOf(round), await booksOf(key)];
      return sent.every((id) => costs.has(id)) && books.leased === 0;
    },
    { withinMs: SETTLE_MS, everyMs: 250, what: 'every request to be stored' },
  );
  await eventually(async () => (await service.serving())['gateway'] === PROCESSES, {
    withinMs: SETTLE_MS,
    what: 'all processes',
  });
  const generations = [...upstream.generations.values()];
  return { key, budget, generations, costs: await costsOf(round), books: await booksOf(key) };
}

async function killOne(): Promise<void> {
  await sleep(500 + Math.random() * 700);
  const { gateways } = service.pids;
  const pid = gateways[Math.floor(Math.random() * gateways.length)];
  if (pid === undefined) throw new Error('There is no gateway process.');
  process.kill(pid, 'SIGKILL');
}

function say(name: string, { budget, books }: Round): void {
  const dollars = (nano: number): string => `$${(nano / 1e9).toFixed(6)}`;
  console.log(
    `${name}: budget ${dollars(budget)}, bill ${dollars(upstream.bill)}, ledger ${dollars(books.ledger)},` +
      ` of it estimated ${dollars(books.estimated)}`,
  );
}

describe('streams under a budget, with hang-ups and a kill', () => {
  it.each(Array.from({ length: ROUNDS }, (_, index) => index + 1))(
    'round %i: with "finish" the bill is within the budget, and within the ledger',
    { timeout: 2 * SETTLE_MS + 60_000 },
    async (n) => {
      const round = await play('finish', true);

      say(`finish ${n}`, round);
      const { budget, books, generations, costs } = round;
      expect(generations.length).toBeGreaterThan(PAID / 2);
      expect(upstream.bill).toBeLessThanOrEqual(budget);
      expect(books.ledger).toBeGreaterThanOrEqual(upstream.bill);
      expect(books.counter).toBe(books.ledger);
      const cheaper = generations.filter(
        ({ id, input, produced }) => (costs.get(id) ?? 0) < costOf(input, produced),
      );
      expect(cheaper).toEqual([]);
      // What has an end on record is exact; only the killed process's streams are estimates.
      expect(books.ledger - upstream.bill).toBeLessThanOrEqual(books.estimated);
    },
  );

  it.each(Array.from({ length: ROUNDS }, (_, index) => index + 1))(
    'round %i: with "cancel" only what the provider generates after the cut is missing',
    { timeout: 2 * SETTLE_MS + 60_000 },
    async (n) => {
      const round = await play('cancel', false);

      say(`cancel ${n}`, round);
      const { books, generations, costs, budget } = round;
      expect(generations.some(({ beforeCut }) => beforeCut !== null)).toBe(true);
      const wrong = generations.filter(
        ({ id, input, produced, beforeCut }) => costs.get(id) !== costOf(input, beforeCut ?? produced),
      );
      expect(wrong.map((one) => ({ ...one, cost: costs.get(one.id) }))).toEqual([]);
      const afterCut = generations.reduce(
        (sum, { produced, beforeCut }) => sum + (produced - (beforeCut ?? produced)) * OUTPUT_NANO,
        0,
      );
      expect(upstream.bill - books.ledger).toBe(afterCut);
      expect(books.ledger).toBeLessThanOrEqual(budget);
      expect(books.counter).toBe(books.ledger);
    },
  );

  it('is distinguished by the command that verifies the ledger, which finds no difference', async () => {
    const settings = { DATABASE_URL: databaseUrlOf(service), GATEHOUSE_DATA_DIR: service.facts.dataDir };

    const { code, output } = await runToEnd(['verify', 'money'], settings, 60_000);

    expect(output).toMatch(/Budgets against the charges of attempts\D+\d+\s+0\b/);
    expect(output).toMatch(/counter \S+: \d+ of \d+ nano-dollars are estimates/);
    expect(code).toBe(0);
  });
});
