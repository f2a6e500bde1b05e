import { afterEach, describe, expect, it, vi } from 'vitest';
import { aBudget } from '../../../test/support/limits.js';
import { aGateway, type GatewayWishes, type TestGateway } from '../../../test/support/gateway.js';

const ANSWER = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  model: 'gpt-4o-mini',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
});
const CHAT = { model: 'gpt-4o-mini', max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] };
const SSE = { 'content-type': 'text/event-stream' };
const delta = (content: string): string =>
  `data: ${JSON.stringify({ object: 'chat.completion.chunk', model: 'gpt-4o-mini', choices: [{ index: 0, delta: { content } }] })}\n\n`;
const NEVER = { status: 0, isEndless: true };
const LATE_STREAM = { headers: SSE, chunks: [': thinking\n\n'], isEndless: true };
const STREAM = { headers: SSE, chunks: [delta('Hello'), 'data: [DONE]\n\n'] };

const hedged = (more: object = {}) => ({
  strategy: { mode: 'fallback', hedge: { after_ms: 20, max_share: 100, max_spend: 100, ...more } },
  targets: [{ virtual_key: 'openai-prod' }, { virtual_key: 'groq' }, { virtual_key: 'third' }],
});

let gateway: TestGateway;
const areTwo = (): boolean => gateway.calls.length > 1;
const given = async (wishes: GatewayWishes): Promise<TestGateway> =>
  (gateway = await aGateway({ virtualKeys: { groq: 'groq', third: 'together-ai' }, ...wishes }));
afterEach(() => {
  vi.restoreAllMocks();
  return gateway.close();
});

const by = (config: object) => ({
  'x-gateway-virtual-key': '',
  'x-gateway-config': JSON.stringify(config),
});

