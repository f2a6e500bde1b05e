import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../support/http-client.js';
import type { Script } from '../support/upstreams/echo.js';
import { World } from '../support/world.js';

/** What a provider of another dialect may do wrong, and what its clients then see: the provider speaks Anthropic's here. */
const PATH = '/v1/messages';
const EVENTS: Script['headers'] = [['content-type', 'text/event-stream']];
const JSON_TYPE: Script['headers'] = [['content-type', 'application/json']];

const event = (type: string, data: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
const START =
  event('message_start', {
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5',
      content: [],
      stop_reason: null,
      usage: { input_tokens: 11, output_tokens: 1 },
    },
  }) + event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } });
const delta = (text: string): string =>
  event('content_block_delta', { index: 0, delta: { type: 'text_delta', text } });
const END =
  event('content_block_stop', { index: 0 }) +
  event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 5 } }) +
  event('message_stop', {});
const OVERLOADED = event('error', { error: { type: 'overloaded_error', message: 'Overloaded' } });

let world: World;
let slug: string;

beforeAll(async () => {
  world = await World.create('translation');
  slug = await world.administration.createVirtualKey({
    name: `${world.virtualKey}-anthropic`,
    provider: 'anthropic',
    secret: world.providerSecret,
    customHost: `${world.upstream.url}/v1`,
  });
});
afterAll(() => world.close());

/** Clients of both translated shapes, and how each hears that a stream broke off. */
const CLIENTS = [
  {
    shape: 'chat completions',
    path: '/v1/chat/completions',
    body: { model: 'claude-sonnet-4-5', messages: [{ role: 'user', content: 'hi' }], stream: true },
    end: 'data: [DONE]\n\n',
    error: /data: \{"error":\{[^\n]+\}\}\n\n$/,
  },
  {
    shape: 'responses',
    path: '/v1/responses',
    body: { model: 'claude-sonnet-4-5', input: 'hi', stream: true },
    end: 'response.completed',
    error: /event: response\.failed\ndata: [^\n]+\n\n$/,
  },
] as const;
type Client = (typeof CLIENTS)[number];

async function ask(client: Client, script: Script, more: object = {}): Promise<Answer> {
  world.upstream.on(PATH, script);
  return world.send({
    method: 'POST',
    path: client.path,
    headers: { 'x-gateway-api-key': world.apiKey.key, 'x-gateway-virtual-key': slug },
    body: { ...client.body, ...more },
  });
}

describe.each(CLIENTS)('a stream for a client of $shape', (client) => {
  it('comes whole, with the provider asked in its own dialect and the row priced', async () => {
    const answer = await ask(client, { headers: EVENTS, body: START + delta('Hello') + END });
    const text = answer.body.toString();

    expect([answer.status, answer.headers['content-type']]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ]);
    expect(text).toContain('Hello');
    expect(text).toContain(client.end);
    const received = world.upstream.ledger.at(-1);
    expect(JSON.parse(received?.body.toString() ?? '')).toMatchObject({
      max_tokens: expect.any(Number) as number,
    });
    const row = await world.logs.row(answer.requestId);
    expect(row).toMatchObject({
      ending: 'completed',
      input_tokens: 11,
      output_tokens: 5,
      provider: 'anthropic',
    });
    expect(row.cost_nano_usd).toBeGreaterThan(0);
  });

  it.each([
    ['says an error in the middle', START + delta('Hel') + OVERLOADED + delta('never')],
    ['ends too early', START + delta('Hel')],
    [
      'ends with half an event',
      START + delta('Hel') + 'event: content_block_delta\ndata: {"type":"content_bl',
    ],
  ])('that %s ends with an error in its own words, and the row says so', async (_, body) => {
    const answer = await ask(client, { headers: EVENTS, body });
    const text = answer.body.toString();

    expect(text).toContain('Hel');
    expect(text).toMatch(client.error);
    expect(text).not.toContain('never');
    expect(text).not.toContain(client.end);
    expect(await world.logs.row(answer.requestId)).toMatchObject({
      ending: 'upstream_truncated',
      error_code: 'upstream_error',
      error_source: 'provider',
    });
  });

  it('passes over events and fields that nobody knows', async () => {
    const unknown = event('from_the_future', { surprise: true }) + ': a comment\n\n' + event('ping', {});
    const answer = await ask(client, { headers: EVENTS, body: START + unknown + delta('Hello') + END });

    expect(answer.body.toString()).toContain(client.end);
  });

  it('comes as its events come, however they are cut', async () => {
    const bytes = Buffer.from(START + delta('größer 日本') + END);
    const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, n) =>
      bytes.subarray(n * 7, n * 7 + 7),
    );
    const answer = await ask(client, { headers: EVENTS, body: pieces });

    expect(answer.body.toString()).toContain('größer 日本');
  });
});

