import { afterEach, describe, expect, it } from 'vitest';
import { aCaller, aGateway, type GatewayWishes, type TestGateway } from '../../test/support/gateway.js';
import { AppError } from '../common/errors/app-error.js';

const ANSWER = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'gpt-4o-mini-2024-07-18',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
});
const CHAT = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] };
const EVENTS = { 'content-type': 'text/event-stream' };
const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;
const delta = (content: string): string =>
  event({ model: 'gpt-4o-mini', choices: [{ index: 0, delta: { content } }] });
const usageOf = (prompt_tokens: number, completion_tokens: number): string =>
  event({ choices: [], usage: { prompt_tokens, completion_tokens } });

/** Disconnects once the response contains `said`. */
async function leaveBehind(answer: Response, said: string): Promise<void> {
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  let text = '';
  while (!text.includes(said)) text += Buffer.from((await reader.read()).value ?? []).toString();
  await reader.cancel();
}

let gateway: TestGateway;
const given = async (wishes: GatewayWishes): Promise<TestGateway> => (gateway = await aGateway(wishes));

afterEach(() => gateway.close());

describe('Pipeline', () => {
  it('sends nothing that cannot be recorded, where the organization requires records', async () => {
    const policy = { providers: null, models: null, keepsBodies: true, needsLog: true };
    await given({ caller: aCaller({ policy }), hasRoom: false });

    const refused = await gateway.chat(CHAT);

    expect([refused.status, await refused.json()]).toMatchObject([
      503,
      { error: { code: 'log_capacity_exhausted' } },
    ]);
    expect(gateway.calls).toEqual([]);
  });

  it('continues without a record where the organization does not require one', async () => {
    await given({ hasRoom: false });

    expect((await gateway.chat(CHAT)).status).toBe(200);
  });

  it('calls no provider and no model that the organization does not allow', async () => {
    const policy = {
      providers: new Set(['openai']),
      models: new Set([CHAT.model]),
      keepsBodies: true,
      needsLog: false,
    };
    await given({ caller: aCaller({ policy }), virtualKeys: { claude: 'anthropic' } });
    const codeOf = async (model: string, slug: string): Promise<unknown> => {
      const answer = await gateway.chat({ ...CHAT, model }, { 'x-gateway-virtual-key': slug });
      return ((await answer.json()) as { error?: { code: string } }).error?.code;
    };

    expect(await codeOf(CHAT.model, 'claude')).toBe('provider_not_allowed');
    expect(await codeOf('gpt-5', 'openai-prod')).toBe('model_not_allowed');
    expect(gateway.calls).toEqual([]);
    expect((await gateway.chat(CHAT)).status).toBe(200);
  });

  it("carries a chat completion to the virtual key's provider and back, byte for byte, and logs it once with its cost", async () => {
    const { chat, calls, logs, opened } = await given({
      answers: [{ chunks: [ANSWER.slice(0, 50), ANSWER.slice(50)] }],
    });

    const response = await chat(CHAT);

    expect(response.status).toBe(200);
    expect(await response.text()).toBe(ANSWER);
    expect(calls).toHaveLength(1);
    expect(calls[0]).toMatchObject({
      path: '/v1/chat/completions',
      target: { origin: 'https://api.openai.com' },
    });
    expect(String(calls[0]?.body as Buffer)).toBe(JSON.stringify(CHAT));
    expect(opened).toHaveLength(1);
    expect(logs).toHaveLength(1);
    expect(logs[0]?.record).toMatchObject({
      id: response.headers.get('x-gateway-request-id'),
      ending: 'completed',
      status: 200,
      endpoint: 'chat-completions',
      provider: 'openai',
      virtual_key: 'openai-prod',
      model: 'gpt-4o-mini',
      response_model: 'gpt-4o-mini-2024-07-18',
      usage: { input_tokens: 100, output_tokens: 10 },
      usage_source: 'provider',
      cost_nano_usd: 100 * 150 + 10 * 600,
      attempts: [{ attempt: 0, status: 200, cost_nano_usd: 100 * 150 + 10 * 600 }],
    });
  });

  it.each([
    ['anthropic', 'x-api-key', 'sk-own'],
    ['google', 'x-goog-api-key', 'sk-own'],
    ['openai', 'authorization', 'Bearer sk-own'],
  ])("puts a caller's own key where %s reads it", async (provider, name, value) => {
    const { request, calls } = await given({ answers: [{ chunks: ['{}'] }] });

    await request('/v1/files', {
      headers: { 'x-gateway-provider': provider, authorization: 'Bearer sk-own' },
    });

    const { headers } = calls[0] as { headers: string[] };
    const named = (wanted: string) =>
      headers.flatMap((text, at) => (text === wanted ? [headers[at + 1]] : []));
    expect(named(name)).toEqual([value]);
    expect(headers.filter((text) => text.includes('sk-own'))).toHaveLength(1);
  });

  it('sends the stored credential and nothing of ours', async () => {
    const { chat, calls, key } = await given({ answers: [{ chunks: [ANSWER] }] });

    await chat(CHAT, {
      authorization: 'Bearer mine',
      cookie: 'a=b',
      'x-portkey-trace-id': 't',
      'x-other': `has ${gateway.key}`,
      'x-mine': 'kept',
    });

    const headers = calls[0]?.headers ?? [];
    expect(headers).toContain('Bearer sk-stored');
    expect(headers).toContain('x-mine');
    expect(headers.join('\n')).not.toContain(key);
    expect(headers.join('\n')).not.toMatch(/x-gateway|x-portkey|cookie|Bearer mine/i);
  });

  it('keeps secrets out of the record', async () => {
    const { request, logs, key } = await given({
      answers: [{ headers: { 'set-cookie': 's=1', echo: 'sk-stored' } }],
    });

    await request(`/v1/files?api_key=abc&x=1`, {
      headers: { 'x-gateway-virtual-key': 'openai-prod', authorization: 'Bearer mine' },
    });

    const text = JSON.stringify(logs[0]?.record);
    expect(text).not.toContain(key);
    expect(text).not.toContain('mine');
    expect(text).not.toContain('sk-stored');
    expect(text).not.toContain('api_key=abc');
    expect(text).not.toContain('s=1');
  });

  it("keeps a caller's own credential out of the record when the provider echoes it in a header", async () => {
    const { request, logs } = await given({
      answers: [{ status: 401, headers: { 'x-echo': 'Bearer sk-own-secret', 'x-short': 'tell all' } }],
    });

    await request('/v1/files', {
      headers: { 'x-gateway-provider': 'openai', authorization: 'Bearer sk-own-secret', 'x-api-key': 'l' },
    });

    expect(logs[0]?.record.response_headers).toEqual(
      expect.arrayContaining(['x-echo', 'Bearer ***', 'x-short', 'tell all']),
    );
  });

  it('refuses a request without a valid API key before anything else happens, and logs nothing', async () => {
    const { request, calls, logs } = await given({});

    const response = await request('/v1/chat/completions', {
      headers: { 'x-gateway-api-key': 'nonsense' },
      method: 'POST',
      body: '{}',
    });

    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({
      error: { code: 'unauthenticated', type: 'authentication_error' },
    });
    expect(response.headers.get('x-gateway-error-source')).toBe('gateway');
    expect(calls).toEqual([]);
    expect(logs).toEqual([]);
  });

  it.each([
    ['admin_key', null, '/v1/api-keyz', 404, 'There is no such path (did you mean /v1/api-keys?).'],
    ['admin_key', null, '/v1/workspaces', 404, 'path (did you mean /v1/admin/workspaces?).'],
    ['admin_key', null, '/v1/workspaces/some-id?x=1', 404, 'path (did you mean /v1/admin/workspaces?).'],
    ['admin_key', null, '/v1/invites', 404, 'path (did you mean /v1/admin/users/invites?).'],
    ['admin_key', null, '/v1/me', 404, 'path (did you mean /v1/admin/me?).'],
    ['admin_key', null, '/v1/workspace', 404, '/v1/admin/workspaces'],
    ['workspace_service_key', 'w', '/v1/users', 404, 'path (did you mean /v1/admin/users?).'],
    ['admin_key', null, '/v1/things/of/a/provider', 404, 'There is no such path in the administration'],
    ['workspace_service_key', 'w', '/v1/virtual-kesy/x?y=1', 404, 'path (did you mean /v1/virtual-keys?).'],
    ['workspace_service_key', 'w', '/v1/things/of/a/provider', 403, 'it lacks the scope completions.write'],
    ['admin_key', null, '/v1/proxy/api-keyz', 403, 'admin keys cannot call models. Use a workspace API key'],
  ] as const)('reports to %s (%s) that %s is missing: %i', async (kind, workspaceId, path, status, words) => {
    const { request, calls, logs } = await given({
      caller: aCaller({ kind, workspaceId, scopes: new Set(['logs.list']) }),
    });

    const response = await request(path, { method: 'POST', body: '{}' });

    expect(response.status).toBe(status);
    expect(await response.text()).toContain(words);
    expect(calls).toEqual([]);
    expect(logs[0]?.record).toMatchObject({ status, ending: 'refused', error_source: 'gateway' });
  });

  it.each([
    ['/v1/chat/completion', 404, 'did you mean /v1/chat/completions?'],
    ['/v1/embedding?x=1', 404, 'did you mean /v1/embeddings?'],
    ['/v1/audio/transcription', 404, 'did you mean /v1/audio/transcriptions?'],
    ['/v1/virtualkeys', 404, 'There is no such path (did you mean /v1/virtual-keys?).'],
    ['/v1/log?page_size=1', 404, 'There is no such path (did you mean /v1/logs?).'],
    ['/v1/model/info', 404, 'did you mean /v1/models or /v1/model-configs?'],
    ['/v1/v1/messages', 404, "Leave /v1 out of the client's base URL, to reach /v1/messages."],
    ['/v1/chat/completions', 400, 'No provider was chosen'],
    ['/v1/things/of/a/provider', 400, 'No provider was chosen'],
    ['/v1/proxy/chat/completion', 400, 'No provider was chosen'],
  ] as const)(
    'responds to a caller that names no provider and requests %s: %i %s',
    async (path, status, words) => {
      const { request, calls } = await given({});

      const response = await request(path, { method: 'POST', body: '{}' });

      expect(response.status).toBe(status);
      expect(await response.text()).toContain(words);
      expect(calls).toEqual([]);
    },
  );

  it('points a caller without a provider to the administration path', async () => {
    const { request, calls, logs } = await given({});

    const response = await request('/v1/workspaces?page_size=1');

    expect(response.status).toBe(404);
    expect(await response.text()).toContain('path (did you mean /v1/admin/workspaces?).');
    expect(calls).toEqual([]);
    expect(logs[0]?.record).toMatchObject({ status: 404, error_code: 'not_found', ending: 'refused' });
    expect((await request('/v1/proxy/workspaces')).status).toBe(400);
    expect((await request('/v1/things')).status).toBe(400);
  });

  it('passes a path that the administration has elsewhere on to the provider that is named', async () => {
    const { request, calls } = await given({ answers: [{ chunks: ['{}'] }] });

    const response = await request('/v1/users', { headers: { 'x-gateway-virtual-key': 'openai-prod' } });

    expect(response.status).toBe(200);
    expect(calls).toHaveLength(1);
  });

  it('names what an admin key with a provider lacks, whatever the path', async () => {
    const { request } = await given({
      caller: aCaller({ kind: 'admin_key', workspaceId: null, scopes: new Set(['logs.list']) }),
    });

    const response = await request('/v1/api-keyz', { headers: { 'x-portkey-virtual-key': 'openai-prod' } });

    expect(response.status).toBe(403);
  });

  it('refuses a caller that may not call models, and logs that', async () => {
    const { chat, calls, logs } = await given({
      caller: aCaller({ kind: 'admin_key', workspaceId: null, scopes: new Set(['logs.list']) }),
    });

    const response = await chat(CHAT);

    expect(response.status).toBe(403);
    expect(calls).toEqual([]);
    expect(logs[0]?.record).toMatchObject({
      status: 403,
      ending: 'refused',
      error_code: 'forbidden',
      error_source: 'gateway',
    });
  });

  it.each([
    ['{"model":', 'invalid_json'],
    ['[]', 'invalid_request'],
    ['{"model":5}', 'invalid_request'],
  ])('refuses the body %s with %s and logs it', async (body, code) => {
    const { request, calls, logs } = await given({});

    const response = await request('/v1/chat/completions', {
      method: 'POST',
      body,
      headers: { 'x-gateway-virtual-key': 'openai-prod' },
    });

    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { code } });
    expect(calls).toEqual([]);
    expect(logs[0]?.record).toMatchObject({ status: 400, error_code: code, ending: 'refused' });
  });

  it('refuses a body above the limit without reading it', async () => {
    const { chat, calls } = await given({ settings: { GATEHOUSE_BODY_LIMIT_BYTES: '1024' } });

    const response = await chat({ ...CHAT, user: 'x'.repeat(2000) });

    expect(response.status).toBe(413);
    expect(calls).toEqual([]);
  });

  it.each([
    [
      'openai/gpt-4o',
      'for the model "openai/gpt-4o", send x-gateway-provider: openai and the model "gpt-4o". Send ',
    ],
    ['@openai-prod', 'the model "@openai-prod" must be written as "@openai-prod/<model>". Send '],
    ['@openai-prod/', 'the model "@openai-prod/" must be written as "@openai-prod/<model>". Send '],
    ['gpt-4o', 'No provider was chosen. Send '],
    ['nobody/gpt-4o', 'No provider was chosen. Send '],
  ])('says which provider the model %s may have meant', async (model, words) => {
    const { request } = await given({});
    const response = await request('/v1/chat/completions', {
      method: 'POST',
      body: JSON.stringify({ model }),
    });
    expect(await response.json()).toMatchObject({
      error: { code: 'provider_missing', message: expect.stringContaining(words) as string },
    });
  });

  it('names the place of the first mistake of a config in `param`', async () => {
    const { request } = await given({});
    const headers = { 'x-gateway-config': '{"retry":{"attempts":9}}', 'x-gateway-provider': 'openai' };

    const response = await request('/v1/files', { headers });

    expect(await response.json()).toMatchObject({ error: { param: 'config.retry.attempts' } });
  });

  it('lets the model name its target and takes the name out of the body', async () => {
    const { request, calls } = await given({ answers: [{ chunks: [ANSWER] }] });

    await request('/v1/chat/completions', {
      method: 'POST',
      body: '{ "model": "@openai-prod/gpt-4o", "n": 1.0 }',
    });

    expect(String(calls[0]?.body as Buffer)).toBe('{ "model": "gpt-4o", "n": 1.0 }');
    expect(calls[0]?.target.virtualKey?.slug).toBe('openai-prod');
  });

  it.each([
    [{}, 'provider_missing', 400],
    [{ 'x-gateway-provider': 'nobody' }, 'provider_unknown', 400],
    [{ 'x-gateway-virtual-key': 'theirs' }, 'not_found', 404],
    [
      { 'x-gateway-virtual-key': 'openai-prod', 'x-gateway-custom-host': 'https://example.com' },
      'invalid_request',
      400,
    ],
    [
      { 'x-gateway-provider': 'openai', 'x-gateway-custom-host': 'http://127.0.0.1:9' },
      'custom_host_blocked',
      403,
    ],
    [
      { 'x-gateway-provider': 'openai', 'x-gateway-custom-host': 'file:///etc/passwd' },
      'custom_host_invalid',
      400,
    ],
    [{ 'x-gateway-provider': 'openai', 'cdn-loop': 'gatehouse' }, 'loop_detected', 508],
    [{ 'x-gateway-config': 'pc-unknown', 'x-gateway-provider': 'openai' }, 'not_found', 404],
    [{ 'x-gateway-config': '{"retry":', 'x-gateway-provider': 'openai' }, 'header_invalid', 400],
    [
      { 'x-gateway-config': '{"retry":{"attempts":9}}', 'x-gateway-provider': 'openai' },
      'config_invalid',
      400,
    ],
  ])('refuses the way %o with %s', async (headers, code, status) => {
    const { request, calls, logs } = await given({});

    const response = await request('/v1/files', { headers: headers as Record<string, string> });

    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { code } });
    expect(calls).toEqual([]);
    expect(logs[0]?.record).toMatchObject({ error_code: code });
  });

  it.each([
    [
      { 'x-gateway-virtual-key': 'opnai-prod' },
      'There is no such virtual key "opnai-prod" in this workspace (did you mean "openai-prod"?).',
    ],
    [
      { 'x-gateway-provider': '@opnai-prod' },
      'There is no such virtual key "opnai-prod" in this workspace (did you mean "openai-prod"?).',
    ],
    [{ 'x-gateway-virtual-key': 'theirs' }, 'There is no such virtual key "theirs" in this workspace.'],
    [
      { 'x-gateway-virtual-key': 'groq' },
      'There is no such virtual key "groq" in this workspace; to name a provider, send x-gateway-provider with its key in Authorization.',
    ],
    [
      { 'x-gateway-virtualkey': 'openai-prod' },
      expect.stringContaining(
        'No provider was chosen: there is no header "x-gateway-virtualkey" (did you mean "x-gateway-virtual-key"?). Send ',
      ) as string,
    ],
    [{ 'x-gateway-config': 'pc-unknown' }, 'There is no such config "pc-unknown".'],
    [
      { 'x-gateway-provider': 'openai', 'x-gateway-custom-host': 'http://127.0.0.1:9' },
      expect.stringContaining('GATEHOUSE_EGRESS_ALLOW') as string,
    ],
  ])('names in its refusal what was mistyped, or who opens it: %o', async (headers, message) => {
    const { request } = await given({});

    const response = await request('/v1/files', { headers: headers as Record<string, string> });

    expect(await response.json()).toMatchObject({ error: { message } });
  });

  it('never takes a gateway key for the credential of a provider', async () => {
    const { request, calls, key } = await given({});

    const response = await request('/v1/files', {
      headers: { 'x-gateway-provider': 'openai', authorization: `Bearer ${gateway.key}` },
    });

    expect(response.status).toBe(400);
    expect(await response.text()).not.toContain(key);
    expect(calls).toEqual([]);
  });

  it("passes a provider's own refusal through as it is", async () => {
    const body = '{"error":{"message":"no"}}';
    const { chat, logs } = await given({ answers: [{ status: 422, chunks: [body] }] });

    const response = await chat(CHAT);

    expect(response.status).toBe(422);
    expect(await response.text()).toBe(body);
    expect(response.headers.get('x-gateway-error-source')).toBe('provider');
    expect(logs[0]?.record).toMatchObject({
      status: 422,
      ending: 'completed',
      error_source: 'provider',
      usage: null,
      cost_nano_usd: null,
    });
  });

  it('tries again what was never sent, once, and nothing that was', async () => {
    const refused = new AppError('upstream_error', { detail: 'connection refused' });
    const { chat, calls, logs } = await given({
      answers: [{ error: refused, isUnsent: true }, { error: refused }],
    });

    const response = await chat(CHAT);

    expect(response.status).toBe(502);
    expect(calls).toHaveLength(2);
    expect(logs[0]?.record).toMatchObject({
      ending: 'upstream_failed',
      attempts: [{ attempt: 0 }, { attempt: 1 }],
    });
  });

  it('retries 429 and 503 only as often as the caller requested', async () => {
    const busy = { status: 429, headers: { 'retry-after-ms': '1' }, chunks: ['{}'] };
    const { chat, calls, logs } = await given({
      answers: [busy, { ...busy, status: 503 }, { chunks: [ANSWER] }],
    });

    const response = await chat(CHAT, { 'x-gateway-retry-count': '2' });

    expect(response.status).toBe(200);
    expect(response.headers.get('x-gateway-retry-attempt-count')).toBe('2');
    expect(calls).toHaveLength(3);
    expect(logs[0]?.record.attempts.map(({ status }) => status)).toEqual([429, 503, 200]);
  });

  it('does not try 429 again by itself', async () => {
    const { chat, calls } = await given({
      answers: [{ status: 429, headers: { 'retry-after': '1' }, chunks: ['{}'] }, { chunks: [ANSWER] }],
    });

    const response = await chat(CHAT);

    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(calls).toHaveLength(1);
  });

  it("returns 504 after the operator's timeout, and 408 after the caller's own", async () => {
    const { chat } = await given({
      answers: [{ status: 0, isEndless: true }],
      settings: { GATEHOUSE_FIRST_BYTE_TIMEOUT_MS: '60' },
    });

    const late = await chat(CHAT);
    const ownLate = await chat(CHAT, { 'x-gateway-request-timeout': '30' });

    expect([late.status, ownLate.status]).toEqual([504, 408]);
    expect(await late.json()).toMatchObject({ error: { code: 'upstream_timeout' } });
    expect(await ownLate.json()).toMatchObject({ error: { code: 'request_timeout' } });
  });

  it('reads usage from a stream and passes its bytes', async () => {
    const chunks = [
      delta('Hel'),
      delta('lo'),
      event({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } }),
      'data: [DONE]\n\n',
    ];
    const { chat, logged } = await given({ answers: [{ headers: EVENTS, chunks }] });

    const response = await chat({ ...CHAT, stream: true, stream_options: { include_usage: true } });

    expect(await response.text()).toBe(chunks.join(''));
    expect(await logged()).toMatchObject({
      ending: 'completed',
      streamed: true,
      usage: { input_tokens: 3, output_tokens: 2 },
      usage_source: 'provider',
    });
    expect((await logged()).first_token_ms).toBeGreaterThan(0);
  });

  it('requests no encoding that it cannot read, where a response is charged by its content', async () => {
    const { chat, request, calls, key } = await given({ answers: [{ chunks: [ANSWER] }] });
    const headers = { 'accept-encoding': 'gzip, compress', 'x-gateway-virtual-key': 'openai-prod' };

    await chat(CHAT, headers);
    await request('/v1/anything', { headers });

    const asked = calls.map(({ headers: sent }) => sent[sent.indexOf('accept-encoding') + 1]);
    expect(asked).toEqual(['gzip', 'gzip, compress']);
    expect(calls.every(({ headers: sent }) => !sent.includes(key))).toBe(true);
  });

  it.each([true, false])(
    "prices Azure's stream by the model that responds (usage requested: %s)",
    async (isAsked) => {
      const filtered = { id: '', model: '', object: '', created: 0, choices: [], prompt_filter_results: [] };
      const chunks = [event(filtered), delta('Hello'), usageOf(100, 10), 'data: [DONE]\n\n'];
      const { chat, logged } = await given({ answers: [{ headers: EVENTS, chunks }] });

      const asked = { ...CHAT, model: 'my-deployment', stream: true };
      await (await chat({ ...asked, ...(isAsked && { stream_options: { include_usage: true } }) })).text();

      expect(await logged()).toMatchObject({ response_model: 'gpt-4o-mini', cost_nano_usd: 21_000 });
    },
  );

  it('passes on the text to count when a stream reports no usage', async () => {
    const { chat, logged } = await given({
      answers: [{ headers: EVENTS, chunks: [delta('Hel'), delta('lo'), 'data: [DONE]\n\n'] }],
    });

    await (await chat({ ...CHAT, stream: true })).text();

    expect(await logged()).toMatchObject({
      usage: null,
      cost_nano_usd: null,
      countable: { output: 'Hello' },
    });
  });

  it('writes the record before the client can see the end', async () => {
    const { chat, logs } = await given({
      answers: [{ headers: EVENTS, chunks: [delta('a'), 'data: [DONE]\n\n'], isEndless: true }],
    });

    const response = await chat({ ...CHAT, stream: true });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    let text = '';
    while (!text.includes('[DONE]')) text += Buffer.from((await reader.read()).value ?? []).toString();

    expect(logs).toHaveLength(1);
    await reader.cancel();
  });

  it.each([
    ['at the end of an event', ['data: {"choices":[{"delta":{"content":"[DONE]"}}]}\n\n']],
    ['at the end of a piece', ['data: {"choices":[{"delta":{"content":"[DONE]', '"}}]}\n\n']],
    ['as a whole piece', ['data: {"choices":[{"delta":{"content":"', 'data: [DONE]', '"}}]}\n\n']],
  ])('takes a text that has the last word of a stream (%s) for no end of it', async (_, said) => {
    const usage = event({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } });
    const chunks = [...said, usage, 'data: [DONE]\n\n'];
    const { chat, logged } = await given({ answers: [{ headers: EVENTS, chunks }] });

    const response = await chat({ ...CHAT, stream: true, stream_options: { include_usage: true } });

    expect(await response.text()).toBe(chunks.join(''));
    expect(await logged()).toMatchObject({
      usage: { input_tokens: 3, output_tokens: 2 },
      response_bytes: chunks.join('').length,
    });
  });

  it('cancels the call of a client that leaves, and logs it then', async () => {
    const { chat, logs, cancelled, logged } = await given({
      answers: [{ headers: EVENTS, chunks: [delta('a')], isEndless: true }],
    });
    const response = await chat({ ...CHAT, stream: true });
    expect(logs).toEqual([]);

    await response.body?.cancel();

    expect(await logged()).toMatchObject({
      ending: 'client_aborted',
      status: 200,
      attempts: [{ status: 200 }],
    });
    expect(cancelled).toHaveLength(1);
  });

  it.each([
    ['asks for usage at the end', true, [], null, { output: 'Hello "you"' }],
    ['is never told usage', false, [], null, { output: 'Hello "you"' }],
    ['was told all usage', true, [usageOf(3, 9)], { input_tokens: 3, output_tokens: 9 }, null],
  ])(
    'charges a client that leaves for what came, where it %s',
    async (_, include_usage, last, usage, rest) => {
      const texts = [delta('Hel'), delta('lo '), delta('"you"')];
      const { chat, logged } = await given({
        answers: [{ headers: EVENTS, chunks: [...texts, ...last], isEndless: true }],
      });

      await leaveBehind(await chat({ ...CHAT, stream: true, stream_options: { include_usage } }), 'you');

      expect(await logged()).toMatchObject({ ending: 'client_aborted', usage, countable: rest });
    },
  );

  it.each(['/v1/messages', '/v1/chat/completions'])(
    "charges a client that leaves Anthropic's stream for the output so far, and for the reported input: %s",
    async (path) => {
      const told = event({
        type: 'message_start',
        message: { model: 'm', usage: { input_tokens: 7, output_tokens: 1 } },
      });
      const text = (said: string): string =>
        event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: said } });
      const { request, logged } = await given({
        virtualKeys: { claude: 'anthropic' },
        answers: [{ headers: EVENTS, chunks: [told, text('Hel'), text('lo')], isEndless: true }],
      });

      const answer = await request(path, {
        method: 'POST',
        body: JSON.stringify({ ...CHAT, max_tokens: 9, stream: true }),
        headers: { 'content-type': 'application/json', 'x-gateway-virtual-key': 'claude' },
      });
      await leaveBehind(answer, '"lo"');

      expect(await logged()).toMatchObject({
        ending: 'client_aborted',
        usage: { input_tokens: 7, output_tokens: 1 },
        countable: { input: '', output: 'Hello', isOutputOnly: true },
      });
    },
  );

  it.each([
    ['what it told of the output', 3, null],
    ['what came of the output', undefined, { input: '', output: 'Hello', isOutputOnly: true }],
  ])(
    "charges a client that leaves Gemini's stream for the reported input, and for %s",
    async (_, candidatesTokenCount, countable) => {
      const said = (text: string, usageMetadata?: object): string =>
        event({ candidates: [{ index: 0, content: { role: 'model', parts: [{ text }] } }], usageMetadata });
      const { request, logged } = await given({
        virtualKeys: { gemini: 'google' },
        answers: [
          {
            headers: EVENTS,
            chunks: [
              said('Hel', { promptTokenCount: 258, totalTokenCount: 258 }),
              said('lo', { promptTokenCount: 258, candidatesTokenCount }),
            ],
            isEndless: true,
          },
        ],
      });

      const answer = await request('/v1/chat/completions', {
        method: 'POST',
        body: JSON.stringify({ ...CHAT, stream: true }),
        headers: { 'content-type': 'application/json', 'x-gateway-virtual-key': 'gemini' },
      });
      await leaveBehind(answer, '"lo"');

      expect(await logged()).toMatchObject({
        usage: { input_tokens: 258, output_tokens: candidatesTokenCount ?? 0 },
        countable,
      });
    },
  );

  it.each([
    [429, { error: { message: 'Slow down.', code: 429 } }],
    [502, { error: { message: 'It broke.', code: 'server_error' } }],
    [502, { error: 'It broke.' }],
  ])('translates an error behind a 200 as what it is: %i', async (status, said) => {
    const { request, logged } = await given({ answers: [{ chunks: [JSON.stringify(said)] }] });

    const answer = await request('/v1/messages', {
      method: 'POST',
      body: JSON.stringify({ ...CHAT, max_tokens: 9 }),
      headers: { 'content-type': 'application/json', 'x-gateway-virtual-key': 'openai-prod' },
    });

    expect(answer.status).toBe(status);
    expect(await answer.json()).toMatchObject({ type: 'error', error: { type: expect.any(String) } });
    expect(await logged()).toMatchObject({ status, error_code: 'upstream_error', error_source: 'provider' });
  });

  it('breaks off visibly when the provider does, instead of a clean end', async () => {
    const { chat, logged } = await given({
      answers: [{ status: 200, headers: EVENTS, chunks: [delta('a')], error: new Error('reset') }],
    });

    await expect(chat({ ...CHAT, stream: true }).then((response) => response.text())).rejects.toThrow();

    expect(await logged()).toMatchObject({ ending: 'upstream_truncated', status: 200 });
  });

  it('returns 502 when the provider breaks off before anything was passed on', async () => {
    const { chat, logged } = await given({
      answers: [{ status: 200, chunks: [ANSWER.slice(0, 20)], error: new Error('reset') }],
    });

    const response = await chat(CHAT);

    expect(response.status).toBe(502);
    expect(await logged()).toMatchObject({
      ending: 'upstream_truncated',
      status: 502,
      attempts: [{ status: 200 }],
    });
  });

  it('returns both header spellings to callers of the other one', async () => {
    const { request } = await given({ answers: [{ chunks: [ANSWER] }] });

    const response = await request('/v1/files', {
      headers: {
        'x-portkey-virtual-key': 'openai-prod',
        'x-portkey-package-version': 'portkey-3.1.0',
        'x-portkey-trace-id': 'trace-1',
      },
    });

    expect(response.headers.get('x-gateway-trace-id')).toBe('trace-1');
    expect(response.headers.get('x-portkey-trace-id')).toBe('trace-1');
    expect(response.headers.get('x-portkey-provider')).toBe('openai');
  });

  it('keeps the error of a refused request as its response, byte for byte', async () => {
    const { chat, logs } = await given({});

    const response = await chat(CHAT, { 'x-gateway-virtual-key': 'no-such-key' });

    const sent = await response.text();
    const { bodies, record } = logs[0] ?? {};
    expect(record).toMatchObject({ ending: 'refused', error_source: 'gateway', response_bytes: sent.length });
    expect(bodies?.response).toMatchObject({ content_type: 'application/json', truncated: false });
    expect(Buffer.concat([...(bodies?.response?.chunks ?? [])]).toString()).toBe(sent);
  });

  it('keeps no bodies when the caller disables them', async () => {
    const { chat, logs } = await given({ answers: [{ chunks: [ANSWER] }] });

    await chat(CHAT, { 'x-gateway-debug': 'false' });

    expect(logs[0]?.bodies).toEqual({ request: null, response: null });
    expect(logs[0]?.record).toMatchObject({
      request_bytes: JSON.stringify(CHAT).length,
      response_bytes: ANSWER.length,
    });
  });
});
