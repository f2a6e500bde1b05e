import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import {
  aGateway,
  type GatewayWishes,
  type ScriptedAnswer,
  type TestGateway,
} from '../../../test/support/gateway.js';
import type { Json } from '../../providers/endpoint.js';

const MODEL = 'gpt-4o-mini';
const answer = (content: string, status = 200): ScriptedAnswer => ({
  status,
  headers: { 'content-type': 'application/json' },
  chunks: [
    JSON.stringify({
      id: 'c',
      object: 'chat.completion',
      model: MODEL,
      choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 },
    }),
  ],
});
const event = (json: Json): string => `data: ${JSON.stringify(json)}\n\n`;
const piece = (content: string): string =>
  event({ id: 'c', model: MODEL, choices: [{ index: 0, delta: { content }, finish_reason: null }] });
const stream = (...contents: string[]): ScriptedAnswer => ({
  headers: { 'content-type': 'text/event-stream' },
  chunks: [
    ...contents.map(piece),
    event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
    'data: [DONE]\n\n',
  ],
});
const streamed = (text: string): string =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map(
      (line) =>
        (JSON.parse(line.slice(6)) as { choices?: { delta: { content?: string } }[] }).choices?.[0]?.delta
          .content ?? '',
    )
    .join('');

const NO_APOLLO = { 'default.contains': { operator: 'none', words: ['Apollo'] } };
const REDACTED = { 'default.pii': { redact: true } };

let gateway: TestGateway;
afterEach(() => gateway.close());

async function ask(
  config: Json,
  wishes: GatewayWishes & { body?: Json; headers?: Record<string, string> } = {},
) {
  gateway = await aGateway({ answers: [answer('Fine')], ...wishes });
  const body = { model: MODEL, messages: [{ role: 'user', content: 'Hi' }], ...wishes.body };
  const response = await gateway.chat(body, {
    'x-gateway-config': JSON.stringify(config),
    ...wishes.headers,
  });
  const text = await response.text();
  const { record, bodies } = await new Promise<TestGateway['logs'][number]>((resolve) => {
    const look = (): void => (gateway.logs[0] ? resolve(gateway.logs[0]) : void setImmediate(look));
    look();
  });
  const sent = gateway.calls.map(({ body: bytes }) => String(bytes as Buffer));
  return { status: response.status, headers: response.headers, text, record, bodies, sent };
}