describe('a hedged fallback', () => {
  it('calls the second target when the first is slow, takes its response, and cancels and bills the first', async () => {
    const { chat, calls, logs, cancelled } = await given({ answers: [NEVER, { chunks: [ANSWER] }] });

    const response = await chat(CHAT, by(hedged()));

    expect(response.status).toBe(200);
    expect(await response.text()).toBe(ANSWER);
    expect(response.headers.get('x-gateway-provider')).toBe('groq');
    expect(response.headers.get('x-gateway-last-used-option-index')).toBe('config.targets[1]');
    expect(calls).toHaveLength(2);
    expect(cancelled).toHaveLength(1);
    const [log] = logs;
    expect(log?.record).toMatchObject({
      provider: 'groq',
      option_path: 'config.targets[1]',
      decisions: ['config: config.targets[1] is asked too after 20 ms'],
      usage: { input_tokens: 100, output_tokens: 10 },
      attempts: [
        {
          attempt: 0,
          provider: 'openai',
          option_path: 'config.targets[0]',
          error_code: 'hedge_lost',
          countable: { model: 'gpt-4o-mini', output: '' },
        },
        {
          attempt: 1,
          provider: 'groq',
          option_path: 'config.targets[1]',
          error_code: null,
          cost_nano_usd: 21_000,
        },
      ],
    });
    expect(log?.record.attempts[0]?.countable?.input).toContain('Hi');
  });

  it('keeps the first target when it is faster after all, and bills the second', async () => {
    const slow = { ...STREAM, until: areTwo };
    const { chat, logs, cancelled } = await given({ answers: [slow, NEVER] });

    const response = await chat({ ...CHAT, stream: true }, by(hedged({ after_ms: 1 })));

    expect(response.headers.get('x-gateway-provider')).toBe('openai');
    expect(await response.text()).toContain('[DONE]');
    expect(cancelled).toHaveLength(1);
    expect(logs[0]?.record).toMatchObject({
      provider: 'openai',
      option_path: 'config.targets[0]',
      attempts: [
        { provider: 'groq', option_path: 'config.targets[1]', error_code: 'hedge_lost' },
        { provider: 'openai', option_path: 'config.targets[0]', error_code: null },
      ],
    });
  });

  it('lets a stream win with its first useful token, not with its head', async () => {
    const { chat, logs } = await given({ answers: [LATE_STREAM, STREAM] });

    const response = await chat({ ...CHAT, stream: true }, by(hedged()));

    expect(await response.text()).toBe(STREAM.chunks.join(''));
    expect(logs[0]?.record.attempts).toMatchObject([
      { provider: 'openai', status: 200, error_code: 'hedge_lost' },
      { provider: 'groq', status: 200 },
    ]);
  });

  it('continues with the third target when both have failed', async () => {
    const down = { status: 500, chunks: ['{"error":{}}'] };
    const late = { headers: SSE, until: areTwo, error: new Error('reset'), chunks: [': wait\n\n'] };
    const { chat, logs } = await given({ answers: [late, down, { chunks: [ANSWER] }] });

    const response = await chat({ ...CHAT, stream: true }, by(hedged({ after_ms: 1 })));

    expect(response.headers.get('x-gateway-last-used-option-index')).toBe('config.targets[2]');
    await response.text();
    expect(logs[0]?.record.attempts.map(({ option_path }) => option_path).sort()).toEqual([
      'config.targets[0]',
      'config.targets[1]',
      'config.targets[2]',
    ]);
  });

  it('does not hedge beyond its share, or before latencies are known', async () => {
    const { chat, calls } = await given({ answers: [{ chunks: [ANSWER] }] });
    const quiet = { strategy: { mode: 'fallback', hedge: {} }, targets: hedged().targets };
    for (let round = 0; round < 10; round++) await (await chat(CHAT, by(quiet))).text();
    for (let round = 0; round < 10; round++)
      await (await chat(CHAT, by(hedged({ after_ms: 1, max_share: 5 })))).text();

    expect(calls).toHaveLength(20);
  });

  it.each([
    ['/v1/responses', { input: 'Hi' }],
    ['/v1/responses', { input: 'Hi', store: true }],
    ['/v1/chat/completions', { messages: CHAT.messages, store: true }],
  ])('does not send a request twice whose response the provider keeps: %s %j', async (path, fields) => {
    let looks = 0;
    const slow = { until: () => looks++ > 500, chunks: ['{}'] };
    const { request, calls } = await given({ answers: [slow] });

    const body = JSON.stringify({ model: 'gpt-4o-mini', ...fields });
    const headers = { ...by(hedged({ after_ms: 1 })), 'content-type': 'application/json' };
    await (await request(path, { method: 'POST', body, headers })).text();

    expect(calls).toHaveLength(1);
  });

  it('ends both questions when the client leaves', async () => {
    const { url, key, cancelled, logged } = await given({ answers: [NEVER, NEVER] });
    const client = new AbortController();
    const headers = { 'x-gateway-api-key': key, 'content-type': 'application/json', ...by(hedged()) };
    const pending = fetch(`${url}/v1/chat/completions`, {
      ...{ method: 'POST', headers, body: JSON.stringify(CHAT), signal: client.signal },
    }).catch(() => 'left');
    while (gateway.calls.length < 2) await new Promise((resolve) => setTimeout(resolve, 5));
    client.abort();

    expect(await pending).toBe('left');
    expect(await logged()).toMatchObject({ ending: 'client_aborted', status: 499 });
    expect(cancelled).toHaveLength(2);
  });

  it('keeps what it reserved for the one that lost until its input has been counted', async () => {
    const answers = [NEVER, { chunks: [ANSWER] }];
    const { chat, logs } = await given({ limits: [aBudget(1_000_000_000)], answers });

    await (await chat(CHAT, by(hedged()))).text();

    const [lost, won] = logs[0]?.record.attempts ?? [];
    expect(lost?.charges).toMatchObject([{ measure: 'cost', leased: expect.any(Number) as number }]);
    expect(lost?.charges?.[0]?.leased).toBeGreaterThan(0);
    expect(won?.charges).toBeUndefined();
  });
});
