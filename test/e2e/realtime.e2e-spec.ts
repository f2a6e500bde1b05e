import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ClientOptions, WebSocket } from 'ws';
import { freePort } from '../support/ports.js';
import { startService } from '../support/service.js';
import { simulatedOpenAi } from '../support/upstreams/openai.js';
import { RealtimeUpstream } from '../support/upstreams/realtime.js';
import { eventually } from '../support/waiting.js';
import { World } from '../support/world.js';

let world: World;
let upstream: RealtimeUpstream;
let slug: string;
let anthropic: string;

beforeAll(async () => {
  world = await World.create('realtime');
  upstream = await RealtimeUpstream.start(world.service.facts.egressPorts);
  slug = await world.administration.createVirtualKey({
    name: `realtime-${randomBytes(4).toString('hex')}`,
    secret: world.providerSecret,
    customHost: `http://127.0.0.1:${upstream.port}/base/v1`,
  });
  anthropic = await world.administration.createVirtualKey({
    name: `anthropic-${randomBytes(4).toString('hex')}`,
    provider: 'anthropic',
    secret: world.providerSecret,
    customHost: `http://127.0.0.1:${upstream.port}/base/v1`,
  });
});
beforeEach(() => {
  upstream.refusal = null;
  upstream.play = echo;
});
afterAll(async () => {
  await upstream.stop();
  await world.close();
});

const echo = (socket: WebSocket): void => {
  socket.on('message', (data, isBinary) => socket.send(data as Buffer, { binary: isBinary }));
};

const PATH = '/v1/realtime?model=gpt-realtime';

interface Opened {
  readonly socket: WebSocket;
  readonly id: string;
  readonly closed: Promise<{ code: number; reason: string }>;
}

interface Wish {
  readonly path?: string;
  readonly protocols?: string[];
  readonly headers?: Record<string, string>;
  readonly options?: ClientOptions;
  readonly baseUrl?: string;
}

/** Opens a session, and keeps its request id for the log. */
function open({ path = PATH, protocols = [], headers, options, baseUrl }: Wish = {}): Promise<Opened> {
  const url = `${(baseUrl ?? world.service.baseUrl).replace('http', 'ws')}${path}`;
  const own = { 'x-gateway-api-key': world.apiKey.key, 'x-gateway-virtual-key': slug };
  const socket = new WebSocket(url, protocols, { ...options, headers: headers ?? own });
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => resolve({ code, reason: reason.toString() }));
  });
  return new Promise((resolve, reject) => {
    let id = '';
    socket.once('upgrade', (answer) => {
      id = String(answer.headers['x-gateway-request-id']);
      world.note(id, 'once', path);
    });
    socket.once('open', () => resolve({ socket, id, closed }));
    socket.once('error', reject);
  });
}

interface Refusal {
  readonly status: number;
  readonly body: { readonly error: { readonly code: string; readonly message: string } };
  readonly headers: Readonly<Record<string, unknown>>;
}

function refused(wish: Wish & { readonly logged?: 'once' | 'never' }): Promise<Refusal> {
  const { path = PATH, protocols = [], headers } = wish;
  const own = { 'x-gateway-api-key': world.apiKey.key, 'x-gateway-virtual-key': slug };
  const socket = new WebSocket(`${world.service.baseUrl.replace('http', 'ws')}${path}`, protocols, {
    ...wish.options,
    headers: headers ?? own,
  });
  return new Promise((resolve, reject) => {
    socket.once('open', () => reject(new Error('it was opened')));
    socket.once('error', () => undefined);
    socket.once('unexpected-response', (_, answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () => {
        world.note(String(answer.headers['x-gateway-request-id']), wish.logged ?? 'once', path);
        const body = JSON.parse(Buffer.concat(chunks).toString()) as Refusal['body'];
        resolve({ status: answer.statusCode ?? 0, body, headers: answer.headers });
      });
    });
  });
}

