import { connect } from 'node:net';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, jsonOf, sha256 } from '../../support/http-client.js';
import { processorMs, residentBytes } from '../../support/process-tree.js';
import { parseAnswers, rawExchange } from '../../support/raw-client.js';
import { expectRefusal, Vitals } from '../../support/refusals.js';
import { inParallel, sleep } from '../../support/waiting.js';
import { World } from '../../support/world.js';

/** Section D: bodies and their media types, on the administration and on the way to providers. */
const MIB = 1024 * 1024;
const KEYS = '/v1/api-keys/workspace/service';
/** Longest that the head of a request may take, and the slack of the checks that look for it. */
const HEAD_WITHIN_MS = 12_000;

let world: World;
let vitals: Vitals;
let maker: string;

beforeAll(async () => {
  world = await World.create('bodies');
  maker = world.service.bootstrap.workspace_api_key;
  vitals = new Vitals(world.service);
});
afterEach(() => vitals.check());
afterAll(() => world.close());

const VALID = JSON.stringify({ name: 'a key', scopes: ['logs.list'] });

const make = (
  body: string | Buffer,
  headers: Record<string, string> = { 'content-type': 'application/json' },
): Promise<Answer> =>
  world.service.client.call({
    method: 'POST',
    path: KEYS,
    body,
    headers: { 'x-gateway-api-key': maker, ...headers },
  });

const rawMake = (lines: readonly string[], body: string) =>
  rawExchange(
    world.service.baseUrl,
    `POST ${KEYS} HTTP/1.1\r\nhost: gateway.example\r\nx-gateway-api-key: ${maker}\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n${body}`,
    { answers: 1 },
  );

describe('D: a client that sends too much', () => {
  it.each([
    ['to the administration', KEYS, 413],
    ['without a key to a provider', '/v1/chat/completions', 401],
  ])('receives the reason, %s, however much it still sends', async (_, path, status) => {
    const key = status === 401 ? '' : `x-gateway-api-key: ${maker}\r\n`;
    const head = `POST ${path} HTTP/1.1\r\nhost: gateway.example\r\n${key}content-type: application/json\r\ncontent-length: ${8 * MIB}\r\n\r\n`;
    const large = head + 'x'.repeat(8 * MIB);
    const exchanges = Array.from({ length: 20 }, () => rawExchange(world.service.baseUrl, large));
    for (const { answers, ended } of await Promise.all(exchanges)) {
      expect(answers.map((answer) => answer.status)).toEqual([status]);
      expect(ended).toBe('closed');
    }
  });
});

describe('D: media types of the administration', () => {
  it('takes JSON, with a charset or without', async () => {
    for (const type of ['application/json', 'application/json; charset=utf-8', 'Application/JSON'])
      expect((await make(VALID, { 'content-type': type })).status, type).toBeLessThan(300);
  });

  it.each([
    'application/json garbage',
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'application/jsonp',
    'application/json, text/plain',
  ])('D01, D04: Content-Type: %s is not supported', async (type) => {
    const answer = await make(VALID, { 'content-type': type });
    expect(answer.status).toBe(415);
    expectRefusal(answer.body, 'unsupported_media_type');
  });

  it('D04: a body without a type is not supported', async () => {
    const answer = await make(VALID, {});
    expect(answer.status).toBe(415);
    expectRefusal(answer.body, 'unsupported_media_type');
  });

  it.each(['  application/json', '\tapplication/json'])('D02: %j does not skip the checks', async (type) => {
    const { answers } = await rawMake([`Content-Type:${type}`, 'Content-Length: 12'], '{"name":123}');
    expect(answers.map(({ status }) => status)).toEqual([400]);
    expectRefusal(answers[0]?.body ?? Buffer.alloc(0), 'invalid_request');
  });
});

