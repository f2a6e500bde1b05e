import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, type HeaderList, sha256 } from '../support/http-client.js';
import { Dice, oddJsonBody, oddPieces, type RandomBody, randomBody } from '../support/random-bodies.js';
import type { Received } from '../support/upstreams/echo.js';
import { inParallel } from '../support/waiting.js';
import { World } from '../support/world.js';

const BODIES = Number(process.env['FIDELITY_BODIES'] ?? 2_000);
const SEED = Number(process.env['FIDELITY_SEED'] ?? Date.now() % 1_000_000);
const WIDTH = 16;

/** What the gateway takes out of a request or sets itself; it says so in its documentation. */
const CHANGED_REQUEST_HEADERS = new Set([
  'host',
  'connection',
  'keep-alive',
  'authorization',
  'content-length',
  'transfer-encoding',
]);
/** Hop-by-hop headers of an answer, which belong to one connection. */
const CHANGED_ANSWER_HEADERS = new Set(['connection', 'keep-alive', 'transfer-encoding']);
/** All that the gateway may add to an answer. */
const ADDED_ANSWER_HEADERS = [
  'server-timing',
  'x-gateway-trace-id',
  'x-gateway-request-id',
  'x-gateway-provider',
  'x-gateway-cache-status',
  'x-gateway-retry-attempt-count',
  'x-gateway-last-used-option-index',
  'x-gateway-error-source',
  'x-gateway-overhead-ms',
];

/** What a custom host is sent on top, so that a loop through this gateway is found (RFC 8586). */
const LOOP_HEADER = ['cdn-loop', 'gatehouse'] as const;

const QUERIES = [
  '',
  '?a=1&a=2&b=%2f..&c',
  '?',
  '?=&&',
  '?x=%zz',
  '?q=a+b%20c|d',
  '?key=%C3%28&a[]=1;b',
  '?u=http://x/y?z',
];

let world: World;

beforeAll(async () => {
  world = await World.create('fidelity');
});
afterAll(() => world.close());

interface Exchange {
  readonly sent: RandomBody;
  readonly planned: RandomBody;
  readonly method: string;
  readonly target: string;
  readonly headers: Record<string, string>;
  readonly answerHeaders: HeaderList;
  readonly status: number;
}

function anExchange(dice: Dice, index: number): Exchange {
  const isChat = index % 10 === 0;
  const sent = isChat ? oddJsonBody(dice) : randomBody(dice);
  const planned = randomBody(dice);
  const target = isChat ? '/v1/chat/completions' : `/v1/fidelity/${index}${dice.pick(QUERIES)}`;
  return {
    sent,
    planned,
    method: isChat ? 'POST' : dice.pick(['POST', 'PUT', 'PATCH', 'DELETE']),
    target,
    headers: {
      ...Object.fromEntries(sent.headers),
      'x-exchange': String(index),
      'accept-encoding': dice.pick(['gzip, br', 'identity', '*;q=0']),
      'X-Mixed-Case': 'Value  With   Blanks',
      'user-agent': 'fidelity/1.0',
    },
    answerHeaders: [
      ...planned.headers,
      ['X-Mixed-Case', 'As It Is'],
      ['set-cookie', 'a=1; Path=/'],
      ['set-cookie', 'b=2; HttpOnly'],
      ['etag', `W/"${index}"`],
      ['cache-control', 'private, max-age=0'],
      ['x-ratelimit-remaining-tokens', '17'],
      ['openai-processing-ms', '3'],
    ],
    status: dice.pick([200, 200, 200, 201, 202, 400, 404, 409, 418, 422]),
  };
}

const sorted = (headers: HeaderList, drop: (name: string) => boolean): string[] =>
  headers
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => !drop(name))
    .map(([name, value]) => `${name}: ${value}`)
    .sort();

const isOurs = (name: string): boolean => /^x-(gateway|portkey)-/.test(name);

function compareRequest({ sent, headers, method, target }: Exchange, received: Received): void {
  expect(received.sha256).toBe(sha256(sent.bytes));
  expect(received.bytes).toBe(sent.bytes.length);
  expect(received.method).toBe(method);
  expect(received.target).toBe(`/base/v9${target.slice('/v1'.length)}`);
  const asSent = sorted(Object.entries(headers), (name) => CHANGED_REQUEST_HEADERS.has(name) || isOurs(name));
  const drop = (name: string): boolean => CHANGED_REQUEST_HEADERS.has(name) || name === LOOP_HEADER[0];
  expect(sorted(received.headers, drop)).toEqual(asSent);
  expect(received.headers.filter(([name]) => name === LOOP_HEADER[0])).toEqual([LOOP_HEADER]);
  const secrets = received.headers
    .filter(([name]) => name.toLowerCase() === 'authorization')
    .map(([, value]) => value);
  expect(secrets).toEqual([`Bearer ${world.providerSecret}`]);
}