function message(socket: WebSocket): Promise<Buffer> {
  return new Promise((resolve) => socket.once('message', (data) => resolve(data as Buffer)));
}

describe('a realtime session', () => {
  it("is OpenAI's own client's: events both ways, one row when it has ended", async () => {
    const simulator = await simulatedOpenAi(world.service.facts.egressPorts);
    simulator.onMessage('hello', { content: 'Hi there' });
    try {
      const client = new OpenAI({ baseURL: `${world.service.baseUrl}/v1`, apiKey: world.apiKey.key });
      const { port } = new URL(world.service.baseUrl);
      const stored = await world.administration.createVirtualKey({
        name: `simulated-${randomBytes(4).toString('hex')}`,
        secret: world.providerSecret,
        customHost: `${simulator.url}/v1`,
      });
      const socket = new OpenAIRealtimeWS(
        {
          model: `@${stored}/gpt-realtime`,
          // The client always wants TLS, which stands in front of the service; here it is left out.
          options: { createConnection: () => connect(Number(port), '127.0.0.1') },
        },
        client,
      );
      socket.socket.once('upgrade', ({ headers }) =>
        world.note(String(headers['x-gateway-request-id']), 'once'),
      );
      const text = await new Promise<string>((resolve, reject) => {
        let heard = '';
        socket.on('error', reject);
        socket.on('session.created', () => {
          socket.send({
            type: 'conversation.item.create',
            item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'hello' }] },
          });
          socket.send({ type: 'response.create' });
        });
        socket.on('event', (event) => {
          if (event.type === 'response.output_text.delta') heard += event.delta;
          if (event.type === 'response.done') resolve(heard);
        });
      });
      expect(text).toBe('Hi there');
      socket.close();
    } finally {
      await simulator.stop();
    }
  });

  it('passes every message on as it was, both ways, and leaves one row with its bytes', async () => {
    const { socket, id, closed } = await open();
    const messages = [
      randomBytes(3 * 1024 * 1024),
      Buffer.from('short'),
      randomBytes(70_000),
      Buffer.alloc(0),
    ];
    for (const sent of messages) {
      socket.send(sent);
      expect((await message(socket)).equals(sent)).toBe(true);
    }
    socket.close(1000);
    expect((await closed).code).toBe(1000);
    const row = await world.logs.row(id);
    expect(row).toMatchObject({
      method: 'GET',
      endpoint: 'realtime',
      model: 'gpt-realtime',
      virtual_key: slug,
      status: 101,
      ending: 'completed',
      streamed: true,
    });
    expect(row.request_bytes).toBeGreaterThan(3 * 1024 * 1024);
    expect(row.response_bytes).toBeGreaterThan(3 * 1024 * 1024);
    expect(row.attempts).toMatchObject([{ status: 101, error_code: null }]);
  });

  it('adds up the tokens of all its responses, and what they cost', async () => {
    upstream.play = (socket) => {
      const send = (event: object): void => socket.send(JSON.stringify(event));
      send({ type: 'session.created', session: { model: 'gpt-realtime' } });
      socket.on('message', () => {
        send({ type: 'response.output_audio.delta', delta: 'A'.repeat(100_000) });
        send({ type: 'response.done', response: { usage: { input_tokens: 1000, output_tokens: 500 } } });
      });
    };
    const { socket, id, closed } = await open();
    for (let turn = 0; turn < 3; turn++) {
      const done = new Promise<void>((resolve) =>
        socket.on('message', (data: Buffer) => data.includes('response.done') && resolve()),
      );
      socket.send('{"type":"response.create"}');
      await done;
    }
    socket.close();
    await closed;
    expect(await world.logs.row(id)).toMatchObject({
      input_tokens: 3000,
      output_tokens: 1500,
      usage_source: 'provider',
      response_model: 'gpt-realtime',
      // $4 and $16 per million tokens of text.
      cost_nano_usd: 3 * (1000 * 4_000 + 500 * 16_000),
    });
  });

  it('reaches the provider with its own credential and nothing of the gateway', async () => {
    const headers = {
      'x-gateway-api-key': world.apiKey.key,
      'x-gateway-virtual-key': slug,
      cookie: 'a=b',
      'openai-beta': 'realtime=v1',
    };
    const { socket, closed } = await open({ path: '/v1/realtime?model=gpt-realtime&x=%20', headers });
    expect(socket.extensions).toBe('');
    const { target, headers: seen } = upstream.last;
    expect(target).toBe('/base/v1/realtime?model=gpt-realtime&x=%20');
    expect(seen).toMatchObject({
      authorization: `Bearer ${world.providerSecret}`,
      'openai-beta': 'realtime=v1',
    });
    expect(seen['sec-websocket-extensions']).toBeUndefined();
    expect(Object.keys(seen).filter((name) => /cookie|x-gateway/.test(name))).toEqual([]);
    socket.close();
    await closed;
  });

  it('takes the key of a browser from its subprotocol, and the virtual key from the model', async () => {
    const { socket, closed } = await open({
      path: `/v1/realtime?model=${encodeURIComponent(`@${slug}/gpt-realtime`)}`,
      protocols: ['realtime', `openai-insecure-api-key.${world.apiKey.key}`],
      headers: { origin: 'https://app.example' },
    });
    expect(socket.protocol).toBe('realtime');
    expect(upstream.last.headers['sec-websocket-protocol']).toBe('realtime');
    expect(upstream.last.target).toBe('/base/v1/realtime?model=gpt-realtime');
    socket.close();
    await closed;
  });

  it("goes to a provider's host with the caller's own key", async () => {
    const { socket, closed } = await open({
      headers: world.hostHeaders(`http://127.0.0.1:${upstream.port}/own`),
    });
    expect(upstream.last.target).toBe('/own/realtime?model=gpt-realtime');
    expect(upstream.last.headers.authorization).toBe(`Bearer ${world.clientSecret}`);
    socket.close();
    await closed;
  });
});

