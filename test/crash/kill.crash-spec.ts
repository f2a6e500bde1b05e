import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withDatabase } from '../support/database-dump.js';
import { portRange } from '../support/ports.js';
import { isAlive } from '../support/process-tree.js';
import type { LogRow } from '../support/request-logs.js';
import { type OwnService, startService } from '../support/service.js';
import { Started } from '../support/started.js';
import { eventually, sleep } from '../support/waiting.js';
import { World } from '../support/world.js';

/**
 * P3, P4, O01, O02, O04: kill -9 under load. Three ledgers are compared: what the clients saw, what reached the
 * provider, and what the log says. Nothing may be lost, doubled, made up or priced wrongly.
 */
const ROUNDS = Number(process.env['CRASH_ROUNDS'] ?? 3);
const CLIENTS = 12;
const STREAM_SHARE = 0.3;
const LOAD_MS = 2_500;
const SETTLE_MS = 90_000;
const EVENTS = 12;
const EVENT_MS = 30;
/** Longer than any answer takes, also from a process that has just been started. */
const PATIENCE_MS = 12_000;
/** gpt-4o-mini: $0.15 and $0.60 per million tokens, in nano-dollars per token. */
const COST = 40 * 150 + 25 * 600;
const MODEL = 'gpt-4o-mini-2024-07-18';
const USAGE = { prompt_tokens: 40, completion_tokens: 25, total_tokens: 65 };

type Victim = 'gateway' | 'administration' | 'worker' | 'postgres';

/** One request as its client saw it. */
interface Seen {
  readonly id: string;
  readonly isStream: boolean;
  /** `hung`: neither an answer nor the end of the connection within `PATIENCE_MS`. */
  outcome: 'ok' | 'unknown' | 'hung';
  requestId: string;
}

const started = new Started();
let service: OwnService;
let world: World;
/** Older rows belong to earlier rounds. */
let roundBegan = new Date();

