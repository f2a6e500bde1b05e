import { afterEach, describe, expect, it } from 'vitest';
import {
  aGateway,
  type GatewayWishes,
  type ScriptedAnswer,
  type TestGateway,
} from '../../../test/support/gateway.js';

const ANSWER = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'gpt-4o-mini',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
});
const GOOD = { chunks: [ANSWER] };
const CHAT = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] };
const EVENTS = { 'content-type': 'text/event-stream' };
const VIRTUAL_KEYS = { claude: 'anthropic', groq: 'groq', cohere: 'cohere', hugging: 'huggingface' };

let gateway: TestGateway;
const given = async (wishes: GatewayWishes): Promise<TestGateway> =>
  (gateway = await aGateway({ virtualKeys: VIRTUAL_KEYS, ...wishes }));
afterEach(() => gateway.close());

const by = (config: object, more: Record<string, string> = {}): Record<string, string> => ({
  'x-gateway-virtual-key': '',
  'x-gateway-config': JSON.stringify(config),
  ...more,
});
const fallback = (targets: readonly object[], more: object = {}): object => ({
  strategy: { mode: 'fallback', ...more },
  targets,
});

describe('a fallback whose target refuses the credential', () => {
  const refusing = (status: number): ScriptedAnswer => ({ status, chunks: ['{"error":{"message":"no"}}'] });
  const SECOND = { virtual_key: 'groq' };
  const STATUSES = [401, 402, 403];

  it.each(
    STATUSES.flatMap((status) => [
      [status, 'of the virtual key', { virtual_key: 'openai-prod' }] as const,
      [status, 'in the target', { provider: 'openai', api_key: 'sk-in-target' }] as const,
    ]),
  )('moves on from a %i for the credential %s', async (status, _whose, first) => {
    const { chat, calls } = await given({ answers: [refusing(status), GOOD] });

    const answer = await chat(CHAT, by(fallback([first, SECOND])));

    expect([answer.status, calls.length]).toEqual([200, 2]);
  });

  it.each(
    STATUSES.flatMap((status) => [
      [status, 'of a target without a key', { provider: 'openai' }] as const,
      [
        status,
        'that forward_headers puts in place of the stored one',
        { virtual_key: 'openai-prod', forward_headers: ['Authorization'] },
      ] as const,
    ]),
  )("returns the %i for the client's own credential, %s", async (status, _whose, first) => {
    const { chat, calls } = await given({ answers: [refusing(status), GOOD] });

    const answer = await chat(CHAT, by(fallback([first, SECOND]), { authorization: 'Bearer sk-own' }));

    expect([answer.status, calls.length]).toEqual([status, 1]);
  });

  it('leaves it to on_status_codes where there are any', async () => {
    const { chat, calls } = await given({ answers: [refusing(401), GOOD] });

    const answer = await chat(
      CHAT,
      by(fallback([{ virtual_key: 'openai-prod' }, SECOND], { on_status_codes: [429] })),
    );

    expect([answer.status, calls.length]).toEqual([401, 1]);
  });
});

describe('a translated response that cannot be read', () => {
  const UNREADABLE: readonly (readonly [string, ScriptedAnswer])[] = [
    ['a page of HTML', { headers: { 'content-type': 'text/html' }, chunks: ['<html>Sign in</html>'] }],
    ['HTML that says it is JSON', { chunks: ['<html>Sign in</html>'] }],
    ['nothing', { chunks: [] }],
    ['half an object', { chunks: ['{"id":"msg_1","content":[{"type":"te'] }],
    ['a stream', { headers: EVENTS, chunks: ['event: ping\ndata: {}\n\n'] }],
    ['a number', { chunks: ['42'] }],
  ];
  const PAIRS: readonly (readonly [string, string, object, string])[] = [
    ['/v1/chat/completions', 'claude', CHAT, 'Anthropic behind chat completions'],
    ['/v1/messages', 'groq', { ...CHAT, max_tokens: 10 }, 'OpenAI’s dialect behind messages'],
    ['/v1/embeddings', 'cohere', { model: 'embed-v4', input: 'Hi' }, 'Cohere behind embeddings'],
  ];
  const cases = PAIRS.flatMap(([path, slug, body, pair]) =>
    UNREADABLE.map(([what, answer]) => [what, pair, { path, slug, body, answer }] as const),
  );
  const post = (path: string, body: object, headers: Record<string, string>): Promise<Response> =>
    gateway.request(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    });

  it.each(cases)('is a failure and no empty success: %s from %s', async (_what, _pair, one) => {
    const { logged } = await given({ answers: [one.answer] });

    const answer = await post(one.path, one.body, { 'x-gateway-virtual-key': one.slug });

    expect(answer.status).toBe(502);
    expect(await answer.json()).toMatchObject({ error: { code: 'upstream_error' } });
    expect(await logged()).toMatchObject({
      status: 502,
      error_code: 'upstream_error',
      attempts: [{ status: 200, error_code: 'upstream_error' }],
    });
  });

  it.each(cases)('is replaced by the next target of a fallback: %s from %s', async (_what, _pair, one) => {
    const { calls } = await given({ answers: [one.answer, { status: 418, chunks: ['{}'] }] });
    const config = fallback([{ virtual_key: one.slug }, { virtual_key: 'openai-prod' }]);

    const answer = await post(one.path, one.body, by(config));

    expect([answer.status, calls.length]).toEqual([418, 2]);
  });

  it('is a failure where guardrails judge it, too', async () => {
    await given({ answers: [{ chunks: ['<html>'] }] });
    const config = {
      virtual_key: 'claude',
      output_guardrails: [{ 'default.contains': { operator: 'none', words: ['Apollo'] }, deny: true }],
    };

    expect((await gateway.chat(CHAT, by(config))).status).toBe(502);
  });

  it('accepts no text page for an image or audio', async () => {
    const page = { headers: { 'content-type': 'text/html' }, chunks: ['<html>Sign in</html>'] };
    await given({ answers: [page], virtualKeys: { hugging: 'huggingface', eleven: 'elevenlabs' } });
    const image = { model: 'black-forest-labs/FLUX.1-dev', prompt: 'a cat' };
    const speech = { model: 'eleven_multilingual_v2', voice: 'JBFqnCBsd6RMkjVDRZzb', input: 'Hi' };

    const answers = await Promise.all([
      post('/v1/images/generations', image, { 'x-gateway-virtual-key': 'hugging' }),
      post('/v1/audio/speech', speech, { 'x-gateway-virtual-key': 'eleven' }),
    ]);

    expect(answers.map(({ status }) => status)).toEqual([502, 502]);
  });
});

