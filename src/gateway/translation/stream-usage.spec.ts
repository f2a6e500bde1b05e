import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { aCaller, aGateway, type GatewayWishes, type TestGateway } from '../../../test/support/gateway.js';

const MESSAGES = [{ role: 'user', content: 'Hi' }];
const CHAT = { model: 'gpt-4o-mini', messages: MESSAGES, stream: true };
const EVENTS = { 'content-type': 'text/event-stream' };
const DONE = 'data: [DONE]\n\n';
const USAGE = {
  prompt_tokens: 1000,
  completion_tokens: 50,
  prompt_tokens_details: { cached_tokens: 400 },
  completion_tokens_details: { reasoning_tokens: 20 },
};
const COUNTED = { input_tokens: 1000, output_tokens: 50, cached_input_tokens: 400, reasoning_tokens: 20 };

/** Text of OpenAI's stream with and without the option, byte for byte. */
const chunk = (content: string, isAsked: boolean, obfuscation = ''): string =>
  `data: {"id":"c","model":"gpt-4o-mini","choices":[{"index":0,"delta":{"content":${JSON.stringify(content)}}}]${
    isAsked ? ',"usage":null' : ''
  }${obfuscation && `,"obfuscation":"${obfuscation}"`}}\n\n`;
const TEXTS = ['Hel', 'lo "usage":null', ' wörld'];
const WITHOUT = [...TEXTS.map((text) => chunk(text, false, 'x')), DONE].join('');
const WITH = [
  ...TEXTS.map((text) => chunk(text, true, 'x')),
  `data: ${JSON.stringify({ id: 'c', model: 'gpt-4o-mini', choices: [], usage: USAGE })}\n\n`,
  DONE,
];

let gateway: TestGateway;
const given = async (wishes: GatewayWishes = {}): Promise<TestGateway> =>
  (gateway = await aGateway({ answers: [{ headers: EVENTS, chunks: WITH }], ...wishes }));
afterEach(() => gateway.close());

const sent = (): string => (gateway.calls.at(-1)?.body as Buffer).toString();