describe('guardrails of a request', () => {
  it('deny it with 446, and it never leaves', async () => {
    const { status, text, record, sent, headers } = await ask(
      { input_guardrails: [{ ...NO_APOLLO, deny: true, id: 'names' }] },
      {
        body: {
          messages: [
            { role: 'system', content: 'About Apollo' },
            { role: 'user', content: 'Hi' },
          ],
        },
      },
    );

    expect(status).toBe(446);
    expect(headers.get('x-gateway-error-source')).toBe('gateway');
    expect(JSON.parse(text)).toMatchObject({
      error: {
        type: 'hooks_failed',
        code: 'guardrail_denied',
        param: null,
        message: expect.stringContaining('"names"'),
      },
      hook_results: {
        before_request_hooks: [
          {
            id: 'names',
            verdict: false,
            deny: true,
            async: false,
            transformed: false,
            checks: [{ id: 'default.contains', verdict: false, data: { present: ['Apollo'] } }],
          },
        ],
        after_request_hooks: [],
      },
    });
    expect(sent).toEqual([]);
    expect(record).toMatchObject({
      status: 446,
      ending: 'refused',
      error_code: 'guardrail_denied',
      error_source: 'gateway',
      hook_results: { before_request_hooks: [{ verdict: false }] },
    });
  });

  it.each([
    [
      'parts of a message',
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'x' },
              { type: 'text', text: 'Apollo' },
            ],
          },
        ],
      },
    ],
    [
      'results of tools',
      {
        messages: [
          { role: 'tool', tool_call_id: 'a', content: 'Apollo' },
          { role: 'user', content: 'x' },
        ],
      },
    ],
    [
      'arguments of calls',
      { messages: [{ role: 'assistant', tool_calls: [{ function: { arguments: '{"a":"Apollo"}' } }] }] },
    ],
  ])('see %s', async (_, body) => {
    expect((await ask({ input_guardrails: [{ ...NO_APOLLO, deny: true }] }, { body })).status).toBe(446);
  });

  it('that may not deny let it pass, and a good response gets 246', async () => {
    const { status, text, sent, record } = await ask({
      before_request_hooks: [{ id: 'h', checks: [{ id: 'default.wordCount', parameters: { maxWords: 0 } }] }],
    });

    expect(status).toBe(246);
    expect(text).toBe(answer('Fine').chunks?.[0]);
    expect(sent).toHaveLength(1);
    expect(record).toMatchObject({
      status: 246,
      ending: 'completed',
      error_code: null,
      cost_nano_usd: 10 * 150 + 5 * 600,
    });
  });

  it('that pass leave the response unchanged, byte for byte, and are in the log', async () => {
    const { status, text, sent, record } = await ask({ input_guardrails: [{ ...NO_APOLLO, deny: true }] });

    expect(status).toBe(200);
    expect(text).toBe(answer('Fine').chunks?.[0]);
    expect(sent).toEqual([JSON.stringify({ model: MODEL, messages: [{ role: 'user', content: 'Hi' }] })]);
    expect(record.hook_results).toMatchObject({ before_request_hooks: [{ verdict: true }] });
  });

  it('redact what leaves and what is logged; reversibly, the client gets its own values back', async () => {
    const mail = 'jane@example.com';
    const { text, sent, bodies } = await ask(
      { input_mutators: [{ 'default.pii': { redact: true, reversible: true } }] },
      {
        body: { messages: [{ role: 'user', content: `I am ${mail}` }] },
        answers: [answer('Hello {{EMAIL_ADDRESS_1}}')],
      },
    );

    expect(sent[0]).toContain('I am {{EMAIL_ADDRESS_1}}');
    expect(sent[0]).not.toContain(mail);
    expect(text).toContain(`Hello ${mail}`);
    expect(bodies.request?.chunks.map(String).join('')).not.toContain(mail);
  });

  it('run in order, each on what the ones before left', async () => {
    const { status, sent } = await ask(
      {
        input_guardrails: [REDACTED, { 'default.pii': {}, deny: true }],
        input_mutators: [{ 'default.addPrefix': { prefix: 'Be brief. ' } }],
      },
      { body: { messages: [{ role: 'user', content: 'I am jane@example.com' }] } },
    );

    expect(status).toBe(200);
    expect(sent[0]).toContain('Be brief. I am {{EMAIL_ADDRESS_1}}');
  });

  it('that are asynchronous never influence the response', async () => {
    const { status, record } = await ask({
      input_guardrails: [{ 'default.wordCount': { maxWords: 0 }, deny: true, async: true }],
    });

    expect(status).toBe(200);
    expect(record.hook_results).toMatchObject({ before_request_hooks: [{ verdict: false, async: true }] });
  });

  it.each([
    [false, false, 200],
    [true, false, 446],
    [false, true, 446],
  ])(
    'that cannot be made pass, unless they are to fail closed: %s, %s',
    async (fail_on_error, failOnError, expected) => {
      const hook = {
        'default.webhook': { webhookURL: 'https://example.com', failOnError },
        deny: true,
        fail_on_error,
      };
      const { status, record } = await ask(
        { input_guardrails: [hook] },
        { http: { call: async () => Promise.reject(new Error('secret detail')) } },
      );

      expect(status).toBe(expected);
      expect(record.hook_results).toMatchObject({
        before_request_hooks: [{ checks: [{ error: { name: 'Error' } }] }],
      });
    },
  );

  it.each([
    ['look into a body with a content-encoding', 446, 'gzip', 'Apollo'],
    ['let one pass that has nothing to deny', 200, 'gzip', 'Hi'],
    ['refuse one that cannot be decoded, because it would pass unseen', 415, 'compress', 'Apollo'],
  ])('%s', async (_, status, encoding, content) => {
    gateway = await aGateway({ answers: [{ chunks: ['{}'] }] });
    const response = await gateway.request('/v1/chat/completions', {
      method: 'POST',
      body: gzipSync(JSON.stringify({ model: MODEL, messages: [{ role: 'user', content }] })),
      headers: {
        'content-type': 'application/json',
        'content-encoding': encoding,
        'x-gateway-virtual-key': 'openai-prod',
        'x-gateway-config': JSON.stringify({ input_guardrails: [{ ...NO_APOLLO, deny: true }] }),
      },
    });

    expect(response.status).toBe(status);
    expect(gateway.calls).toHaveLength(status === 200 ? 1 : 0);
  });

  it('that are stored are found by their id, and one that is not there refuses the request', async () => {
    const spec = {
      id: 'pg-1',
      type: 'guardrail',
      checks: [
        {
          id: 'default.wordCount',
          name: null,
          parameters: { minWords: 0, maxWords: 0, not: false },
          isEnabled: true,
        },
      ],
      deny: true,
      isAsync: false,
      isSequential: false,
      failOnError: false,
      onSuccess: null,
      onFail: { value: -5 },
    } as const;
    const { status, text } = await ask(
      { input_guardrails: ['pg-1'] },
      { guardrails: { 'pg-1': { id: '1', spec } } },
    );
    expect(status).toBe(446);
    expect(JSON.parse(text)).toMatchObject({
      hook_results: { before_request_hooks: [{ id: 'pg-1', feedback: { value: -5 } }] },
    });
    await gateway.close();

    expect((await ask({ input_guardrails: ['pg-2'] })).status).toBe(404);
  });

  it('are refused as a whole, every mistake with its place, when a config has mistakes in them', async () => {
    const { status, text } = await ask({
      input_guardrails: [{ 'default.regexMatch': { rule: '(?=a)' } }],
      output_guardrails: [{ 'default.jwt': { jwksUri: 'https://example.com' } }, { 'default.nothing': {} }],
    });

    expect(status).toBe(400);
    for (const place of [
      'config.input_guardrails[0].default.regexMatch.rule',
      'config.output_guardrails[0]',
      'config.output_guardrails[1].default.nothing',
    ])
      expect(text).toContain(place);
  });
});