function compareAnswer({ planned, answerHeaders, status }: Exchange, answer: Answer): void {
  expect(answer.sha256).toBe(sha256(planned.bytes));
  expect(answer.status).toBe(status);
  const drop = (name: string): boolean =>
    CHANGED_ANSWER_HEADERS.has(name) || ADDED_ANSWER_HEADERS.includes(name);
  const lengthAndDate = new Set(['content-length', 'date']);
  expect(sorted(answer.rawHeaders, (name) => drop(name) || lengthAndDate.has(name))).toEqual(
    sorted(answerHeaders, drop),
  );
}

async function exchange(dice: Dice, index: number): Promise<void> {
  const planned = anExchange(dice, index);
  const body = dice.next() < 0.5 ? planned.sent.bytes : oddPieces(dice, planned.sent.bytes);
  const pieces = dice.next() < 0.5 ? planned.planned.bytes : oddPieces(dice, planned.planned.bytes);
  plans.set(String(index), { planned, pieces });
  const answer = await world.send({
    method: planned.method,
    path: planned.target,
    headers: { ...world.headers, ...planned.headers },
    body,
  });
  const received = receivedByIndex.get(String(index));
  if (!received)
    throw new Error(
      `Exchange ${index} never reached the provider: ${answer.status} ${answer.body.toString().slice(0, 500)}`,
    );
  compareRequest(planned, received);
  compareAnswer(planned, answer);
  plans.delete(String(index));
  receivedByIndex.delete(String(index));
}