describe('a refusal comes before the upgrade, as an HTTP response', () => {
  it('of an unknown key', async () => {
    const { status, body } = await refused({
      headers: { 'x-gateway-api-key': 'gw_ws_nobody' },
      logged: 'never',
    });
    expect([status, body.error.code]).toEqual([401, 'unauthenticated']);
  });

  it('of no provider at all', async () => {
    const { status, body } = await refused({ headers: { 'x-gateway-api-key': world.apiKey.key } });
    expect([status, body.error.code]).toEqual([400, 'provider_missing']);
  });

  it.each([
    ['no provider', () => ({}), 'provider was chosen'],
    ['a provider without it', () => ({ 'x-gateway-virtual-key': anthropic }), 'anthropic'],
  ])('of responses with %s, which the client then requests over HTTP', async (_, headers, reason) => {
    const { status, body } = await refused({
      path: '/v1/responses',
      headers: { 'x-gateway-api-key': world.apiKey.key, ...headers() },
    });
    expect([status, body.error.code]).toEqual([426, 'websocket_unsupported']);
    expect(body.error.message).toContain(reason);
    expect(body.error.message).toContain('POST /v1/responses');
  });

  it('of responses under a limit that cannot be measured there', async () => {
    const { key } = await world.administration.createKey('measured-responses', ['completions.write'], {
      usage_limits: { credit_limit: 10 },
    });
    const headers = { 'x-gateway-api-key': key, 'x-gateway-virtual-key': slug };
    const { status, body } = await refused({ path: '/v1/responses', headers });
    expect([status, body.error.code]).toEqual([426, 'websocket_unsupported']);
  });

  it('of responses without a valid key, with 401 as over HTTP', async () => {
    const headers = { 'x-gateway-api-key': 'gw_ws_wrong' };
    const { status } = await refused({ path: '/v1/responses', headers, logged: 'never' });
    expect(status).toBe(401);
  });

  it('where a guardrail would have to inspect the session', async () => {
    const hook = { 'default.contains': { operator: 'none', words: ['Apollo'] }, deny: true, id: 'names' };
    const config = JSON.stringify({ virtual_key: slug, input_guardrails: [hook] });
    const headers = { 'x-gateway-api-key': world.apiKey.key, 'x-gateway-config': config };
    const { status, body } = await refused({ headers });
    expect([status, body.error.code]).toEqual([403, 'guardrail_inapplicable']);
  });

  it('of an unsupported version', async () => {
    const { status, body } = await refused({ options: { protocolVersion: 8 }, logged: 'never' });
    expect([status, body.error.code]).toEqual([400, 'header_invalid']);
  });

  it('of the provider itself, unchanged', async () => {
    upstream.refusal = { status: 403, body: '{"error":{"code":"no_access","message":"no"}}' };
    const { status, body, headers } = await refused({});
    expect([status, body]).toEqual([403, { error: { code: 'no_access', message: 'no' } }]);
    expect(headers['x-gateway-error-source']).toBe('provider');
  });

  it('of a place that must not be called', async () => {
    const { status, body } = await refused({ headers: world.hostHeaders('http://169.254.169.254') });
    expect([status, body.error.code]).toEqual([403, 'custom_host_blocked']);
  });

  it('leaves the connection to an ordinary request for another protocol', async () => {
    const { port } = new URL(world.service.baseUrl);
    const socket = connect(Number(port), '127.0.0.1');
    const body = '{"model":"sandbox-1","messages":[{"role":"user","content":"hi"}]}';
    socket.write(
      [
        'POST /v1/chat/completions HTTP/1.1',
        `Host: 127.0.0.1:${port}`,
        'Connection: Upgrade, HTTP2-Settings, close',
        'Upgrade: h2c',
        'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA',
        'Content-Type: application/json',
        'x-gateway-provider: sandbox',
        `x-gateway-api-key: ${world.apiKey.key}`,
        `Content-Length: ${body.length}`,
        '',
        body.slice(0, 10),
      ].join('\r\n'),
    );
    setTimeout(() => socket.write(body.slice(10)), 50);
    let text = '';
    for await (const chunk of socket as AsyncIterable<Buffer>) text += chunk.toString();
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    world.note(/x-gateway-request-id: (\S+)/.exec(text)?.[1] ?? '', 'once', 'h2c');
  });
});

