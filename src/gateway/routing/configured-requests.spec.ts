import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { aCaller, aGateway, type GatewayWishes, type TestGateway } from '../../../test/support/gateway.js';
import { AppError } from '../../common/errors/app-error.js';

const ANSWER = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'gpt-4o-mini',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
});
const MESSAGE = JSON.stringify({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text', text: 'Hello from Claude' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 7, output_tokens: 3 },
});
const CHAT = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] };
const BUSY = { status: 429, headers: { 'retry-after-ms': '1' }, chunks: ['{"error":{"message":"busy"}}'] };
const DOWN = { error: new AppError('upstream_error', { detail: 'connection reset' }) };
const ONE_AFTER_THE_OTHER = {
  strategy: { mode: 'fallback' },
  targets: [
    { virtual_key: 'openai-prod' },
    { virtual_key: 'claude', override_params: { model: 'claude-sonnet-4-5' } },
  ],
};

let gateway: TestGateway;
const given = async (wishes: GatewayWishes): Promise<TestGateway> =>
  (gateway = await aGateway({ virtualKeys: { claude: 'anthropic', groq: 'groq' }, ...wishes }));

afterEach(() => gateway.close());

/** Without the virtual key that `chat` names otherwise. */
const by = (config: object | string): Record<string, string> => ({
  'x-gateway-virtual-key': '',
  'x-gateway-config': typeof config === 'string' ? config : JSON.stringify(config),
});

