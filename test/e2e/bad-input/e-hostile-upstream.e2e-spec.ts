import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ErrorCode } from '../../../src/common/errors/catalog.js';
import type { Answer, OpenAnswer } from '../../support/http-client.js';
import { residentBytes } from '../../support/process-tree.js';
import { expectRefusal as expectAnyRefusal, Vitals } from '../../support/refusals.js';
import { listenOnOneOf, stopListening } from '../../support/upstreams/listen.js';
import { MisbehavingUpstream } from '../../support/upstreams/misbehaving.js';
import { eventually } from '../../support/waiting.js';
import { World } from '../../support/world.js';

/** Section E: providers that are hostile or broken. */
const MIB = 1024 * 1024;
const CHAT = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'x' }] };
const TLS = resolve(import.meta.dirname, '../../fixtures/tls');
/** GATEHOUSE_FIRST_BYTE_TIMEOUT_MS of the shared service. */
const FIRST_BYTE_MS = 3_000;

let world: World;
let raw: MisbehavingUpstream;
let vitals: Vitals;

beforeAll(async () => {
  world = await World.create('upstream');
  raw = await MisbehavingUpstream.start(world.service.facts.egressPorts);
  vitals = new Vitals(world.service);
});
afterEach(() => vitals.check());
afterAll(async () => {
  await raw.stop();
  await world.close();
});

/** A pass-through and a first-class endpoint: the first streams through, the second is read. */
const WAYS = [
  { way: 'pass-through', path: '/v1/anything' },
  { way: 'chat', path: '/v1/chat/completions' },
] as const;

const callOf = (behaviour: string, path: string, more: Record<string, string> = {}) => ({
  method: 'POST',
  path,
  body: CHAT,
  headers: { ...world.hostHeaders(`${raw.url}/${behaviour}`), ...more },
});

const send = (behaviour: string, path: string): Promise<Answer> => world.send(callOf(behaviour, path));

/** Head and end of an answer, whether it was cut or not. */
async function outcome(
  behaviour: string,
  path: string,
): Promise<{ answer: OpenAnswer; text: string; isCut: boolean }> {
  const answer = await world.open(callOf(behaviour, path));
  let text = '';
  try {
    for await (const part of answer.stream) text += String(part);
  } catch {
    return { answer, text, isCut: true };
  }
  return { answer, text, isCut: false };
}

/** A refusal that names the provider and its host, which is the one that the request itself named. */
function expectRefusal(body: Buffer, code: ErrorCode): void {
  const text = body.toString('utf8');
  expectAnyRefusal(Buffer.from(text.replace(/(provider \\"[\w-]+\\") at 127\.0\.0\.1:\d+/, '$1')), code);
}

describe.each(WAYS)('E: $way', ({ path }) => {
  it.each([
    ['E01', 'duplicate-length'],
    ['E04', 'status-099'],
    ['E04', 'status-word'],
    ['E01', 'length-and-chunked'],
    ['E01', 'huge-header'],
    ['E01', 'not-http'],
  ])('%s: %s is a protocol error of the provider', async (_, behaviour) => {
    raw.calls.length = 0;
    const answer = await send(behaviour, path);
    expect([answer.status, answer.headers['x-gateway-error-source']]).toEqual([502, 'gateway']);
    expectRefusal(answer.body, 'upstream_protocol_error');
    expect(raw.callsOf(behaviour), 'it is not asked again').toHaveLength(1);
    expect(await world.logs.row(answer.requestId)).toMatchObject({
      status: 502,
      ending: 'upstream_failed',
      cost_nano_usd: null,
    });
  });

  it('E04: status 999 is passed on or is a protocol error', async () => {
    const answer = await send('status-999', path);
    expect([999, 502]).toContain(answer.status);
    if (answer.status === 502) expectRefusal(answer.body, 'upstream_protocol_error');
  });

  it.each([
    ['E02', 'short-body'],
    ['E11', 'reset-after-head'],
    ['E02', 'bad-chunk'],
  ])('%s: %s never looks like a whole response', async (_, behaviour) => {
    const { answer, isCut } = await outcome(behaviour, path);
    if (answer.status === 502) {
      const row = await world.logs.row(answer.requestId);
      expect(['upstream_failed', 'upstream_truncated']).toContain(row.ending);
      return;
    }
    expect([answer.status, isCut]).toEqual([200, true]);
    expect(await world.logs.row(answer.requestId)).toMatchObject({
      ending: 'upstream_truncated',
      status: 200,
    });
  });

  it.each(['close-at-once', 'reset-before-head'])(
    '%s is an error of the provider, and the request is not sent twice',
    async (behaviour) => {
      raw.calls.length = 0;
      const answer = await send(behaviour, path);
      expect(answer.status).toBe(502);
      expectRefusal(answer.body, 'upstream_error');
      expect(raw.callsOf(behaviour)).toHaveLength(1);
    },
  );

  it('a body after 204 is ignored', async () => {
    const answer = await send('no-content-with-body', path);
    expect([204, 502]).toContain(answer.status);
    expect(answer.body.toString()).not.toContain('12345');
  });

  it('early hints are skipped, the response is not', async () => {
    const answer = await send('early-hints', path);
    expect([answer.status, answer.body.toString()]).toEqual([200, '{"ok":true}']);
  });

  it(`E09: no response is a 504 after ${FIRST_BYTE_MS} ms, and the provider's socket is closed`, async () => {
    raw.calls.length = 0;
    const started = Date.now();
    const answer = await send('never', path);
    const ms = Date.now() - started;
    expect(answer.status).toBe(504);
    expectRefusal(answer.body, 'upstream_timeout');
    expect(ms).toBeGreaterThanOrEqual(FIRST_BYTE_MS * 0.95);
    expect(ms, 'it waited once').toBeLessThan(2 * FIRST_BYTE_MS);
    const [call] = raw.callsOf('never');
    await eventually(() => call?.closedAt, { what: 'the socket to be closed' });
  });

  it('E09: the caller’s own bound is a 408', async () => {
    const started = Date.now();
    const answer = await world.send(callOf('never', path, { 'x-gateway-request-timeout': '400' }));
    const ms = Date.now() - started;
    expect(answer.status).toBe(408);
    expectRefusal(answer.body, 'request_timeout');
    expect(ms).toBeGreaterThanOrEqual(380);
    expect(ms, 'not until the bound of the service').toBeLessThan(FIRST_BYTE_MS);
  });

  it('E14: an encoding a thousand times over arrives as it is', async () => {
    const answer = await send('layered-gzip', path);
    expect([answer.status, answer.body.toString()]).toEqual([200, 'bomb']);
    await world.logs.row(answer.requestId);
  });
});

