import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { portRange } from '../support/ports.js';
import { residentBytes } from '../support/process-tree.js';
import { type OwnService, startService } from '../support/service.js';
import { Started } from '../support/started.js';
import { inParallel } from '../support/waiting.js';
import { World } from '../support/world.js';

/** How many there are hardly changes how long it takes: `SLOW_CLIENTS=5000 npx vitest run --project e2e test/e2e/slow-clients`. */
const SLOW_CLIENTS = Number(process.env['SLOW_CLIENTS'] ?? 2_000);
const OPENED_AT_ONCE = 100;
const REQUEST_TIMEOUT_MS = 8_000;
/** `http` looks twice a second for those whose time is over; the rest is for a machine that stands still for a while. */
const SLACK_MS = 8_000;
const DRIP_MS = 1_000;
/** How long others ask, one after the other: shorter than the slow ones are held, for which none of them may wait. */
const OTHERS_MS = 2_000;
/** What a connection may cost the processes together, that from the relay to the administration included. */
const KIB_EACH = 64;

const started = new Started();
let service: OwnService;
let world: World;

beforeAll(async () => {
  service = await startService({
    env: { GATEHOUSE_PROCESSES: '2', GATEHOUSE_REQUEST_TIMEOUT_MS: String(REQUEST_TIMEOUT_MS) },
    egressPorts: await portRange(4),
  });
  started.add(service, (it) => it.dispose());
  world = started.add(await World.create('slow', service), (it) => it.close());
});
afterAll(() => started.end());

/** When the connection ended, and what came back. */
interface Ending {
  readonly afterMs: number;
  readonly text: string;
}

/** A connection that is open, and its end. */
interface Held {
  readonly ended: Promise<Ending>;
}

/** Opens a connection, says `first`, and then a byte a second where it `drips`, for as long as the connection lasts. */
function hold({ first, drips }: Kind): Promise<Held> {
  const { hostname, port } = new URL(service.baseUrl);
  const socket = connect(Number(port), hostname);
  let since = Date.now();
  let text = '';
  socket.on('data', (part) => (text += part.toString('latin1')));
  socket.on('error', () => undefined);
  const ended = new Promise<Ending>((resolve) => {
    socket.on('close', () => resolve({ afterMs: Date.now() - since, text }));
  });
  return new Promise((resolve) => {
    socket.on('connect', () => {
      since = Date.now();
      socket.write(first());
      const dripping = setInterval(() => socket.write(drips ? 'x' : ''), DRIP_MS);
      socket.on('close', () => clearInterval(dripping));
      resolve({ ended });
    });
    socket.on('close', () => resolve({ ended }));
  });
}

const head = (path: string): string =>
  `POST ${path} HTTP/1.1\r\nhost: gateway.example\r\ncontent-type: application/json\r\n` +
  Object.entries(world.headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
const WHOLE = 'content-length: 100000\r\n\r\n{"model":"';

interface Kind {
  readonly first: () => string;
  readonly drips: boolean;
}

const KINDS: Readonly<Record<string, Kind>> = {
  'a body at the gateway': { first: () => `${head('/v1/chat/completions')}${WHOLE}`, drips: true },
  'a body that passes through': { first: () => `${head('/v1/probe')}${WHOLE}`, drips: true },
  'a body at the administration': {
    first: () => `${head('/v1/api-keys/workspace/service')}${WHOLE}`,
    drips: true,
  },
  'a head without an end': { first: () => `${head('/v1/chat/completions')}x-filler: `, drips: true },
  'nothing at all': { first: () => '', drips: false },
};

/** Requests for a model, and of the administration. */
const PROBES = ['/v1/probe', '/v1/admin/me'];

/** Of others' requests, one after the other on connections of their own: how long the slowest took, in milliseconds. */
async function slowestOfOthers(): Promise<number> {
  let slowest = 0;
  const until = Date.now() + OTHERS_MS;
  for (let turn = 0; Date.now() < until || turn < PROBES.length; turn++) {
    const path = PROBES[turn % PROBES.length] as string;
    const from = performance.now();
    const answer = await world.send({ path, headers: world.headers, fresh: true });
    expect(answer.status).toBe(200);
    slowest = Math.max(slowest, performance.now() - from);
  }
  return Math.round(slowest);
}

const kibOfAll = (): number =>
  [...service.pids.gateways, service.pids.administration ?? 0]
    .map(residentBytes)
    .reduce((sum, bytes) => sum + bytes / 1024, 0);

describe('clients that never finish', () => {
  it(`D08: ${SLOW_CLIENTS} at once get 408 after their timeout, and delay no other request`, async () => {
    const alone = await slowestOfOthers();
    const { pids } = service;
    const before = kibOfAll();
    const kinds = Object.entries(KINDS);
    const wanted = Array.from({ length: SLOW_CLIENTS / kinds.length }, () => kinds).flat();

    const from = Date.now();
    const slow = await inParallel(wanted, OPENED_AT_ONCE, ([, kind]) => hold(kind));
    const openedMs = Date.now() - from;
    const beside = await slowestOfOthers();
    const kibEach = Math.round((kibOfAll() - before) / slow.length);
    const endings = await Promise.all(slow.map(({ ended }) => ended));
    const latest = Math.max(...endings.map(({ afterMs }) => afterMs));
    console.log(
      `${slow.length} slow ones, open after ${openedMs} ms, the last gone after ${latest} ms, ${kibEach} KiB each; ` +
        `the slowest of others took ${beside} ms, ${alone} ms before`,
    );

    for (const [index, { text }] of endings.entries())
      expect(text, wanted[index]?.[0]).toMatch(/^HTTP\/1\.1 408 /);
    expect(latest).toBeLessThanOrEqual(REQUEST_TIMEOUT_MS + SLACK_MS);
    expect(beside).toBeLessThan(REQUEST_TIMEOUT_MS / 2);
    expect(kibEach).toBeLessThanOrEqual(KIB_EACH);
    expect(service.pids, 'all processes live on').toEqual(pids);
    expect((await world.send({ path: '/v1/probe', headers: world.headers, fresh: true })).status).toBe(200);
  });
});