describe('a session of responses', () => {
  it('has the model, the tokens and the cost of its turns, and is complete when the client leaves after them', async () => {
    const usage = {
      ...{ input_tokens: 1000, input_tokens_details: { cached_tokens: 400 } },
      ...{ output_tokens: 50, output_tokens_details: { reasoning_tokens: 20 }, total_tokens: 1050 },
    };
    upstream.play = (socket) => {
      socket.on('message', () => {
        const response = { id: 'resp_1', object: 'response', model: 'gpt-5', usage: null };
        socket.send(JSON.stringify({ type: 'response.created', response }));
        socket.send(JSON.stringify({ type: 'response.output_text.delta', delta: 'Hi' }));
        socket.send(
          JSON.stringify({
            type: 'response.completed',
            response: { ...response, status: 'completed', usage },
          }),
        );
      });
    };
    const { socket, id } = await open({ path: '/v1/responses' });
    for (let turn = 0; turn < 2; turn++) {
      const completed = new Promise<void>((resolve) => {
        socket.on('message', (data: Buffer) => data.includes('response.completed') && resolve());
      });
      socket.send(JSON.stringify({ type: 'response.create', model: 'gpt-5', input: [] }));
      await completed;
    }
    socket.terminate();
    await eventually(() => upstream.last.closedAt, { what: 'the end at the provider' });

    const row = await world.logs.row(id);
    expect(row).toMatchObject({
      ...{ ending: 'completed', model: 'gpt-5', usage_source: 'provider' },
      ...{ input_tokens: 2000, output_tokens: 100 },
    });
    // $1.25 and $10 for a million tokens, $0.125 for cached ones.
    expect(Number(row.cost_nano_usd)).toBe(2 * (600 * 1250 + 400 * 125 + 50 * 10_000));
  });
});