beforeAll(async () => {
  service = await startService({
    egressPorts: await portRange(4),
    env: { GATEHOUSE_PROCESSES: '2', GATEHOUSE_DRAIN_DELAY_MS: '0' },
  });
  started.add(service, (it) => it.dispose());
  world = started.add(await World.create('crash', service), (it) => it.close());
  const chunk = (more: object): string =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: MODEL, ...more })}\n\n`;
  world.upstream.on('/base/v9/chat/completions', async ({ body }) => {
    const { stream } = JSON.parse(body.toString()) as { stream: boolean };
    if (!stream) {
      await sleep(Math.random() * 40);
      const answer = {
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: MODEL,
        choices: [{ index: 0, message: { role: 'assistant', content: 'well' }, finish_reason: 'stop' }],
        usage: USAGE,
      };
      return { headers: [['content-type', 'application/json']], body: JSON.stringify(answer) };
    }
    return {
      headers: [['content-type', 'text/event-stream']],
      body: async (response) => {
        for (let i = 0; i < EVENTS && !response.destroyed; i++) {
          response.write(
            chunk({ choices: [{ index: 0, delta: { content: 'well ' }, finish_reason: null }] }),
          );
          await sleep(EVENT_MS);
        }
        response.write(chunk({ choices: [], usage: USAGE }));
        response.write('data: [DONE]\n\n');
      },
    };
  });
});
afterAll(() => started.end());

/** One request, from its invocation to whatever became of it. */
async function ask(round: string, n: number): Promise<Seen> {
  const isStream = Math.random() < STREAM_SHARE;
  const seen: Seen = { id: `${round}-${n}`, isStream, outcome: 'unknown', requestId: '' };
  const signal = AbortSignal.timeout(PATIENCE_MS);
  try {
    const answer = await service.client.call({
      method: 'POST',
      path: '/v1/chat/completions',
      fresh: true,
      signal,
      headers: { ...world.headers, 'x-gateway-trace-id': seen.id, 'x-exchange': seen.id },
      body: {
        model: 'gpt-4o-mini',
        stream: isStream,
        stream_options: { include_usage: true },
        messages: [{ role: 'user', content: seen.id }],
      },
    });
    seen.requestId = answer.requestId;
    const isWhole = isStream ? answer.body.toString().endsWith('data: [DONE]\n\n') : answer.body.length > 0;
    if (answer.status === 200 && isWhole) seen.outcome = 'ok';
  } catch {
    if (signal.aborted) seen.outcome = 'hung';
    await sleep(20);
  }
  return seen;
}

/** A process that only exists does not accept yet: killing the other one then would leave nobody. */
async function allServe(): Promise<boolean> {
  const { gateway, administration, worker } = await service
    .serving()
    .catch((): Readonly<Record<string, number>> => ({}));
  return gateway === 2 && administration === 1 && worker === 1 && (await service.ready());
}

function pidOf(victim: Victim): number | null {
  const { gateways, ...others } = service.pids;
  if (victim === 'gateway') return gateways[Math.floor(Math.random() * gateways.length)] ?? null;
  return others[victim];
}

/** Load for a while, with a kill somewhere in it. */
async function underLoad(round: string, victim: Victim): Promise<Seen[]> {
  const seen: Seen[] = [];
  let isOver = false;
  let n = 0;
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (!isOver) {
      seen.push(await ask(round, n++));
      await sleep(2);
    }
  });
  await sleep(LOAD_MS * (0.2 + Math.random() * 0.4));
  const pid = pidOf(victim);
  if (pid === null) throw new Error(`There is no ${victim}.`);
  process.kill(pid, 'SIGKILL');
  await sleep(LOAD_MS * 0.5);
  expect(isAlive(pid)).toBe(false);
  isOver = true;
  await Promise.all(clients);
  return seen;
}

/** Provider's ledger of a round: how often each request reached it. */
function reached(round: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { headers } of world.upstream.ledger) {
    const id = headers.find(([name]) => name === 'x-exchange')?.[1] ?? '';
    if (id.startsWith(`${round}-`)) counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return counts;
}

async function rowsOf(round: string): Promise<LogRow[]> {
  return (await world.rows(roundBegan)).filter(({ trace_id }) => trace_id.startsWith(`${round}-`));
}

/** Waits until every request that must have a row has one. */
async function settledRows(round: string, mustHave: ReadonlySet<string>): Promise<LogRow[]> {
  const missing = async (): Promise<string[]> => {
    const found = new Set((await rowsOf(round)).map(({ trace_id }) => trace_id));
    return [...mustHave].filter((id) => !found.has(id));
  };
  await eventually(async () => (await missing()).length === 0, {
    withinMs: SETTLE_MS,
    everyMs: 500,
    what: 'all rows',
  }).catch(async () => expect(await missing(), 'lost').toEqual([]));
  await sleep(500);
  return rowsOf(round);
}

function compare(seen: readonly Seen[], calls: ReadonlyMap<string, number>, rows: readonly LogRow[]): void {
  const invoked = new Set(seen.map(({ id }) => id));
  expect(
    [...calls].filter(([, count]) => count > 1),
    'sent to the provider twice',
  ).toEqual([]);
  expect(
    rows.filter(({ trace_id }) => !invoked.has(trace_id)),
    'phantoms',
  ).toEqual([]);
  expect(rows.length - new Set(rows.map(({ trace_id }) => trace_id)).size, 'doubled').toBe(0);
  const byTrace = new Map(rows.map((row) => [row.trace_id, row]));
  const misbilled = seen
    .filter(({ outcome }) => outcome === 'ok')
    .map(({ id, requestId }) => ({ requestId, row: byTrace.get(id) }))
    .filter(
      ({ row, requestId }) =>
        row?.ending !== 'completed' || row.id !== requestId || row.cost_nano_usd !== COST,
    );
  expect(misbilled, 'wrongly recorded').toEqual([]);
}

describe.each<Victim>(['gateway', 'administration', 'worker', 'postgres'])('kill -9 of %s', (victim) => {
  // The administration is on nobody's way: a few kills show it.
  const rounds = Array.from(
    { length: victim === 'administration' ? Math.min(ROUNDS, 3) : ROUNDS },
    (_, i) => i + 1,
  );
  let crashed = 0;

  it.each(rounds)(
    'round %i: nothing lost, doubled, made up or priced wrongly',
    { timeout: LOAD_MS + SETTLE_MS + 60_000 },
    async (n) => {
      if (victim === 'postgres' && service.pids.postgres === null && service.facts.databaseUrl) return;
      roundBegan = new Date();
      const round = `${victim}-${n}-${randomBytes(3).toString('hex')}`;
      const seen = await underLoad(round, victim);
      const calls = reached(round);
      const ok = seen.filter(({ outcome }) => outcome === 'ok').map(({ id }) => id);
      const rows = await settledRows(round, new Set([...ok, ...calls.keys()]));
      compare(seen, calls, rows);
      expect(
        seen.filter(({ outcome }) => outcome === 'hung').map(({ id }) => id),
        'never told that their process is gone',
      ).toEqual([]);

      const unknown = seen.length - ok.length;
      const ended = rows.filter(({ ending }) => ending === 'gateway_crashed').length;
      crashed += ended;
      console.log(
        `${round}: ${seen.length} requests, ${seen.filter(({ isStream }) => isStream).length} streams, ${unknown} unknown, ${ended} gateway_crashed`,
      );
      if (victim === 'gateway')
        expect(unknown, 'more failed than were in flight').toBeLessThanOrEqual(2 * CLIENTS);
      else expect([unknown, ended], 'the data plane goes on').toEqual([0, 0]);
      await eventually(allServe, { what: 'all processes to be back' });
    },
  );

  it('what was in flight at the kill is marked', () => {
    if (victim === 'gateway') expect(crashed).toBeGreaterThan(0);
    else expect(crashed).toBe(0);
  });
});

describe('after all of this', () => {
  it(
    'P4: the rollup counts every row once and its money to the nano-dollar',
    { timeout: 120_000 },
    async () => {
      const totals = () =>
        withDatabase(service, async (client) => {
          const { rows } = await client.query<{
            logged: string;
            cost: string;
            rolled: string;
            rolled_cost: string;
          }>(
            `SELECT (SELECT count(*) FROM request_logs WHERE api_key_id = $1) AS logged,
                  (SELECT coalesce(sum(cost_nano_usd), 0) FROM request_logs WHERE api_key_id = $1) AS cost,
                  (SELECT coalesce(sum(requests), 0) FROM usage_minute WHERE api_key_id = $1) AS rolled,
                  (SELECT coalesce(sum(cost_nano_usd), 0) FROM usage_minute WHERE api_key_id = $1) AS rolled_cost`,
            [world.apiKey.id],
          );
          return rows[0];
        });
      await eventually(
        async () => {
          const now = await totals();
          return now?.logged === now?.rolled;
        },
        { withinMs: 60_000, everyMs: 1_000, what: 'the rollup' },
      ).catch(() => undefined);
      const now = await totals();
      expect(Number(now?.logged)).toBeGreaterThan(0);
      expect([now?.rolled, now?.rolled_cost]).toEqual([now?.logged, now?.cost]);
    },
  );

  it('the spool is empty of what was stored, and no record was laid aside', async () => {
    const dead = await withDatabase(service, (client) =>
      client.query('SELECT reason FROM request_log_dead_letters'),
    );
    expect(dead.rows).toEqual([]);
  });

  it('no secret appears anywhere', () => world.checkCanaries());
});