describe('the usage of a native chat stream', () => {
  it('is requested where the client does not, recorded, and not sent to the client', async () => {
    const { chat, logged } = await given();

    const answer = await chat(CHAT);

    expect(await answer.text()).toBe(WITHOUT);
    expect(sent()).toBe(`${JSON.stringify(CHAT).slice(0, -1)},"stream_options":{"include_usage":true}}`);
    expect(await logged()).toMatchObject({
      usage: COUNTED,
      usage_source: 'provider',
      ending: 'completed',
      response_bytes: Buffer.byteLength(WITHOUT),
    });
  });

  it.each([
    ['with a charset', { 'content-type': 'text/event-stream;charset=utf-8' }],
    ['in upper case', { 'content-type': 'TEXT/EVENT-STREAM ; charset=UTF-8' }],
    ['of plain text', { 'content-type': 'text/plain' }],
    ['that is missing', {}],
  ])('is not sent to the client, and is recorded, with a content type %s', async (_, headers) => {
    const { chat, logged } = await given({ answers: [{ headers, chunks: WITH }] });

    expect(await (await chat(CHAT)).text()).toBe(WITHOUT);
    expect(await logged()).toMatchObject({ usage: COUNTED, usage_source: 'provider' });
  });

  it('is not sent to the client with a content type of JSON', async () => {
    const { chat } = await given({ answers: [{ chunks: WITH }] });

    expect(await (await chat(CHAT)).text()).toBe(WITHOUT);
  });

  it.each(['text/event-stream', 'TEXT/EVENT-STREAM', 'text/plain'])(
    'is not sent to the client under a guardrail of the response, with the content type %s',
    async (contentType) => {
      const { chat } = await given({
        answers: [{ headers: { 'content-type': contentType }, chunks: WITH }],
      });
      const config = {
        output_guardrails: [{ 'default.contains': { words: ['forbidden'], operator: 'none' }, deny: true }],
      };
      const answer = await chat(CHAT, { 'x-gateway-config': JSON.stringify(config) });
      const text = await answer.text();
      expect(answer.status).toBe(200);
      expect(text).toContain('Hel');
      expect(text).not.toContain('prompt_tokens');
    },
  );

  it('leaves the bytes and the length of a refusal', async () => {
    const headers = { 'content-type': 'application/json', 'content-length': '17' };
    const { chat } = await given({ answers: [{ status: 404, headers, chunks: ['{"usage":null}  \n'] }] });

    const answer = await chat(CHAT);
    expect(answer.headers.get('content-length')).toBe('17');
    expect(await answer.text()).toBe('{"usage":null}  \n');
  });

  it.each([
    [
      'without include_usage',
      { include_obfuscation: false },
      { include_obfuscation: false, include_usage: true },
    ],
    ['that decline it', { include_usage: false }, { include_usage: true }],
    ['that are null', null, { include_usage: true }],
  ])('is requested in options %s, whose place in the body stays', async (_, stream_options, expected) => {
    const { chat } = await given();

    const answer = await chat({ stream_options, ...CHAT });

    expect(await answer.text()).toBe(WITHOUT);
    expect(sent()).toBe(JSON.stringify({ stream_options: expected, ...CHAT }));
  });

  it.each([
    ['requests it itself', { ...CHAT, stream_options: { include_usage: true } }, {}, 'openai-prod'],
    ['sends options that are no object', { ...CHAT, stream_options: 'all' }, {}, 'openai-prod'],
    ['turns it off', CHAT, { 'x-gateway-stream-usage': 'false' }, 'openai-prod'],
    ['has a config that turns it off', CHAT, { 'x-gateway-config': '{"stream_usage":false}' }, 'openai-prod'],
    [
      'has a config that passes requests',
      CHAT,
      { 'x-gateway-config': '{"passthrough":true}' },
      'openai-prod',
    ],
    ['uses a provider that always reports it', CHAT, {}, 'mistral'],
    ['uses a provider that does not document it', CHAT, {}, 'databricks'],
    ['uses an older version of Azure', CHAT, {}, 'azure-old'],
    ["uses Azure's own data", { ...CHAT, data_sources: [] }, {}, 'azure-new'],
  ])('leaves every byte of a client that %s', async (_, body, headers, slug) => {
    const azure = (version: string) => ({
      providerId: 'azure-openai',
      customHost: null,
      fields: { 'azure-resource-name': 'r', 'azure-api-version': version, 'azure-deployment-id': 'd' },
    });
    const { chat } = await given({
      virtualKeys: {
        mistral: 'mistral-ai',
        databricks: { providerId: 'databricks', customHost: 'https://dbc.example.com/v1', fields: {} },
        'azure-old': azure('2024-06-01'),
        'azure-new': azure('2024-10-21'),
      },
    });

    const answer = await chat(body, { ...headers, 'x-gateway-virtual-key': slug });

    expect(await answer.text()).toBe(WITH.join(''));
    expect(sent()).toBe(JSON.stringify(body));
  });

  it('is requested at a version of Azure that has the option', async () => {
    const fields = {
      ...{ 'azure-resource-name': 'r', 'azure-api-version': '2024-10-21', 'azure-deployment-id': 'd' },
    };
    const { chat } = await given({
      virtualKeys: { azure: { providerId: 'azure-openai', customHost: null, fields } },
    });

    expect(await (await chat(CHAT, { 'x-gateway-virtual-key': 'azure' })).text()).toBe(WITHOUT);
  });

  it('is requested in a compressed body, which is sent decoded, for a response without compression', async () => {
    const { request, calls } = await given();

    const answer = await request('/v1/chat/completions', {
      method: 'POST',
      body: gzipSync(JSON.stringify(CHAT)),
      headers: {
        'content-type': 'application/json',
        'content-encoding': 'gzip',
        'x-gateway-virtual-key': 'openai-prod',
      },
    });

    expect(await answer.text()).toBe(WITHOUT);
    expect(JSON.parse(sent())).toMatchObject({ stream_options: { include_usage: true } });
    const headers = calls[0]?.headers ?? [];
    expect(headers).not.toContain('content-encoding');
    expect(headers[headers.indexOf('accept-encoding') + 1]).toBe('identity');
  });

  it('is requested of each target of a fallback by its own row', async () => {
    const { chat, calls } = await given({
      virtualKeys: { mistral: 'mistral-ai' },
      answers: [
        { status: 500, chunks: ['{}'] },
        { headers: EVENTS, chunks: WITH },
      ],
    });
    const targets = [{ virtual_key: 'mistral' }, { virtual_key: 'openai-prod' }];
    const config = JSON.stringify({ strategy: { mode: 'fallback' }, targets });

    const answer = await chat(CHAT, { 'x-gateway-config': config, 'x-gateway-virtual-key': '' });

    expect(await answer.text()).toBe(WITHOUT);
    expect(calls.map(({ body }) => (body as Buffer).includes('include_usage'))).toEqual([false, true]);
  });

  it('is in a cached stream for clients that request it, and hidden from others', async () => {
    const { chat, calls, logs } = await given();
    const cached = { 'x-gateway-cache': 'simple' };

    const answers = [
      await chat(CHAT, cached),
      await chat({ ...CHAT, stream_options: { include_usage: true } }, cached),
      await chat(CHAT, cached),
    ];
    const texts = await Promise.all(answers.map((answer) => answer.text()));

    expect(texts).toEqual([WITHOUT, WITH.join(''), WITHOUT]);
    expect(calls).toHaveLength(1);
    expect(logs.map(({ record }) => record.cache_status)).toEqual(['MISS', 'HIT', 'HIT']);
  });

  it.each([
    ['as they pass', 'default.contains', { operator: 'none', words: ['secret'] }],
    ['as a whole', 'default.wordCount', { minWords: 1, maxWords: 100 }],
  ])('is hidden where guardrails read the texts %s', async (_, id, parameters) => {
    const { chat, logged } = await given({ caller: aCaller() });
    const after_request_hooks = [{ id: 'own', deny: true, checks: [{ id, parameters }] }];

    const answer = await chat(CHAT, { 'x-gateway-config': JSON.stringify({ after_request_hooks }) });
    const text = await answer.text();

    expect(text).toContain('data: [DONE]');
    expect(text).not.toContain(',"usage":');
    expect(await logged()).toMatchObject({ usage: COUNTED });
  });

  it('is not waited for where the provider does not report it after all: the text is counted', async () => {
    const { chat, logged } = await given({
      answers: [{ headers: { ...EVENTS, 'content-length': String(WITHOUT.length + 1) }, chunks: [WITHOUT] }],
    });

    expect(await (await chat(CHAT)).text()).toBe(WITHOUT);
    expect(await logged()).toMatchObject({ usage: null, countable: { output: TEXTS.join('') } });
  });
});