describe('D: formats of the administration', () => {
  it.each([
    ['D21', '{"name":123,"scopes":["logs.list"]}'],
    ['D21', '{"name":"x","scopes":"logs.list"}'],
    ['D21', '{"name":"x","scopes":{"0":"logs.list"}}'],
    ['D21', '{"name":true,"scopes":["logs.list"]}'],
    ['D21', '{"name":["x"],"scopes":["logs.list"]}'],
    ['D21', '{"name":null,"scopes":["logs.list"]}'],
    ['D21', '{"scopes":["logs.list"]}'],
    ['D24', '{"name":"","scopes":["logs.list"]}'],
    ['D24', '{"name":"    ","scopes":["logs.list"]}'],
    ['D24', JSON.stringify({ name: 'x'.repeat(10_000), scopes: ['logs.list'] })],
    ['G23', '{"name":"x","scopes":["logs.list"],"is_admin":true}'],
    ['G23', '{"name":"x","scopes":["logs.list"],"organisation_id":"00000000-0000-7000-8000-000000000000"}'],
  ])('%s: %s is refused', async (_, body) => {
    const answer = await make(body);
    expect([400, 403, 404]).toContain(answer.status);
    expectRefusal(answer.body, jsonOf(answer).error.code);
  });

  it('an unknown field is named', async () => {
    const answer = await make('{"name":"x","scopes":["logs.list"],"colour":"red"}');
    expect(answer.status).toBe(400);
    expect(jsonOf(answer).error.message).toContain('colour');
  });

  it.each([
    '{"name":"a\\u0000b","scopes":["logs.list"]}',
    '{"name":"\\ud800","scopes":["logs.list"]}',
    '{"name":',
    '{"__proto__":{"a":1}}',
    'null',
    '[]',
    '"x"',
  ])('D24, L04: %s is refused', async (body) => {
    const answer = await make(body);
    expect(answer.status).toBe(400);
    expectRefusal(answer.body, jsonOf(answer).error.code);
    expect(['invalid_json', 'invalid_request']).toContain(jsonOf(answer).error.code);
  });

  it.each(['🚀 production', '<script>alert(1)</script>', "Robert'); DROP TABLE api_keys;--", '=1+1', 'żółw'])(
    'D24: the name %s is kept as it is',
    async (name) => {
      const created = jsonOf(await make(JSON.stringify({ name, scopes: ['logs.list'] })));
      const read = jsonOf(await world.administration.call('GET', `/v1/api-keys/${created.id}`));
      expect(read.name).toBe(name);
    },
  );
});

/** A guardrail that has to read the body. */
const guarded = (): Record<string, string> => ({
  'x-gateway-config': JSON.stringify({
    input_guardrails: [{ 'default.contains': { operator: 'none', words: ['Apollo'] }, deny: true }],
  }),
});

