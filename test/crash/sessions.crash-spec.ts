import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { Administration, type CreatedKey } from '../support/administration.js';
import { databaseUrlOf, withDatabase } from '../support/database-dump.js';
import { portRange } from '../support/ports.js';
import { type OwnService, runToEnd, startService } from '../support/service.js';
import { Started } from '../support/started.js';
import { RealtimeUpstream } from '../support/upstreams/realtime.js';
import { eventually } from '../support/waiting.js';

/**
 * Realtime sessions whose gateway processes are killed in the middle of a response. The provider keeps its own bill; budgets, log and
 * `verify money` say at least as much.
 */
const SESSIONS = 6;
const RESPONSES = 5;
/** $4 and $16 per million tokens of text. */
const RESPONSE_NANO = 1_000 * 4_000 + 500 * 16_000;
const SETTLE_MS = 120_000;

const started = new Started();
let service: OwnService;
let upstream: RealtimeUpstream;
let slug: string;
let budgeted: CreatedKey;
let unlimited: CreatedKey;
let bill = 0;

beforeAll(async () => {
  const ports = await portRange(2);
  service = await startService({ egressPorts: ports, env: { GATEHOUSE_PROCESSES: '2' }, withinMs: 240_000 });
  started.add(service, (it) => it.dispose());
  upstream = started.add(await RealtimeUpstream.start(ports), (it) => it.stop());
  const administration = new Administration(service);
  slug = await administration.createVirtualKey({
    name: 'sessions',
    secret: 'sk-sessions',
    customHost: `http://127.0.0.1:${upstream.port}/v1`,
  });
  budgeted = await administration.createKey('budgeted', ['completions.write'], {
    usage_limits: { credit_limit: 100 },
  });
  unlimited = await administration.createKey('unlimited', ['completions.write']);
  upstream.play = (socket) => {
    const send = (event: object): void => socket.send(JSON.stringify(event));
    const usage = { input_tokens: 1_000, output_tokens: 500 };
    let responses = 0;
    socket.on('message', () => {
      // The provider bills every response that it begins.
      bill += RESPONSE_NANO;
      send({ type: 'response.created', response: {} });
      if (++responses <= RESPONSES) send({ type: 'response.done', response: { status: 'completed', usage } });
    });
  };
}, 300_000);
afterAll(() => started.end());

/** Opens a session and has it answer, until its last response is running. */
async function run({ key }: CreatedKey): Promise<string> {
  const socket = new WebSocket(`${service.baseUrl.replace('http', 'ws')}/v1/realtime?model=gpt-realtime`, {
    headers: { 'x-gateway-api-key': key, 'x-gateway-virtual-key': slug },
  });
  socket.on('error', () => undefined);
  let begun = 0;
  let ended = 0;
  socket.on('message', (data: Buffer) => {
    if (data.includes('response.created')) begun += 1;
    if (data.includes('response.done')) ended += 1;
  });
  const id = await new Promise<string>((resolve, reject) => {
    socket.once('upgrade', ({ headers }) => resolve(String(headers['x-gateway-request-id'])));
    socket.once('unexpected-response', (_, { statusCode }) => reject(new Error(`refused: ${statusCode}`)));
  });
  await eventually(() => socket.readyState === WebSocket.OPEN, { what: 'the session to open' });
  for (let turn = 1; turn <= RESPONSES + 1; turn++) {
    socket.send('{"type":"response.create"}');
    await eventually(() => begun === turn, { withinMs: 30_000, what: 'a response to begin' });
    if (turn <= RESPONSES) await eventually(() => ended === turn, { withinMs: 30_000, what: 'its end' });
  }
  return id;
}

const rowsOf = (ids: readonly string[]) =>
  withDatabase(service, async (client) => {
    const { rows } = await client.query<{ cost: string; ending: string; estimated: boolean }>(
      `SELECT a.cost_nano_usd AS cost, r.ending, a.estimated FROM request_logs r
       JOIN request_attempts a ON a.id = r.id WHERE r.id = ANY($1::uuid[])`,
      [ids],
    );
    return rows.map(({ cost, ...rest }) => ({ ...rest, cost: Number(cost) }));
  });

const spentBy = ({ id }: CreatedKey) =>
  withDatabase(service, async (client) => {
    const { rows } = await client.query<{ spent: string }>(
      `SELECT c.spent FROM api_keys k, limit_counters c
       WHERE k.id = $1 AND c.limit_id = (k.usage_limits->0->>'id')::uuid`,
      [id],
    );
    return Number(rows[0]?.spent ?? 0);
  });

it(
  'sessions of killed processes are charged what they used and what their running responses reserved',
  { timeout: 600_000 },
  async () => {
    const ids = await Promise.all(Array.from({ length: SESSIONS }, () => run(budgeted)));
    const billed = bill;
    const free = await run(unlimited);
    for (const pid of service.pids.gateways) process.kill(pid, 'SIGKILL');

    const rows = await eventually(
      async () => {
        const found = await rowsOf([...ids, free]);
        return found.length === SESSIONS + 1 ? found : null;
      },
      { withinMs: SETTLE_MS, everyMs: 500, what: 'every session to be stored' },
    );
    for (const row of rows) {
      expect(row).toMatchObject({ ending: 'gateway_crashed', estimated: true });
      // Its complete responses, and an estimate of the running one.
      expect(row.cost).toBeGreaterThanOrEqual((RESPONSES + 1) * RESPONSE_NANO);
    }
    const ledger = (await rowsOf(ids)).reduce((sum, { cost }) => sum + cost, 0);
    expect(ledger).toBeGreaterThanOrEqual(billed);
    await eventually(async () => (await spentBy(budgeted)) === ledger, {
      withinMs: SETTLE_MS,
      what: 'a budget equal to the ledger',
    });

    const settings = { DATABASE_URL: databaseUrlOf(service), GATEHOUSE_DATA_DIR: service.facts.dataDir };
    const verified = await eventually(
      async () => {
        const run = await runToEnd(['verify', 'money'], settings, 120_000);
        return run.code === 0 ? run : null;
      },
      { withinMs: SETTLE_MS, everyMs: 1_000, what: 'books that agree' },
    );
    expect(verified.output).toMatch(new RegExp(`${ledger} of ${ledger} nano-dollars are estimates`));
    expect(verified.output).toMatch(new RegExp(`the process died\\s+${SESSIONS + 1}\\b`));
  },
);