describe.each(CLIENTS)('a plain answer for a client of $shape', (client) => {
  const plain = { stream: false };

  it('may be compressed though nobody asked for it', async () => {
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5',
      content: [{ type: 'text', text: 'Hello' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 11, output_tokens: 5 },
    };
    const headers: Script['headers'] = [...(JSON_TYPE ?? []), ['content-encoding', 'gzip']];
    const answer = await ask(client, { headers, body: gzipSync(JSON.stringify(message)) }, plain);

    expect(answer.headers['content-encoding']).toBeUndefined();
    expect(answer.body.toString()).toContain('Hello');
    expect(await world.logs.row(answer.requestId)).toMatchObject({ input_tokens: 11, output_tokens: 5 });
  });

  it.each([
    [
      400,
      { type: 'error', error: { type: 'invalid_request_error', message: 'max_tokens: too high' } },
      'max_tokens: too high',
    ],
    [529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, 'Overloaded'],
    [502, '<html>bad gateway</html>', '502'],
  ])('that refuses with %i keeps its status, in the words of OpenAI', async (status, body, said) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const answer = await ask(client, { status, headers: JSON_TYPE, body: text }, plain);
    const { error } = JSON.parse(answer.body.toString()) as { error: { message: string; type: string } };

    expect([answer.status, answer.headers['x-gateway-error-source']]).toEqual([status, 'provider']);
    expect(error.message).toContain(said);
    expect(error.type).not.toBe('');
  });

  it.each(['no json at all', '[]', '{}', '{"content":7,"usage":"much"}'])(
    'of nonsense (%s) harms nobody',
    async (body) => {
      const answer = await ask(client, { headers: JSON_TYPE, body }, plain);

      expect(answer.status).toBe(200);
      expect(JSON.parse(answer.body.toString())).toHaveProperty('object');
    },
  );
});

it('what a provider cannot do is refused with the name of the parameter, and nothing is sent', async () => {
  world.upstream.reset();
  const answer = await ask(CLIENTS[0], { headers: JSON_TYPE, body: '{}' }, { stream: false, n: 3 });

  expect(answer.status).toBe(400);
  expect(JSON.parse(answer.body.toString())).toMatchObject({ error: { code: 'parameter_unsupported' } });
  expect(answer.body.toString()).toContain('\\"n\\"');
  expect(world.upstream.ledger).toEqual([]);
});

it('an endpoint that a provider has in no way is refused, with others that have it', async () => {
  const answer = await world.send({
    method: 'POST',
    path: '/v1/moderations',
    headers: {
      'x-gateway-api-key': world.apiKey.key,
      'x-gateway-provider': 'anthropic',
      authorization: 'Bearer x',
    },
    body: { input: 'hi' },
  });

  expect([answer.status, JSON.parse(answer.body.toString())]).toMatchObject([
    400,
    { error: { code: 'endpoint_unsupported' } },
  ]);
  expect(answer.body.toString()).toContain('openai');
});

it('the log has one row per request, and no secret stands anywhere', async () => {
  await world.checkLog();
  await world.checkCanaries();
});