describe('a session obeys the limits of its API key', () => {
  /** Responds to each message with 1,000 and 500 tokens of text, which cost $0.012. */
  const respond = (socket: WebSocket): void => {
    socket.on('message', () => {
      socket.send(JSON.stringify({ type: 'response.created', response: {} }));
      const usage = { input_tokens: 1000, output_tokens: 500 };
      socket.send(JSON.stringify({ type: 'response.done', response: { status: 'completed', usage } }));
    });
  };
  const limited = async (limits: object): Promise<Record<string, string>> => {
    const { key } = await world.administration.createKey(
      `limited-${randomBytes(4).toString('hex')}`,
      ['completions.write'],
      limits,
    );
    return { 'x-gateway-api-key': key, 'x-gateway-virtual-key': slug };
  };

  it.each([
    ['a budget', { usage_limits: { credit_limit: 0.00001 } }, 402, 'budget_exceeded'],
    ['a budget of tokens', { usage_limits: { credit_limit: 1, type: 'tokens' } }, 402, 'budget_exceeded'],
  ])('is refused before it opens when %s is exhausted', async (_, limits, status, code) => {
    const refusal = await refused({ headers: await limited(limits) });
    expect([refusal.status, refusal.body.error.code]).toEqual([status, code]);
  });

  it('is refused under a dollar budget when its model has no price', async () => {
    const headers = await limited({ usage_limits: { credit_limit: 10 } });
    const { status, body } = await refused({ headers, path: '/v1/realtime?model=unknown-live-9' });
    expect([status, body.error.code]).toEqual([402, 'price_unknown']);
  });

  it.each([
    ['its budget', { usage_limits: { credit_limit: 0.35 } }, 1008, 'budget_exceeded'],
    ['its rate', { rate_limits: { type: 'requests', unit: 'rph', value: 3 } }, 1013, 'rate_limited'],
  ])('is closed with an error event before %s is exceeded', async (_, limits, code, reason) => {
    upstream.play = respond;
    const { socket, id, closed } = await open({ headers: await limited(limits) });
    const events: { type: string; error?: { code: string } }[] = [];
    socket.on('message', (data: Buffer) => {
      events.push(JSON.parse(data.toString()) as { type: string });
      if (data.includes('response.done')) socket.send('{"type":"response.create"}');
    });
    socket.send('{"type":"response.create"}');
    expect(await closed).toEqual({ code, reason });
    expect(events.at(-1)).toMatchObject({ type: 'error', error: { code: reason } });
    const responses = events.filter(({ type }) => type === 'response.done').length;
    expect(responses).toBeGreaterThanOrEqual(1);
    await eventually(() => upstream.last.closedAt, { what: 'the end at the provider' });
    const row = await world.logs.row(id);
    expect(row).toMatchObject({
      ending: 'completed',
      error_code: reason,
      error_source: 'gateway',
      usage_source: 'provider',
      cost_nano_usd: responses * 12_000_000,
    });
    expect(row.cost_nano_usd).toBeLessThanOrEqual(350_000_000);
  });
});