describe('guardrails of a response', () => {
  it('deny it with 446; what it cost is in the log', async () => {
    const { status, text, record } = await ask(
      { output_guardrails: [{ ...NO_APOLLO, deny: true }] },
      { answers: [answer('It is Apollo')] },
    );

    expect(status).toBe(446);
    expect(text).not.toContain('It is');
    expect(JSON.parse(text)).toMatchObject({
      error: { code: 'guardrail_denied' },
      hook_results: { after_request_hooks: [{ verdict: false }] },
    });
    expect(record).toMatchObject({
      status: 446,
      ending: 'refused',
      error_code: 'guardrail_denied',
      error_source: 'gateway',
      cost_nano_usd: 10 * 150 + 5 * 600,
      attempts: [{ status: 200 }],
    });
  });

  it('change it, or mark it with 246; their verdicts are in the body only where compliance is not strict', async () => {
    const config = { output_guardrails: [REDACTED, { 'default.wordCount': { maxWords: 1 } }] };
    const answers = [answer('Ask jane@example.com now')];
    const strict = await ask(config, { answers });
    expect(strict.status).toBe(246);
    expect(JSON.parse(strict.text)).toMatchObject({
      choices: [{ message: { content: 'Ask {{EMAIL_ADDRESS_1}} now' } }],
    });
    expect(strict.text).not.toContain('hook_results');
    expect(Number(strict.headers.get('content-length'))).toBe(strict.text.length);
    await gateway.close();

    const loose = await ask({ ...config, strict_open_ai_compliance: false }, { answers });
    expect(JSON.parse(loose.text)).toMatchObject({
      hook_results: { after_request_hooks: [{ transformed: true }, { verdict: false }] },
    });
  });

  it("leave a provider's refusal alone, unless it has a text that they forbid", async () => {
    const config = { output_guardrails: [{ ...NO_APOLLO, deny: true }] };

    const busy = await ask(config, { answers: [answer('Too many requests', 429)] });
    expect(busy).toMatchObject({ status: 429, text: expect.stringContaining('Too many requests') as string });
    await gateway.close();

    const quoting = await ask(config, { answers: [answer('Apollo', 429)] });
    expect(quoting.status).toBe(446);
    expect(quoting.text).not.toContain('"content"');
  });

  it('redact a stream before it leaves', async () => {
    const { status, text, record } = await ask(
      { output_mutators: [REDACTED] },
      { body: { stream: true }, answers: [stream('Ask ja', 'ne@exam', 'ple.com now')] },
    );

    expect(status).toBe(200);
    expect(streamed(text)).toBe('Ask {{EMAIL_ADDRESS_1}} now');
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(record).toMatchObject({
      ending: 'completed',
      hook_results: { after_request_hooks: [{ transformed: true }] },
    });
  });

  it('stop a stream in the middle, with an error of its dialect, and the provider with it', async () => {
    const { status, text, record } = await ask(
      { output_guardrails: [{ ...NO_APOLLO, deny: true, id: 'names' }] },
      {
        body: { stream: true },
        answers: [{ ...stream('The name is Apo', 'llo', ' and more'), isEndless: true }],
      },
    );

    expect(status).toBe(200);
    expect('The name is '.startsWith(streamed(text))).toBe(true);
    expect(text).toContain('"code":"guardrail_denied"');
    expect(text).not.toContain('[DONE]');
    expect(record).toMatchObject({
      ending: 'refused',
      status: 200,
      error_code: 'guardrail_denied',
      hook_results: { after_request_hooks: [{ verdict: false }] },
    });
  });

  it('hold a stream to its end where they cannot judge before, and deny it with 446', async () => {
    const config = { output_guardrails: [{ 'default.wordCount': { maxWords: 3 }, deny: true }] };
    const long = await ask(config, { body: { stream: true }, answers: [stream('one two ', 'three four')] });
    expect(long.status).toBe(446);
    expect(long.text).not.toContain('one');
    await gateway.close();

    const short = await ask(config, { body: { stream: true }, answers: [stream('one ', 'two')] });
    expect(short.status).toBe(200);
    expect(streamed(short.text)).toBe('one two');
  });

  it("speak Anthropic's dialect to its clients, also where the provider speaks another", async () => {
    gateway = await aGateway({ answers: [stream('The name is ', 'Apollo')] });
    const response = await gateway.request('/v1/messages', {
      method: 'POST',
      body: JSON.stringify({
        model: MODEL,
        max_tokens: 10,
        stream: true,
        messages: [{ role: 'user', content: 'Hi' }],
      }),
      headers: {
        'content-type': 'application/json',
        'x-gateway-virtual-key': 'openai-prod',
        'x-gateway-config': JSON.stringify({ output_guardrails: [{ ...NO_APOLLO, deny: true }] }),
      },
    });
    const text = await response.text();

    expect(text).toContain('event: message_start');
    expect(text).toContain('event: error');
    expect(text).not.toContain('Apollo');
  });

  it.each([
    ['an answer', {}, [JSON.stringify({ error: { message: 'overloaded' } })]],
    ['a stream', { stream: true }, ['data: {"error":{"message":"overloaded"}}\n\n', 'data: [DONE]\n\n']],
  ])('do not judge an error behind a 200, %s: the next target is called', async (_, more, chunks) => {
    const type = 'stream' in more ? 'text/event-stream' : 'application/json';
    const { status, text, record } = await ask(
      {
        strategy: { mode: 'fallback' },
        output_guardrails: [{ ...NO_APOLLO, deny: true }],
        targets: [{ virtual_key: 'openai-prod' }, { virtual_key: 'openai-prod' }],
      },
      { answers: [{ headers: { 'content-type': type }, chunks }, answer('Fine')], body: more },
    );

    expect([status, text.includes('Fine')]).toEqual([200, true]);
    expect(record.attempts).toMatchObject([{ error_code: 'upstream_error' }, { error_code: null }]);
  });

  it('move a fallback on where it lists 446, and what was denied is billed', async () => {
    const { status, text, record, headers } = await ask(
      {
        strategy: { mode: 'fallback', on_status_codes: [446] },
        output_guardrails: [{ ...NO_APOLLO, deny: true }],
        targets: [{ virtual_key: 'openai-prod' }, { virtual_key: 'openai-prod' }],
      },
      { answers: [answer('Apollo'), answer('Fine')] },
    );

    expect(status).toBe(200);
    expect(text).toContain('Fine');
    expect(headers.get('x-gateway-last-used-option-index')).toBe('config.targets[1]');
    expect(record.attempts).toMatchObject([
      { error_code: 'guardrail_denied', cost_nano_usd: 10 * 150 + 5 * 600 },
      { error_code: null },
    ]);
  });
});