describe('D: sizes', () => {
  it('D10: an administrative body of 1 MiB and 1 byte is too large', async () => {
    const padding = MIB + 1 - VALID.length;
    const answer = await make(`${VALID}${' '.repeat(padding)}`);
    expect(answer.status).toBe(413);
    expectRefusal(answer.body, 'body_too_large');
  });

  it.each([KEYS, '/v1/chat/completions'])(
    'D09: 2 GiB announced to %s are refused before they come',
    async (path) => {
      const credentials =
        path === KEYS
          ? `x-gateway-api-key: ${maker}`
          : Object.entries(world.headers)
              .map(([n, v]) => `${n}: ${v}`)
              .join('\r\n');
      const { answers } = await rawExchange(
        world.service.baseUrl,
        `POST ${path} HTTP/1.1\r\nhost: g\r\n${credentials}\r\ncontent-type: application/json\r\ncontent-length: 2147483648\r\n\r\n{"`,
        { answers: 1 },
      );
      world.note(
        answers[0]?.headers.get('x-gateway-request-id') ?? '',
        path === KEYS ? 'never' : 'at most once',
      );
      expect(answers.map(({ status }) => status)).toEqual([413]);
      expectRefusal(answers[0]?.body ?? Buffer.alloc(0), 'body_too_large');
    },
  );

  it('D19: who shows no key is refused before the body is read', async () => {
    const { answers, ended } = await rawExchange(
      world.service.baseUrl,
      `POST ${KEYS} HTTP/1.1\r\nhost: g\r\ncontent-type: application/json\r\ncontent-length: ${50 * MIB}\r\n\r\n${' '.repeat(1_000)}`,
    );
    expect(answers.map(({ status }) => status)).toEqual([expect.toBeOneOf([401, 413])]);
    expect(ended).not.toBe('open');
  });

  it('D13: 100 MiB of zeros in gzip pass through packed', async () => {
    const packed = gzipSync(Buffer.alloc(100 * MIB));
    const answer = await world.send({
      method: 'POST',
      path: '/v1/packed',
      headers: { ...world.headers, 'content-type': 'application/json', 'content-encoding': 'gzip' },
      body: packed,
    });
    expect(answer.status).toBe(200);
    expect(await world.upstream.only('/base/v9/packed')).toMatchObject({
      bytes: packed.length,
      sha256: sha256(packed),
    });
  });

  it.each([
    ['a first-class endpoint', () => ({}), [413]],
    ['an endpoint under a guardrail', guarded, [413]],
  ])('D14: the same to %s is refused before it is unpacked', async (_, more, statuses) => {
    const packed = gzipSync(Buffer.alloc(100 * MIB));
    const { gateways } = world.service.pids;
    const before = gateways.map(residentBytes);
    const refused = async (): Promise<number> => {
      const busyBefore = gateways.map(processorMs);
      const answer = await world.send({
        method: 'POST',
        path: '/v1/chat/completions',
        headers: {
          ...world.headers,
          ...more(),
          'content-type': 'application/json',
          'content-encoding': 'gzip',
        },
        body: packed,
      });
      expect(statuses).toContain(answer.status);
      await sleep(300);
      return Math.max(...gateways.map((pid, index) => processorMs(pid) - (busyBefore[index] ?? 0)));
    };
    const unpacked = (): number => {
      const begin = process.cpuUsage();
      gunzipSync(packed);
      return process.cpuUsage(begin).user / 1_000;
    };
    // On whatever machine: less work than unpacking is here. What else a process does meanwhile only adds to it, so the least counts.
    const works: number[] = [];
    const unpackings: number[] = [];
    while (works.length < 3 && Math.min(...works) >= Math.min(...unpackings, Infinity)) {
      works.push(await refused());
      unpackings.push(unpacked());
    }
    expect(Math.min(...works)).toBeLessThan(Math.min(...unpackings));
    const grown = gateways.map((pid, index) => residentBytes(pid) - (before[index] ?? 0));
    expect(Math.max(...grown)).toBeLessThan(32 * MIB);
  });

  it.each(['/v1/deep', '/v1/chat/completions'])(
    'D16: 5000 arrays in one another reach %s unchanged or are refused, and nothing falls',
    async (path) => {
      world.upstream.reset();
      const deep = `{"model":"gpt-4o-mini","messages":${'['.repeat(5_000)}${']'.repeat(5_000)}}`;
      const answer = await world.send({
        method: 'POST',
        path,
        headers: { ...world.headers, 'content-type': 'application/json' },
        body: deep,
      });
      expect(answer.status).toBe(200);
      expect(world.upstream.ledger.map(({ body }) => body.toString())).toEqual([deep]);
      await world.logs.row(answer.requestId);
    },
  );

  it('D20: a NUL and half a surrogate pair in a body cost no other request its row', async () => {
    const odd =
      '{"model":"gpt-4o-mini","messages":[{"role":"user","content":"a\\u0000b \\ud800"}],"user":"\\u0000"}';
    const answers = await inParallel(Array.from({ length: 100 }), 25, (_, i) =>
      world.send({
        method: 'POST',
        path: i === 50 ? '/v1/chat/completions' : '/v1/plain',
        headers: { ...world.headers, 'content-type': 'application/json' },
        body: i % 10 === 0 ? odd : '{"plain":true}',
      }),
    );
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    for (const { requestId } of answers) await world.logs.row(requestId);
  });
});

describe('D: time', () => {
  it(
    `D07: a head that drips in is given up within ${HEAD_WITHIN_MS / 1_000} s`,
    async () => {
      const bytes = Array.from({ length: 400 }, () => 'x');
      const head = ['GET /livez HTTP/1.1\r\nhost: g\r\nx-slow: ', ...bytes];
      const { ms, ended, answers } = await dripped(head);
      expect(ended).not.toBe('open');
      expect(answers.map(({ status }) => status)).toEqual([408]);
      expect(ms).toBeLessThanOrEqual(HEAD_WITHIN_MS + 1_000);
    },
    HEAD_WITHIN_MS + 10_000,
  );
});

/** Sends one part each 100 ms until the other side has enough. */
async function dripped(parts: readonly string[]) {
  const { port } = new URL(world.service.baseUrl);
  const socket = connect(Number(port), '127.0.0.1');
  const received: Buffer[] = [];
  const started = Date.now();
  let isOver = false;
  socket.on('data', (part: Buffer) => received.push(part));
  socket.on('error', () => (isOver = true));
  socket.on('close', () => (isOver = true));
  for (const part of parts) {
    if (isOver || Date.now() - started > HEAD_WITHIN_MS + 5_000) break;
    socket.write(part);
    await sleep(100);
  }
  const ended = isOver ? 'closed' : 'open';
  socket.destroy();
  return { ms: Date.now() - started, ended, answers: parseAnswers(Buffer.concat(received)) };
}

describe('after all of this', () => {
  it('the log has one row per request', () => world.checkLog());
  it('no secret appears anywhere', () => world.checkCanaries());
});