describe('a session ends', () => {
  it('within two seconds of its key being revoked', async () => {
    const key = await world.administration.createKey(`revoked-${randomBytes(4).toString('hex')}`);
    const { closed } = await open({
      headers: { 'x-gateway-api-key': key.key, 'x-gateway-virtual-key': slug },
    });
    await world.administration.deleteKey(key.id);
    const revokedAt = Date.now();
    expect(await closed).toEqual({ code: 1008, reason: 'api_key_ended' });
    expect(Date.now() - revokedAt).toBeLessThan(2_000);
    await eventually(() => upstream.last.closedAt, { what: 'the end at the provider' });
  });

  it('at the provider when the client disconnects silently', async () => {
    const { socket, id } = await open();
    const { last } = upstream;
    socket.terminate();
    await eventually(() => last.closedAt, { what: 'the end at the provider' });
    expect(await world.logs.row(id)).toMatchObject({ ending: 'client_aborted', status: 101 });
  });

  it('at the client, with a reason, when the provider disconnects silently', async () => {
    const { id, closed } = await open();
    upstream.last.socket.terminate();
    expect((await closed).code).toBe(1014);
    expect(await world.logs.row(id)).toMatchObject({
      ending: 'upstream_truncated',
      error_code: 'upstream_error',
      error_source: 'provider',
    });
  });

  it("with the provider's own close code", async () => {
    const { id, closed } = await open();
    upstream.last.socket.close(4000, 'session expired');
    expect(await closed).toEqual({ code: 4000, reason: 'session expired' });
    expect(await world.logs.row(id)).toMatchObject({ ending: 'completed', error_code: null });
  });

  it('in the middle of a message too, at the end of its frame', async () => {
    const key = await world.administration.createKey(`mid-${randomBytes(4).toString('hex')}`);
    const { closed } = await open({
      headers: { 'x-gateway-api-key': key.key, 'x-gateway-virtual-key': slug },
    });
    const raw = (upstream.last.socket as unknown as { _socket: Socket })._socket;
    raw.write(Buffer.from([0x82, 0x05, 1, 2]));
    await world.administration.deleteKey(key.id);
    await eventually(() => upstream.last.closedWith !== null || upstream.last.socket.readyState > 1, {
      what: 'the end at the provider',
    });
    raw.write(Buffer.from([3, 4, 5]));
    expect((await closed).code).toBe(1008);
  });

  it('when the client takes nothing for longer than a provider may be silent; what waits is bounded', async () => {
    const flood = Buffer.alloc(1024 * 1024);
    upstream.play = (socket) => {
      for (let at = 0; at < 64; at++) socket.send(flood);
    };
    const { socket, id } = await open();
    socket.pause();
    const { last } = upstream;
    await eventually(() => last.closedAt, { what: 'the end at the provider' });
    const row = await world.logs.row(id);
    expect(row).toMatchObject({ ending: 'client_aborted', error_code: 'upstream_timeout' });
    expect(row.response_bytes).toBeLessThan(32 * 1024 * 1024);
    socket.terminate();
  });
});

describe('a service that stops', () => {
  it('closes its sessions with code 1001 after the drain time, each with its row', async () => {
    const own = await startService({
      egressPorts: [upstream.port],
      env: {
        GATEHOUSE_PORT: String(await freePort()),
        GATEHOUSE_PROCESSES: '1',
        GATEHOUSE_DRAIN_DELAY_MS: '50',
        GATEHOUSE_DRAIN_TIMEOUT_MS: '700',
      },
    });
    const { workspace_api_key } = own.bootstrap;
    const { socket, closed } = await open({
      baseUrl: own.baseUrl,
      headers: {
        ...world.hostHeaders(`http://127.0.0.1:${upstream.port}`),
        'x-gateway-api-key': workspace_api_key,
      },
    });
    const stopped = own.stop();
    socket.send('still here');
    expect((await message(socket)).toString()).toBe('still here');
    expect((await closed).code).toBe(1001);
    expect(await stopped).toEqual({ code: 0, signal: null });
    await own.dispose();
  });
});

describe('afterwards', () => {
  it('every session has one row', async () => {
    // A drained service of its own has its own log; everything else is here.
    const rows = await eventually(
      async () => {
        const found = await world.rows();
        return found.length > 10 && found;
      },
      { what: 'the rows' },
    );
    expect(
      rows
        .filter(({ endpoint }) => endpoint === 'realtime')
        .every(({ ending }) => ending !== 'gateway_crashed'),
    ).toBe(true);
  });

  it('no secret appears anywhere', () => world.checkCanaries());
});