describe('on_status_codes of a fallback', () => {
  const TWO = [{ virtual_key: 'openai-prod' }, { virtual_key: 'groq' }];
  const saying = (code: unknown): string => JSON.stringify({ error: { message: 'no', code } });
  const stream = (code: unknown): ScriptedAnswer => ({
    headers: EVENTS,
    chunks: [`data: ${saying(code)}\n\n`],
  });

  it.each([
    ['an answer', CHAT, (code: unknown): ScriptedAnswer => ({ chunks: [saying(code)] })],
    ['a stream', { ...CHAT, stream: true }, stream],
  ])('match the status that an error behind a 200 names: %s', async (_what, body, answering) => {
    const { chat, calls } = await given({ answers: [answering(429), GOOD, answering(500), GOOD] });

    const listed = await chat(body, by(fallback(TWO, { on_status_codes: [429] })));
    const other = await chat(body, by(fallback(TWO, { on_status_codes: [429] })));

    expect(await listed.text()).toBe(ANSWER);
    expect(await other.text()).toBe((answering(500).chunks ?? []).join(''));
    expect(calls).toHaveLength(3);
  });

  it.each([408, 504])('match a request_timeout as %i', async (status) => {
    const { chat, calls } = await given({ answers: [{ status: 0, isEndless: true }, GOOD] });
    const [first, second] = TWO;
    const config = fallback([{ ...first, request_timeout: 30 }, second as object], {
      on_status_codes: [status],
    });

    expect((await chat(CHAT, by(config))).status).toBe(200);
    expect(calls).toHaveLength(2);
  });

  it('of retries match a request_timeout as 504', async () => {
    const { chat } = await given({ answers: [{ status: 0, isEndless: true }, GOOD] });
    const config = {
      virtual_key: 'openai-prod',
      request_timeout: 30,
      retry: { attempts: 1, on_status_codes: [504] },
    };

    expect((await chat(CHAT, by(config))).status).toBe(200);
  });
});

describe('x-gateway-retry-attempt-count', () => {
  const BUSY = { status: 429, headers: { 'retry-after-ms': '1' }, chunks: ['{"error":{}}'] };
  const STREAM = {
    headers: EVENTS,
    chunks: ['data: {"choices":[{"delta":{"content":"Hi"}}]}\n\n', 'data: [DONE]\n\n'],
  };

  it.each([
    ['a plain answer', CHAT, GOOD],
    ['a stream', { ...CHAT, stream: true }, STREAM],
  ])('counts the retries of %s alike', async (_what, body, good) => {
    const { chat } = await given({ answers: [good, BUSY, good, BUSY, BUSY, good] });
    const config = { virtual_key: 'openai-prod', retry: { attempts: 3 } };

    const counts = [];
    for (let at = 0; at < 3; at++) {
      const answer = await chat(body, by(config));
      await answer.text();
      counts.push(answer.headers.get('x-gateway-retry-attempt-count'));
    }

    expect(counts).toEqual(['0', '1', '2']);
  });

  it('counts the retries of the target that responds, and not those of the one before', async () => {
    const { chat } = await given({ answers: [BUSY, BUSY, BUSY, STREAM] });
    const targets = [{ virtual_key: 'openai-prod' }, { virtual_key: 'groq' }];

    const answer = await chat(
      { ...CHAT, stream: true },
      by({ ...fallback(targets), retry: { attempts: 1 } }),
    );

    expect(answer.headers.get('x-gateway-retry-attempt-count')).toBe('1');
  });
});

describe('a stream that ends in order, but without a token', () => {
  const event = (data: object): string => `data: ${JSON.stringify(data)}\n\n`;
  const ROLE = event({ choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] });
  const FILTERED = event({ choices: [{ index: 0, delta: {}, finish_reason: 'content_filter' }] });
  const DONE = 'data: [DONE]\n\n';
  const GOOD_STREAM = { headers: EVENTS, chunks: [event({ choices: [{ delta: { content: 'Hi' } }] }), DONE] };
  const TWO = fallback([{ virtual_key: 'openai-prod' }, { virtual_key: 'groq' }]);
  const STREAM = { ...CHAT, stream: true };

  it('is replaced where nothing in it says that it is complete', async () => {
    const { chat } = await given({ answers: [{ headers: EVENTS, chunks: [ROLE] }, GOOD_STREAM] });

    expect(await (await chat(STREAM, by(TWO))).text()).toBe(GOOD_STREAM.chunks.join(''));
  });

  it.each([
    ['by its last line', [ROLE, DONE]],
    ['by a finish reason', [ROLE, FILTERED]],
  ])('is accepted where it is marked complete, %s', async (_how, chunks) => {
    const { chat, calls } = await given({ answers: [{ headers: EVENTS, chunks }, GOOD_STREAM] });

    expect(await (await chat(STREAM, by(TWO))).text()).toBe(chunks.join(''));
    expect(calls).toHaveLength(1);
  });
});
