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
  it('comes whole, with the provider called in its own dialect and the row priced', async () => {
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
  ])('that %s ends with an error in its own format, and the row records it', async (_, body) => {
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

  it('ignores unknown events and fields', async () => {
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

describe.each(CLIENTS)('a plain response for a client of $shape', (client) => {
  const plain = { stream: false };

  it('may be compressed without a request for it', async () => {
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

  it.each([
    [200, '[]', 'object'],
    [200, '{}', 'object'],
    [200, '{"content":7,"usage":"much"}', 'object'],
    [502, 'no json at all', 'error'],
  ])('returns status %i with the field %s', async (status, body, field) => {
    const answer = await ask(client, { headers: JSON_TYPE, body }, plain);

    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.body.toString())).toHaveProperty(field);
  });
});

describe('a parameter that the provider does not have', () => {
  const body = { ...CLIENTS[0].body, stream: false, seed: 7, logit_bias: { '1': 1 } };
  const message = JSON.stringify({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-5',
    content: [{ type: 'text', text: 'Hello' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 11, output_tokens: 5 },
  });
  const send = (virtualKey: string, headers: Record<string, string> = {}): Promise<Answer> => {
    world.upstream.on(PATH, { headers: JSON_TYPE, body: message });
    return world.send({
      method: 'POST',
      path: '/v1/chat/completions',
      headers: {
        'x-gateway-api-key': world.apiKey.key,
        'x-gateway-virtual-key': virtualKey,
        'x-gateway-cache': 'off',
        ...headers,
      },
      body,
    });
  };

  it('is refused by name, with the way out', async () => {
    const asked = world.upstream.ledger.length;
    const answer = await send(slug);

    expect(answer.status).toBe(400);
    expect(answer.body.toString()).toContain('x-gateway-unsupported-parameters: drop');
    expect(world.upstream.ledger).toHaveLength(asked);
    expect(await world.logs.row(answer.requestId)).toMatchObject({
      error_code: 'parameter_unsupported',
      dropped_parameters: null,
    });
  });

  it.each([
    ['its header', () => Promise.resolve(slug), { 'x-gateway-unsupported-parameters': 'drop' }],
    ['its virtual key', droppingKey, {}],
  ] as const)('does not reach it where the request may lose it by %s', async (_, keyOf, headers) => {
    const answer = await send(await keyOf(), headers);

    expect(answer.status).toBe(200);
    const dropped = answer.headers['x-gateway-dropped-parameters'];
    expect(String(dropped).split(', ').toSorted()).toEqual(['logit_bias', 'seed']);
    const received = JSON.parse(world.upstream.ledger.at(-1)?.body.toString() ?? '') as object;
    expect(received).toMatchObject({ model: 'claude-sonnet-4-5' });
    expect(received).not.toHaveProperty('seed');
    expect(received).not.toHaveProperty('logit_bias');
    expect(await world.logs.row(answer.requestId)).toMatchObject({
      status: 200,
      dropped_parameters: String(dropped).split(', '),
    });
  });

  async function droppingKey(): Promise<string> {
    const { administration, service } = world;
    const made = await administration.ask('POST', '/v1/virtual-keys', {
      name: `${world.virtualKey}-dropping`,
      provider: 'anthropic',
      key: world.providerSecret,
      workspace_id: service.bootstrap.workspace_id,
      custom_host: `${world.upstream.url}/v1`,
      unsupported_parameters: 'drop',
    });
    return made.data.slug as string;
  }
});

describe('sound of a provider with words of its own', () => {
  let voices: string;
  beforeAll(async () => {
    voices = await world.administration.createVirtualKey({
      name: `${world.virtualKey}-voices`,
      provider: 'elevenlabs',
      secret: world.providerSecret,
      customHost: `${world.upstream.url}/v1`,
    });
  });
  const headers = (): Record<string, string> => ({
    'x-gateway-api-key': world.apiKey.key,
    'x-gateway-virtual-key': voices,
  });

  it('passes as it comes, in constant memory', async () => {
    const sound = Array.from({ length: 64 }, (_, at) => Buffer.alloc(64 * 1024, at));
    world.upstream.on('/v1/text-to-speech/v1', { headers: [['content-type', 'audio/mpeg']], body: sound });
    const answer = await world.send({
      method: 'POST',
      path: '/v1/audio/speech',
      headers: headers(),
      body: { model: 'eleven_multilingual_v2', input: 'Hello', voice: 'v1' },
    });

    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'audio/mpeg']);
    expect(answer.body.equals(Buffer.concat(sound))).toBe(true);
    expect(await world.logs.row(answer.requestId)).toMatchObject({
      ending: 'completed',
      provider: 'elevenlabs',
    });
  });

  it('is transcribed from a form that is rewritten', async () => {
    world.upstream.on('/v1/speech-to-text', { headers: JSON_TYPE, body: '{"text":"Hello","words":[]}' });
    const sound = Buffer.from([0, 255, 13, 10, 45, 45, 128]);
    const form = new FormData();
    form.append('file', new File([sound], 'a.mp3', { type: 'audio/mpeg' }));
    form.append('model', 'scribe_v1');
    const sent = new Response(form);
    const answer = await world.send({
      method: 'POST',
      path: '/v1/audio/transcriptions',
      headers: { ...headers(), 'content-type': sent.headers.get('content-type') ?? '' },
      body: Buffer.from(await sent.arrayBuffer()),
    });

    expect(JSON.parse(answer.body.toString())).toEqual({ text: 'Hello' });
    const received = world.upstream.ledger.at(-1)?.body;
    expect(received?.includes(sound)).toBe(true);
    expect(received?.includes('name="model_id"\r\n\r\nscribe_v1')).toBe(true);
    expect(await world.logs.row(answer.requestId)).toMatchObject({ model: 'scribe_v1', ending: 'completed' });
  });
});

it('the output of a batch is found by the gateway, and streamed as the provider keeps it', async () => {
  world.upstream.on('/base/v9/batches/batch_1', {
    headers: JSON_TYPE,
    body: '{"id":"batch_1","status":"completed","output_file_id":"file-7"}',
  });
  const lines = Array.from({ length: 40 }, (_, at) => Buffer.alloc(32 * 1024, 97 + (at % 26)));
  world.upstream.on('/base/v9/files/file-7/content', { body: lines });
  const answer = await world.send({ path: '/v1/batches/batch_1/output' });

  expect(answer.body.equals(Buffer.concat(lines))).toBe(true);
  expect(await world.logs.row(answer.requestId)).toMatchObject({ ending: 'completed', status: 200 });
  world.upstream.on('/base/v9/batches/batch_2', {
    headers: JSON_TYPE,
    body: '{"id":"batch_2","status":"in_progress","output_file_id":null}',
  });
  const early = await world.send({ path: '/v1/batches/batch_2/output' });

  expect([early.status, early.body.toString()]).toEqual([409, expect.stringContaining('in_progress')]);
  expect(early.headers['x-gateway-error-source']).toBe('gateway');
});

it('what a provider cannot do is refused with the name of the parameter, and nothing is sent', async () => {
  world.upstream.reset();
  const answer = await ask(CLIENTS[0], { headers: JSON_TYPE, body: '{}' }, { stream: false, n: 3 });

  expect(answer.status).toBe(400);
  expect(JSON.parse(answer.body.toString())).toMatchObject({ error: { code: 'parameter_unsupported' } });
  expect(answer.body.toString()).toContain('\\"n\\"');
  expect(world.upstream.ledger).toEqual([]);
});

it('an endpoint that the row of a provider does not list is forwarded, and the response reports it', async () => {
  world.upstream.on('/v1/moderations', { headers: JSON_TYPE, body: '{"mine": 1.0}' });
  const answer = await world.send({
    method: 'POST',
    path: '/v1/moderations',
    headers: {
      'x-gateway-api-key': world.apiKey.key,
      'x-gateway-provider': 'anthropic',
      'x-gateway-custom-host': `${world.upstream.url}/v1`,
      authorization: 'Bearer x',
    },
    body: { input: 'hi' },
  });

  expect([answer.status, answer.body.toString()]).toEqual([200, '{"mine": 1.0}']);
  expect(answer.headers['x-gateway-endpoint']).toBe('unlisted');
});

it('the log has one row per request, and no secret appears anywhere', async () => {
  await world.checkLog();
  await world.checkCanaries();
});