describe('a request with a config', () => {
  it('falls back to a provider of another dialect, translated, priced and logged as what it was', async () => {
    const { chat, calls, logs } = await given({ answers: [BUSY, { chunks: [MESSAGE] }] });

    const response = await chat(CHAT, by(ONE_AFTER_THE_OTHER));

    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      object: 'chat.completion',
      choices: [{ message: { content: 'Hello from Claude' } }],
    });
    expect(response.headers.get('x-gateway-provider')).toBe('anthropic');
    expect(response.headers.get('x-gateway-last-used-option-index')).toBe('config.targets[1]');
    expect(response.headers.get('x-gateway-retry-attempt-count')).toBe('0');
    expect(calls.map(({ path }) => path)).toEqual(['/v1/chat/completions', '/v1/messages']);
    expect(calls[1]?.headers).toContain('sk-claude');
    expect(calls[1]?.headers.join()).not.toContain('sk-stored');
    expect(JSON.parse(String(calls[1]?.body as Buffer))).toMatchObject({ model: 'claude-sonnet-4-5' });
    expect(logs).toHaveLength(1);
    expect(logs[0]?.record).toMatchObject({
      status: 200,
      provider: 'anthropic',
      virtual_key: 'claude',
      model: 'claude-sonnet-4-5',
      option_path: 'config.targets[1]',
      usage: { input_tokens: 7, output_tokens: 3 },
      attempts: [
        { attempt: 0, provider: 'openai', option_path: 'config.targets[0]', status: 429 },
        { attempt: 1, provider: 'anthropic', option_path: 'config.targets[1]', status: 200 },
      ],
    });
  });

  it("does not burn a second provider's money on the caller's own mistake", async () => {
    const { chat, calls } = await given({
      answers: [{ status: 400, chunks: ['{"error":{}}'] }, { chunks: [MESSAGE] }],
    });

    expect((await chat(CHAT, by(ONE_AFTER_THE_OTHER))).status).toBe(400);
    expect(calls).toHaveLength(1);
  });

  it('tries the next target when a provider is unreachable, and returns the last failure when all are', async () => {
    const { chat, logs } = await given({ answers: [DOWN, DOWN] });

    const response = await chat(CHAT, by(ONE_AFTER_THE_OTHER));

    expect(response.status).toBe(502);
    expect(response.headers.get('x-gateway-last-used-option-index')).toBe('config.targets[1]');
    expect(logs[0]?.record).toMatchObject({
      ending: 'upstream_failed',
      attempts: [
        { option_path: 'config.targets[0]', error_code: 'upstream_error' },
        { option_path: 'config.targets[1]', error_code: 'upstream_error' },
      ],
    });
  });

  it('moves on when a target takes too long, by the time of that target', async () => {
    const config = {
      ...ONE_AFTER_THE_OTHER,
      targets: [{ ...ONE_AFTER_THE_OTHER.targets[0], request_timeout: 30 }, ONE_AFTER_THE_OTHER.targets[1]],
    };
    const { chat, logs } = await given({ answers: [{ status: 0, isEndless: true }, { chunks: [MESSAGE] }] });

    expect((await chat(CHAT, by(config))).status).toBe(200);
    expect(logs[0]?.record.attempts[0]).toMatchObject({ status: null, error_code: 'request_timeout' });
  });

  it('moves on when a target has no virtual key any more', async () => {
    const config = {
      strategy: { mode: 'fallback' },
      targets: [{ virtual_key: 'gone' }, { virtual_key: 'openai-prod' }],
    };
    const { chat, calls } = await given({ answers: [{ chunks: [ANSWER] }] });

    expect((await chat(CHAT, by(config))).status).toBe(200);
    expect(calls).toHaveLength(1);
  });

  it('retries as configured, and reports when that did not help', async () => {
    const config = {
      virtual_key: 'openai-prod',
      retry: { attempts: 2, on_status_codes: [429, 500], use_retry_after_headers: true },
    };
    const { chat, calls } = await given({
      answers: [BUSY, { ...BUSY, status: 500 }, { chunks: [ANSWER] }, BUSY],
    });

    const helped = await chat(CHAT, by(config));
    const exhausted = await chat(CHAT, by(config));

    expect([helped.status, helped.headers.get('x-gateway-retry-attempt-count')]).toEqual([200, '2']);
    expect([exhausted.status, exhausted.headers.get('x-gateway-retry-attempt-count')]).toEqual([429, '-1']);
    expect(calls).toHaveLength(6);
  });

  it('waits no longer than a minute, whatever the provider requests', async () => {
    const config = { virtual_key: 'openai-prod', retry: { attempts: 5, use_retry_after_header: true } };
    const { chat, calls } = await given({
      answers: [{ ...BUSY, headers: { 'x-ms-retry-after-ms': '60001' } }],
    });

    expect((await chat(CHAT, by(config))).status).toBe(429);
    expect(calls).toHaveLength(1);
  });

  it('tries a failure again only where its status is listed', async () => {
    const failing = (on_status_codes: number[]) => ({
      virtual_key: 'openai-prod',
      retry: { attempts: 1, on_status_codes },
    });
    const { chat, calls } = await given({ answers: [DOWN, DOWN, { chunks: [ANSWER] }] });

    expect((await chat(CHAT, by(failing([429])))).status).toBe(502);
    expect((await chat(CHAT, by(failing([503])))).status).toBe(200);
    expect(calls).toHaveLength(3);
  });

  it('changes parameters per target and leaves the bytes of all others', async () => {
    const config = {
      strategy: { mode: 'fallback' },
      targets: [
        { virtual_key: 'openai-prod', override_params: { temperature: 0 } },
        { virtual_key: 'groq', override_params: { model: 'llama-3' } },
        { virtual_key: 'openai-prod' },
      ],
    };
    const { chat, calls } = await given({ answers: [BUSY, BUSY, { chunks: [ANSWER] }] });

    await chat(CHAT, by(config));

    const bodies = calls.map(({ body }) => String(body as Buffer));
    expect(JSON.parse(bodies[0] ?? '')).toEqual({ ...CHAT, temperature: 0 });
    expect(bodies[1]).toBe(JSON.stringify({ ...CHAT, model: 'llama-3' }));
    expect(bodies[2]).toBe(JSON.stringify(CHAT));
  });

  it('sends a pass-through again when its length is known, and never one that streams', async () => {
    const config = {
      strategy: { mode: 'fallback' },
      targets: [{ virtual_key: 'openai-prod' }, { virtual_key: 'groq' }],
    };
    const { request, calls } = await given({ answers: [{ status: 500 }, { chunks: ['{}'] }] });
    const init = { method: 'POST', headers: by(config) };
    const stream = new ReadableStream({
      start: (controller) => {
        controller.enqueue(Buffer.from('streamed'));
        controller.close();
      },
    });

    expect((await request('/v1/unknown', { ...init, body: 'known' })).status).toBe(200);
    expect(calls.map(({ body }) => String(body as Buffer))).toEqual(['known', 'known']);
    calls.length = 0;
    const streamed = await request('/v1/unknown', { ...init, body: stream, duplex: 'half' });
    expect([streamed.status, calls.length]).toEqual([500, 1]);
  });

  it('forwards what the config lists, in place of the stored credential too, and never a gateway key', async () => {
    const config = { virtual_key: 'openai-prod', forward_headers: ['Authorization', 'Cookie'] };
    const { chat, calls, key } = await given({ answers: [{ chunks: [ANSWER] }] });

    await chat(CHAT, { ...by(config), authorization: 'Bearer mine', cookie: 'a=b' });
    await chat(CHAT, { ...by(config), cookie: `a=${gateway.key}` });

    expect(calls[0]?.headers).toEqual(expect.arrayContaining(['Bearer mine', 'a=b']));
    expect(calls[0]?.headers).not.toContain('Bearer sk-stored');
    expect(calls[1]?.headers).toContain('Bearer sk-stored');
    expect(calls[1]?.headers.join()).not.toContain(key);
  });

  it('goes where the request says when the config names no place', async () => {
    const { request, calls } = await given({ answers: [{ chunks: [ANSWER] }] });

    await request('/v1/chat/completions', {
      method: 'POST',
      body: JSON.stringify({ ...CHAT, model: '@groq/llama-3' }),
      headers: { 'x-gateway-config': '{"override_params":{"temperature":0}}' },
    });

    expect(calls[0]?.target.virtualKey?.slug).toBe('groq');
    expect(JSON.parse(String(calls[0]?.body as Buffer))).toMatchObject({ model: 'llama-3', temperature: 0 });
  });

  it('uses a key that is written out, and shows it nowhere', async () => {
    const config = { provider: 'openai', api_key: 'sk-inline' };
    const { chat, calls, logs } = await given({
      answers: [{ headers: { echo: 'sk-inline' }, chunks: [ANSWER] }],
    });

    await chat(CHAT, by(config));

    expect(calls[0]?.headers).toContain('Bearer sk-inline');
    expect(JSON.stringify(logs[0])).not.toContain('sk-inline');
  });

  it('keeps a custom host from a virtual key that does not pin it', async () => {
    const { chat, calls } = await given({});

    const response = await chat(CHAT, by({ virtual_key: 'openai-prod', custom_host: 'https://example.com' }));

    expect(response.status).toBe(400);
    expect(calls).toEqual([]);
  });

  it('refuses several targets for resources of one account', async () => {
    const { request, calls } = await given({});

    const response = await request('/v1/files', { headers: by(ONE_AFTER_THE_OTHER) });

    expect(await response.json()).toMatchObject({ error: { code: 'config_invalid' } });
    expect(calls).toEqual([]);
  });

  it("goes by the saved config that it names, else by its key's own, and the log knows which", async () => {
    const configs = { 'pc-default': { virtual_key: 'openai-prod' }, 'pc-other': { virtual_key: 'groq' } };
    const id = '00000000-0000-7000-8000-000000000200';
    const caller = aCaller({ routing: { configId: id, allowsOverride: true } });
    const { chat, logs } = await given({ configs, caller, answers: [{ chunks: [ANSWER] }] });

    await chat(CHAT, { 'x-gateway-virtual-key': '' });
    await chat(CHAT, by('pc-other'));

    expect(logs.map(({ record }) => [record.virtual_key, record.config_id?.slice(-3)])).toEqual([
      ['openai-prod', '200'],
      ['groq', '201'],
    ]);
    expect(logs[0]?.record.config_version_id).not.toBeNull();
  });

  it("refuses any config but the key's own where the key requires it", async () => {
    const caller = aCaller({ routing: { configId: null, allowsOverride: false } });
    const { chat, calls } = await given({ configs: { 'pc-1': { virtual_key: 'groq' } }, caller });

    for (const config of ['pc-1', '{"virtual_key":"groq"}'])
      expect((await chat(CHAT, by(config))).status).toBe(400);
    expect(calls).toEqual([]);
  });

  it('stops for a client that leaves, and calls no further target', async () => {
    const { chat, calls, logged } = await given({
      answers: [{ status: 0, isEndless: true }, { chunks: [ANSWER] }],
    });
    const leaving = new AbortController();
    const pending = gateway
      .request('/v1/chat/completions', {
        method: 'POST',
        body: JSON.stringify(CHAT),
        headers: by(ONE_AFTER_THE_OTHER),
        signal: leaving.signal,
      })
      .catch(() => null);
    while (calls.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    leaving.abort();
    await pending;

    expect(await logged()).toMatchObject({
      ending: 'client_aborted',
      attempts: [{ option_path: 'config.targets[0]' }],
    });
    expect(calls).toHaveLength(1);
    expect(chat).toBeTypeOf('function');
  });
});