function formOf(boundary: string, content: Buffer, model: string, isModelFirst: boolean): Buffer {
  const part = (head: string, body: Buffer): Buffer =>
    Buffer.concat([
      Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n`),
      body,
      Buffer.from('\r\n'),
    ]);
  const parts = [part('name="model"', Buffer.from(model)), part('name="file"; filename="a.wav"', content)];
  if (!isModelFirst) parts.reverse();
  return Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]);
}

function aForm(dice: Dice): { boundary: string; bytes: Buffer; isModelFirst: boolean } {
  const boundary = `----x${dice.below(1e9)}`;
  const isModelFirst = dice.next() < 0.5;
  // A file of what boundaries are made of.
  const content = Buffer.concat([
    dice.bytes(dice.below(200_000)),
    Buffer.from(`\r\n--${boundary.slice(0, -1)}`),
  ]);
  return { boundary, bytes: formOf(boundary, content, 'gpt-4o-transcribe', isModelFirst), isModelFirst };
}

const plans = new Map<string, { planned: Exchange; pieces: Buffer | readonly Buffer[] }>();
const receivedByIndex = new Map<string, Received>();

describe('E13, B30: a pass-through is true to the byte', () => {
  it(
    `${BODIES} random bodies arrive unchanged both ways, with their headers and queries (seed ${SEED})`,
    async () => {
      world.upstream.otherwise((received) => {
        const index = received.headers.find(([name]) => name.toLowerCase() === 'x-exchange')?.[1] ?? '';
        receivedByIndex.set(index, received);
        const plan = plans.get(index);
        world.upstream.ledger.length = 0;
        return { status: plan?.planned.status, headers: plan?.planned.answerHeaders, body: plan?.pieces };
      });
      await inParallel(Array.from({ length: BODIES }), WIDTH, (_, index) =>
        exchange(new Dice(SEED * 100_003 + index), index),
      );
    },
    BODIES * 60 + 30_000,
  );

  it('forms whose fields are read arrive unchanged too, and their model, tokens and cost are known', async () => {
    const usage = {
      type: 'tokens',
      input_tokens: 100,
      output_tokens: 20,
      input_token_details: { audio_tokens: 100 },
    };
    world.upstream.otherwise({
      headers: [['content-type', 'application/json']],
      body: JSON.stringify({ text: 'hi', usage }),
    });
    const dice = new Dice(SEED);
    for (let index = 0; index < 60; index++) {
      const { boundary, bytes, isModelFirst } = aForm(dice);
      world.upstream.ledger.length = 0;
      const answer = await world.send({
        method: 'POST',
        path: '/v1/audio/transcriptions',
        headers: { ...world.headers, 'content-type': `multipart/form-data; boundary=${boundary}` },
        body: dice.next() < 0.5 ? bytes : oddPieces(dice, bytes),
      });
      expect(answer.status).toBe(200);
      expect(world.upstream.ledger.map(({ sha256: hash }) => hash)).toEqual([sha256(bytes)]);
      if (index % 20 < 2)
        expect(await world.logs.row(answer.requestId), `model first: ${isModelFirst}`).toMatchObject({
          model: 'gpt-4o-transcribe',
          input_tokens: 100,
          output_tokens: 20,
          // $6 per million tokens of sound, $10 per million of text.
          cost_nano_usd: 100 * 6_000 + 20 * 10_000,
        });
    }
  });

  it('a form names its virtual key before a long file or within its first 256 KB, and a late one is an error', async () => {
    const dice = new Dice(SEED);
    const model = `@${world.virtualKey}/whisper-1`;
    const send = (isFirst: boolean, bytes: number) =>
      world.send({
        method: 'POST',
        path: '/v1/audio/transcriptions',
        headers: { 'x-gateway-api-key': world.apiKey.key, 'content-type': 'multipart/form-data; boundary=b' },
        body: formOf('b', dice.bytes(bytes), model, isFirst),
      });
    for (const [isFirst, bytes] of [
      [true, 1_000_000],
      [false, 200_000],
    ] as const) {
      world.upstream.ledger.length = 0;
      expect((await send(isFirst, bytes)).status).toBe(200);
      expect(world.upstream.ledger[0]?.body.includes('\r\nwhisper-1\r\n')).toBe(true);
      expect(world.upstream.ledger[0]?.body.includes(model)).toBe(false);
    }
    expect((await send(false, 1_000_000)).status).toBe(400);
  });

  it('a body on its way through says how long it is, as it did, or that it comes in chunks', async () => {
    const bytes = Buffer.alloc(300_000, 'a');
    const form = formOf('b', bytes, `@${world.virtualKey}/whisper-1`, true);
    const chunks = async function* () {
      yield bytes;
    };
    const framing = async (path: string, sent: Buffer | AsyncIterable<Buffer>, type: string) => {
      world.upstream.ledger.length = 0;
      await world.send({
        method: 'POST',
        path,
        headers: { ...world.headers, 'content-type': type },
        body: sent,
      });
      const [received] = world.upstream.ledger;
      const told = received?.headers.filter(([name]) => /^(content-length|transfer-encoding)$/i.test(name));
      return { bytes: received?.bytes, told };
    };

    expect(await framing('/v1/anything', bytes, 'text/plain')).toEqual({
      bytes: 300_000,
      told: [['content-length', '300000']],
    });
    expect(await framing('/v1/anything', chunks(), 'text/plain')).toEqual({
      bytes: 300_000,
      told: [['transfer-encoding', 'chunked']],
    });
    const length = form.length - `@${world.virtualKey}/`.length;
    expect(await framing('/v1/audio/transcriptions', form, 'multipart/form-data; boundary=b')).toEqual({
      bytes: length,
      told: [['content-length', String(length)]],
    });
  });

  it('responses without a body keep their status and headers', async () => {
    for (const status of [204, 304]) {
      world.upstream.on('/base/v9/empty', {
        status,
        headers: [
          ['x-kept', 'yes'],
          ['etag', '"1"'],
        ],
      });
      const answer = await world.send({ path: '/v1/empty' });
      expect([answer.status, answer.body.length, answer.headers['x-kept'], answer.headers['etag']]).toEqual([
        status,
        0,
        'yes',
        '"1"',
      ]);
    }
    world.upstream.on('/base/v9/head', {
      headers: [
        ['content-length', '12345'],
        ['x-kept', 'yes'],
      ],
      body: (response) => void response.end(),
    });
    const head = await world.send({ method: 'HEAD', path: '/v1/head' });
    expect([head.status, head.body.length, head.headers['content-length'], head.headers['x-kept']]).toEqual([
      200,
      0,
      '12345',
      'yes',
    ]);
  });

  it('A25: a redirect is returned, never followed', async () => {
    world.upstream.on('/base/v9/moved', {
      status: 302,
      headers: [['location', 'http://127.0.0.1:1/elsewhere']],
    });
    const answer = await world.send({ path: '/v1/moved' });
    expect([answer.status, answer.headers['location']]).toEqual([302, 'http://127.0.0.1:1/elsewhere']);
  });
});

describe('after all of this', () => {
  it('the log has one row per request, errors and odd bodies included', () => world.checkLog());
  it('no secret appears anywhere', () => world.checkCanaries());
});