describe('E: other hostilities', () => {
  it('E07: an unsolicited response on an idle connection reaches no request', async () => {
    for (let round = 0; round < 5; round++) {
      raw.calls.length = 0;
      const first = await send('unsolicited', '/v1/anything');
      expect([first.status, first.body.toString()]).toEqual([200, '{"ok":true}']);
      // The gateway ends a connection on which somebody speaks who was not asked.
      await eventually(() => raw.callsOf('unsolicited')[0]?.closedAt, {
        everyMs: 5,
        what: 'the end of the connection',
      });
      const second = await send('fine', '/v1/anything');
      expect([second.status, second.body.toString()]).toEqual([200, '{"ok":true}']);
    }
  });

  it('E14: a response that unpacks to 200 MiB costs the gateway nothing, and its row is there', async () => {
    const bomb = gzipSync(Buffer.alloc(200 * MIB));
    world.upstream.on('/base/v9/chat/completions', {
      headers: [
        ['content-type', 'application/json'],
        ['content-encoding', 'gzip'],
      ],
      body: bomb,
    });
    const watched = [...world.service.pids.gateways, world.service.pids.worker ?? 0];
    const before = watched.map(residentBytes);
    const answer = await world.send({ method: 'POST', path: '/v1/chat/completions', body: CHAT });
    expect(answer.body.equals(bomb)).toBe(true);
    const row = await world.logs.row(answer.requestId);
    // Its usage cannot be read, so the reservation of the request is charged.
    expect(row).toMatchObject({ ending: 'completed', usage_source: 'counted' });
    const grown = watched.map((pid, index) => Math.round((residentBytes(pid) - (before[index] ?? 0)) / MIB));
    expect(
      grown.filter((mib) => mib >= 64),
      `MiB by which gateways and worker grew: ${grown.join(', ')}`,
    ).toEqual([]);
  });

  it('E16: a provider that repeats the secret does not bring it into the log', async () => {
    world.upstream.on('/base/v9/echoing', ({ headers }) => {
      const secret = headers.find(([name]) => name.toLowerCase() === 'authorization')?.[1] ?? '';
      const text = Buffer.from(
        `{"error":{"message":"Incorrect API key provided: ${secret.replace('Bearer ', '')}."}}`,
      );
      const middle = Math.floor(text.length / 2);
      return {
        status: 401,
        headers: [
          ['content-type', 'application/json'],
          ['x-echo', secret],
        ],
        body: [text.subarray(0, middle), text.subarray(middle)],
      };
    });
    const answer = await world.service.client.call({
      method: 'POST',
      path: '/v1/echoing',
      headers: world.headers,
      body: {},
    });
    world.note(answer.requestId, 'once');
    expect(answer.status).toBe(401);
    expect(answer.headers['x-gateway-error-source']).toBe('provider');
    await world.logs.row(answer.requestId);
  });

  it('E17: an untrusted certificate ends the call, and nothing is sent in the clear', async () => {
    let asked = 0;
    const server = createServer(
      { cert: readFileSync(`${TLS}/self-signed.cert.pem`), key: readFileSync(`${TLS}/self-signed.key.pem`) },
      (_, response) => {
        asked++;
        response.end('{}');
      },
    );
    const port = await listenOnOneOf(server, world.service.facts.egressPorts);
    const answer = await world.send({
      method: 'POST',
      path: '/v1/x',
      headers: world.hostHeaders(`https://127.0.0.1:${port}`),
      body: {},
    });
    await stopListening(server);
    expect(answer.status).toBe(502);
    expectRefusal(answer.body, 'upstream_error');
    expect(asked).toBe(0);
  });

  it('a provider that is not there is a 502', async () => {
    const free = world.service.facts.egressPorts.at(-1) ?? 0;
    const answer = await world.send({
      method: 'POST',
      path: '/v1/x',
      headers: world.hostHeaders(`http://127.0.0.1:${free}`),
      body: {},
    });
    expect(answer.status).toBe(502);
    expectRefusal(answer.body, 'upstream_error');
  });
});

describe('after all of this', () => {
  it('the log has one row per request', () => world.checkLog());
  it('no secret appears anywhere, the log included', () => world.checkCanaries());
});