describe('a stream that breaks before its first useful token', () => {
  const EVENTS = { 'content-type': 'text/event-stream' };
  const event = (data: object, name = ''): string =>
    `${name && `event: ${name}\n`}data: ${JSON.stringify(data)}\n\n`;
  const delta = (given: object): string =>
    event({ model: 'gpt-4o-mini', choices: [{ index: 0, delta: given }] });
  const ROLE = delta({ role: 'assistant', content: '' });
  const DONE = 'data: [DONE]\n\n';
  const ERROR = event({ error: { message: 'overloaded', type: 'server_error' } });
  const GOOD = { headers: EVENTS, chunks: [ROLE, delta({ content: 'Hel' }), delta({ content: 'lo' }), DONE] };
  const STREAM = { ...CHAT, stream: true };
  const TWO = {
    strategy: { mode: 'fallback' },
    targets: [{ virtual_key: 'openai-prod' }, { virtual_key: 'groq' }],
  };
  const CLAUDE_FIRST = { ...TWO, targets: [{ virtual_key: 'claude' }, { virtual_key: 'openai-prod' }] };
  const START = event(
    {
      type: 'message_start',
      message: {
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'claude',
        content: [],
        usage: { input_tokens: 1 },
      },
    },
    'message_start',
  );
  const OVERLOADED = event(
    { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
    'error',
  );

  it.each([
    ['with an error', { headers: EVENTS, chunks: [ROLE, ERROR] }],
    ['with an error in the same piece', { headers: EVENTS, chunks: [ROLE + ERROR] }],
    ['by breaking off', { headers: EVENTS, chunks: [ROLE], error: new Error('reset') }],
    ['by ending before anything came', { headers: EVENTS, chunks: [': hello\n\n'] }],
  ])('%s moves on, and the client never sees it', async (_, broken) => {
    const { chat, logged } = await given({ answers: [broken, GOOD] });

    const response = await chat(STREAM, by(TWO));

    expect(await response.text()).toBe(GOOD.chunks.join(''));
    expect(response.headers.get('x-gateway-last-used-option-index')).toBe('config.targets[1]');
    expect(await logged()).toMatchObject({
      ending: 'completed',
      attempts: [
        { option_path: 'config.targets[0]', error_code: 'upstream_error' },
        { status: 200, error_code: null },
      ],
    });
  });

  it('moves on from a stream of another dialect, and to one', async () => {
    const claude = {
      headers: EVENTS,
      chunks: [
        START,
        event(
          { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
          'content_block_start',
        ),
        event(
          { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Bonjour' } },
          'content_block_delta',
        ),
        event({ type: 'message_stop' }, 'message_stop'),
      ],
    };
    const { chat } = await given({
      answers: [
        { headers: EVENTS, chunks: [START, OVERLOADED] },
        GOOD,
        { headers: EVENTS, chunks: [ERROR] },
        claude,
      ],
    });

    const from = await chat(STREAM, by(CLAUDE_FIRST));
    const to = await chat(
      STREAM,
      by({ ...TWO, targets: [{ virtual_key: 'groq' }, { virtual_key: 'claude' }] }),
    );

    expect(await from.text()).toBe(GOOD.chunks.join(''));
    expect(await to.text()).toContain('Bonjour');
  });

  it('loses no byte of a stream that was held and is good, however it is cut', async () => {
    const whole = GOOD.chunks.join('');
    const chunks = Array.from({ length: Math.ceil(whole.length / 3) }, (_, at) =>
      whole.slice(3 * at, 3 * at + 3),
    );
    const { chat, calls } = await given({ answers: [{ headers: EVENTS, chunks }] });

    expect(await (await chat(STREAM, by(TWO))).text()).toBe(whole);
    expect(calls).toHaveLength(1);
  });

  it('is passed on unchanged once its first token has come', async () => {
    const chunks = [ROLE, delta({ content: 'Hel' }), ERROR];
    const { chat, calls } = await given({ answers: [{ headers: EVENTS, chunks }, GOOD] });

    expect(await (await chat(STREAM, by(TWO))).text()).toBe(chunks.join(''));
    expect(calls).toHaveLength(1);
  });

  it('is passed on unchanged from the last target, and where the config does not hold streams', async () => {
    const broken = { headers: EVENTS, chunks: [ROLE, ERROR] };
    const { chat } = await given({ answers: [broken] });
    const unheld = { ...TWO, strategy: { mode: 'fallback', hold_stream_ms: 0 } };
    const deaf = { ...TWO, strategy: { mode: 'fallback', on_status_codes: [429] } };

    for (const config of [TWO, unheld, deaf])
      expect(await (await chat(STREAM, by(config))).text()).toBe(broken.chunks.join(''));
  });

  it('is held for no more than 64 events, nor longer than the config says', async () => {
    const silent = Array<string>(64).fill(ROLE);
    const { chat, calls } = await given({
      answers: [
        { headers: EVENTS, chunks: [...silent, ERROR] },
        { headers: EVENTS, chunks: [ROLE], isEndless: true },
      ],
    });

    expect(await (await chat(STREAM, by(TWO))).text()).toBe([...silent, ERROR].join(''));
    const slow = await chat(STREAM, by({ ...TWO, strategy: { mode: 'fallback', hold_stream_ms: 30 } }));
    const { value } = (await slow.body?.getReader().read()) ?? {};
    expect(Buffer.from(value ?? []).toString()).toBe(ROLE);
    expect(calls).toHaveLength(2);
  });

  it('holds for plain responses, too: one that breaks off moves to the next target', async () => {
    const { chat, logs } = await given({
      answers: [{ chunks: [ANSWER.slice(0, 20)], error: new Error('reset') }, { chunks: [ANSWER] }],
    });

    const response = await chat(CHAT, by(TWO));

    expect([response.status, await response.text()]).toEqual([200, ANSWER]);
    expect(logs[0]?.record.attempts).toHaveLength(2);
  });

  it.each([
    ['as it came', TWO, {}],
    ['in gzip', TWO, { 'content-encoding': 'gzip' }],
    ['of another dialect', CLAUDE_FIRST, {}],
  ])(
    'holds for plain responses, too: an error behind a 200 moves to the next target, %s',
    async (_, config, more) => {
      const said = JSON.stringify({ error: { message: 'overloaded', code: 503 } });
      const chunks = ['content-encoding' in more ? gzipSync(said) : said];
      const error = { headers: { 'content-type': 'application/json', ...more }, chunks };
      const { chat, logs } = await given({ answers: [error, { chunks: [ANSWER] }] });

      const response = await chat(CHAT, by(config));

      expect([response.status, await response.text()]).toEqual([200, ANSWER]);
      expect(logs[0]?.record.attempts).toMatchObject([
        { status: 200, error_code: 'upstream_error', usage: null },
        { error_code: null },
      ]);
    },
  );

  it.each([
    ['an answer', CHAT, { chunks: ['{"error":{"message":"overloaded"}}'] }],
    ['a stream', STREAM, { headers: EVENTS, chunks: [ERROR] }],
  ])(
    'does not wait in the next target for what the cache was to keep of the failed one: %s',
    async (_, body, error) => {
      const good = body === CHAT ? { chunks: [ANSWER] } : GOOD;
      const { chat } = await given({ answers: [error, good] });
      const same = { virtual_key: 'openai-prod' };

      const response = await chat(
        body,
        by({ strategy: { mode: 'fallback' }, cache: { mode: 'simple' }, targets: [same, same] }),
      );

      expect([response.status, await response.text()]).toEqual([200, good.chunks.join('')]);
    },
  );

  it('passes on an error behind a 200 unchanged from the last target', async () => {
    const said = JSON.stringify({ error: { message: 'overloaded', code: 503 } });
    const { chat, calls } = await given({ answers: [{ chunks: [said] }] });

    const response = await chat(CHAT, by(TWO));

    expect([response.status, await response.text()]).toEqual([200, said]);
    expect(calls).toHaveLength(2);
  });
});
