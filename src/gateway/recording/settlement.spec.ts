import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { aCaller, aGateway, type GatewayWishes, type TestGateway } from '../../../test/support/gateway.js';
import { aBudget } from '../../../test/support/limits.js';
import { AppError } from '../../common/errors/app-error.js';

const CHAT = { model: 'gpt-4o-mini', max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] };
const STREAM = { ...CHAT, stream: true, stream_options: { include_usage: true } };
/** One token for each byte of the body, and the output that the request allows. */
const reservedFor = (body: object): number => Buffer.byteLength(JSON.stringify(body)) * 150 + 10 * 600;
const USAGE = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 };
const ANSWER = JSON.stringify({
  model: 'gpt-4o-mini',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
  usage: USAGE,
});
const ACTUAL = 9 * 150 + 2 * 600;
const budgeted = aCaller({ limits: { limits: [aBudget(1_000_000_000)], policies: [] } });
const SSE = { 'content-type': 'text/event-stream' };
const word = (content: string): string =>
  `data: ${JSON.stringify({ model: 'gpt-4o-mini', choices: [{ index: 0, delta: { content } }] })}\n\n`;
const END = [
  `data: ${JSON.stringify({ model: 'gpt-4o-mini', choices: [], usage: USAGE })}\n\n`,
  'data: [DONE]\n\n',
];

let gateway: TestGateway;
const given = async (wishes: GatewayWishes): Promise<TestGateway> =>
  (gateway = await aGateway({ caller: budgeted, ...wishes }));
afterEach(() => gateway.close());

describe('an attempt whose response has no end on record', () => {
  it('is charged its reservation where it timed out after it was sent', async () => {
    const { chat, logged } = await given({ answers: [{ isEndless: true, status: 0 }] });

    const answer = await chat(CHAT, { 'x-gateway-request-timeout': '40' });

    expect(answer.status).toBe(408);
    expect(await logged()).toMatchObject({
      usage_source: 'estimated',
      cost_nano_usd: reservedFor(CHAT),
      attempts: [
        { error_code: 'request_timeout', isEstimated: true, charges: [{ leased: reservedFor(CHAT) }] },
      ],
    });
  });

  it('is charged its reservation beside the cost of the successful fallback', async () => {
    const config = {
      strategy: { mode: 'fallback' },
      request_timeout: 40,
      targets: [{ virtual_key: 'openai-prod' }, { virtual_key: 'groq' }],
    };
    const { chat, logged } = await given({
      virtualKeys: { groq: 'groq' },
      answers: [{ isEndless: true, status: 0 }, { chunks: [ANSWER] }],
    });

    await chat(CHAT, { 'x-gateway-virtual-key': '', 'x-gateway-config': JSON.stringify(config) });

    expect(await logged()).toMatchObject({
      usage_source: 'provider',
      cost_nano_usd: reservedFor(CHAT) + ACTUAL,
      attempts: [{ isEstimated: true }, { cost_nano_usd: ACTUAL }],
    });
  });

  it('is charged nothing where it was never sent, and is no estimate', async () => {
    const { chat, logged } = await given({ answers: [{ isUnsent: true, isEndless: true, status: 0 }] });

    await chat(CHAT, { 'x-gateway-request-timeout': '40' });

    const { attempts } = await logged();
    expect(attempts).toMatchObject([{ cost_nano_usd: null, charges: [{ leased: 0 }] }]);
    expect(attempts[0]).not.toHaveProperty('isEstimated');
  });

  it('is charged its reservation when a plain response broke off', async () => {
    const { chat, logged } = await given({
      answers: [{ status: 200, chunks: [ANSWER.slice(0, 20)], error: new AppError('upstream_error') }],
    });

    await chat(CHAT);

    expect(await logged()).toMatchObject({
      ending: 'upstream_truncated',
      usage_source: 'estimated',
      cost_nano_usd: reservedFor(CHAT),
    });
  });

  it('is charged nothing when the connection was lost before a response, and is flagged', async () => {
    const { chat, logged } = await given({ answers: [{ error: new AppError('upstream_error') }] });

    await chat(CHAT);

    expect(await logged()).toMatchObject({
      usage_source: 'none',
      cost_nano_usd: null,
      attempts: [{ isEstimated: true, usage: null, charges: [{ leased: 0 }] }],
    });
  });

  it('is charged what had come of a stream that broke off, and is marked', async () => {
    const { chat, logged } = await given({
      answers: [
        { status: 200, headers: SSE, chunks: [word('Hello')], error: new AppError('upstream_error') },
      ],
    });

    await (await chat(STREAM)).text().catch(() => undefined);

    expect(await logged()).toMatchObject({
      ending: 'upstream_truncated',
      countable: { output: 'Hello' },
      attempts: [{ isEstimated: true }],
    });
  });

  it('is no estimate when the provider refused it, or responded completely', async () => {
    const refused = await given({ answers: [{ status: 400, chunks: ['{"error":{}}'] }] });
    await refused.chat(CHAT);
    expect((await refused.logged()).attempts[0]).not.toHaveProperty('isEstimated');
    await refused.close();

    const answered = await given({ answers: [{ chunks: [ANSWER] }] });
    await answered.chat(CHAT);
    const record = await answered.logged();
    expect(record).toMatchObject({ usage_source: 'provider', cost_nano_usd: ACTUAL });
    expect(record.attempts[0]).not.toHaveProperty('isEstimated');
  });
});

describe('a reported usage', () => {
  const zero = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
  const told = (usage: object): string => `data: ${JSON.stringify({ choices: [], usage })}\n\n`;
  const answer = (usage: object, content = 'Hello'): string =>
    JSON.stringify({ choices: [{ index: 0, message: { role: 'assistant', content } }], usage });

  it('of a refusal is charged', async () => {
    const { chat, logged } = await given({
      answers: [{ status: 400, chunks: [JSON.stringify({ error: { message: 'no' }, usage: USAGE })] }],
    });

    await chat(CHAT);

    expect(await logged()).toMatchObject({
      status: 400,
      ending: 'completed',
      usage_source: 'provider',
      cost_nano_usd: ACTUAL,
    });
  });

  it('stays charged when a later chunk reports zero', async () => {
    const { chat, logged } = await given({
      answers: [{ headers: SSE, chunks: [word('Hello'), told(USAGE), told(zero), 'data: [DONE]\n\n'] }],
    });

    await (await chat(STREAM)).text();

    expect(await logged()).toMatchObject({ usage_source: 'provider', cost_nano_usd: ACTUAL });
  });

  it.each([
    ['of a stream', STREAM, { headers: SSE, chunks: [word('Hello'), told(zero), 'data: [DONE]\n\n'] }],
    [
      'of a stream that begins with it',
      STREAM,
      { headers: SSE, chunks: [told(zero), word('Hello'), END[1]] },
    ],
    ['of a plain response', CHAT, { chunks: [answer(zero)] }],
    ['of impossible size', CHAT, { chunks: [answer({ prompt_tokens: 2e9, completion_tokens: 1 })] }],
  ] as const)(
    '%s with text is rejected where it is zero or impossible: the text is counted',
    async (_, body, sent) => {
      const { chat, logged } = await given({ answers: [sent as never] });

      await (await chat(body)).text();

      const record = await logged();
      expect(record).toMatchObject({ usage: null, countable: { output: 'Hello' } });
      expect(record.countable).toMatchObject({ input: expect.stringContaining('Hi') as string });
    },
  );

  const noOutput = { prompt_tokens: 9, completion_tokens: 0, total_tokens: 9 };
  it.each([
    ['of a stream', STREAM, { headers: SSE, chunks: [word('Hello'), told(noOutput), 'data: [DONE]\n\n'] }],
    [
      'of a stream that begins with it',
      STREAM,
      { headers: SSE, chunks: [told(noOutput), word('Hello'), 'data: [DONE]\n\n'] },
    ],
    ['of a plain response', CHAT, { chunks: [answer(noOutput)] }],
  ] as const)('%s without output is rejected beside text: its text is counted', async (_, body, sent) => {
    const { chat, logged } = await given({ answers: [sent] });

    await (await chat(body)).text();

    const { attempts, countable } = await logged();
    expect(countable).toEqual({ input: '', output: 'Hello', isOutputOnly: true });
    expect(attempts).toMatchObject([{ usage: { input_tokens: 9 } }]);
  });

  it('keeps its output when a later chunk reports only the input', async () => {
    const { chat, logged } = await given({
      answers: [{ headers: SSE, chunks: [word('Hello'), told(USAGE), told(noOutput), 'data: [DONE]\n\n'] }],
    });

    await (await chat(STREAM)).text();

    expect(await logged()).toMatchObject({ usage_source: 'provider', cost_nano_usd: ACTUAL });
  });

  it('of zero is accepted where there is no text', async () => {
    const { chat, logged } = await given({ answers: [{ chunks: [answer(zero, '')] }] });

    await chat(CHAT);

    expect(await logged()).toMatchObject({ usage_source: 'provider', cost_nano_usd: 0 });
  });
});

describe('without any limit, the same attempts', () => {
  const free = { caller: aCaller() };

  it('are charged what a limit would have reserved where they timed out after they were sent', async () => {
    const { chat, logged } = await given({ ...free, answers: [{ isEndless: true, status: 0 }] });

    await chat(CHAT, { 'x-gateway-request-timeout': '40' });

    const record = await logged();
    expect(record).toMatchObject({
      usage_source: 'estimated',
      cost_nano_usd: reservedFor(CHAT),
      attempts: [{ error_code: 'request_timeout', isEstimated: true, cost_nano_usd: reservedFor(CHAT) }],
    });
    expect(record.attempts[0]).not.toHaveProperty('charges');
  });

  it('are charged it where a plain response broke off', async () => {
    const { chat, logged } = await given({
      ...free,
      answers: [{ status: 200, chunks: [ANSWER.slice(0, 20)], error: new AppError('upstream_error') }],
    });

    await chat(CHAT);

    expect(await logged()).toMatchObject({ usage_source: 'estimated', cost_nano_usd: reservedFor(CHAT) });
  });

  it('have no cost where the model has no price', async () => {
    const { chat, logged } = await given({ ...free, price: null, answers: [{ isEndless: true, status: 0 }] });

    await chat(CHAT, { 'x-gateway-request-timeout': '40' });

    expect(await logged()).toMatchObject({ usage_source: 'estimated', cost_nano_usd: null });
  });

  it('are charged nothing where they were never sent, or their connection was lost before a response', async () => {
    const unsent = await given({ ...free, answers: [{ isUnsent: true, isEndless: true, status: 0 }] });
    await unsent.chat(CHAT, { 'x-gateway-request-timeout': '40' });
    expect(await unsent.logged()).toMatchObject({ cost_nano_usd: null, usage: null });
    await unsent.close();

    const lost = await given({ ...free, answers: [{ error: new AppError('upstream_error') }] });
    await lost.chat(CHAT);
    expect(await lost.logged()).toMatchObject({ cost_nano_usd: null, usage: null });
  });
});

describe('a client that leaves', () => {
  /** Sends a request and disconnects once the response has begun, or the request has reached the provider. */
  async function leaveEarly({ url, key, calls }: TestGateway, body: object, config: object): Promise<void> {
    const leave = new AbortController();
    const asked = fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      signal: leave.signal,
      body: JSON.stringify(body),
      headers: {
        'x-gateway-api-key': key,
        'x-gateway-config': JSON.stringify({ virtual_key: 'openai-prod', ...config }),
        'content-type': 'application/json',
      },
    });
    asked.catch(() => undefined);
    if ('stream' in body) {
      const reader = (await asked).body?.getReader();
      await reader?.read();
      reader?.closed.catch(() => undefined);
    } else await vi.waitFor(() => expect(calls).toHaveLength(1));
    await sleep(20);
    leave.abort();
    leftAt = Date.now();
  }

  let leftAt = Infinity;
  /** The rest of the response is sent after the gateway has noticed the disconnect. */
  const late = () => {
    leftAt = Infinity;
    return () => Date.now() > leftAt + 100;
  };

  it.each([
    ['a stream', STREAM, { headers: SSE, first: [word('Hel')], rest: [word('lo'), ...END] }],
    ['a plain answer', CHAT, { headers: undefined, first: [], rest: [ANSWER] }],
  ] as const)(
    'is charged the usage that the provider reports for %s with "finish"',
    async (_, body, answer) => {
      const { headers, first, rest } = answer;
      const started = await given({
        answers: [{ ...(headers && { headers }), first, until: late(), chunks: rest }],
      });

      await leaveEarly(started, body, { on_client_disconnect: 'finish' });

      const record = await started.logged();
      expect(record).toMatchObject({
        ending: 'client_aborted',
        usage_source: 'provider',
        usage: { input_tokens: 9, output_tokens: 2 },
        cost_nano_usd: ACTUAL,
      });
      expect(record.attempts[0]).not.toHaveProperty('isEstimated');
      expect(started.cancelled).toEqual([]);
    },
  );

  const GUARDED = {
    output_guardrails: [{ 'default.contains': { operator: 'none', words: ['Apollo'] }, deny: true }],
  };
  /** Anthropic's events, for a client of OpenAI's dialect. */
  const claude = (type: string, data: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;
  const CLAUDE = [
    claude('message_start', {
      message: {
        id: 'm',
        role: 'assistant',
        model: 'gpt-4o-mini',
        content: [],
        usage: { input_tokens: 9, output_tokens: 1 },
      },
    }) +
      claude('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }) +
      claude('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Hel' } }),
    claude('content_block_stop', { index: 0 }) +
      claude('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } }) +
      claude('message_stop', {}),
  ] as const;

  it.each([
    ['a guarded stream', STREAM, GUARDED, { headers: SSE, first: [word('Hel')], rest: [word('lo'), ...END] }],
    ['a guarded plain answer', CHAT, GUARDED, { headers: undefined, first: [], rest: [ANSWER] }],
    [
      'a translated stream',
      STREAM,
      { virtual_key: 'claude' },
      { headers: SSE, first: [CLAUDE[0]], rest: [CLAUDE[1]] },
    ],
  ] as const)(
    'is charged what the provider reports for %s with "finish"',
    async (_, body, config, answer) => {
      const { headers, first, rest } = answer;
      const started = await given({
        virtualKeys: { claude: 'anthropic' },
        answers: [{ ...(headers && { headers }), first, until: late(), chunks: rest }],
      });

      await leaveEarly(started, body, { ...config, on_client_disconnect: 'finish' });

      expect(await started.logged()).toMatchObject({
        ending: 'client_aborted',
        usage_source: 'provider',
        usage: { input_tokens: 9, output_tokens: 2 },
        cost_nano_usd: ACTUAL,
      });
      expect(started.cancelled).toEqual([]);
    },
  );

  it('is charged by the rule of its config, or else its virtual key, or else its workspace', async () => {
    const finishes = async (wishes: GatewayWishes, config: object): Promise<boolean> => {
      const started = await given({
        ...wishes,
        answers: [{ headers: SSE, first: [word('Hel')], until: late(), chunks: [...END] }],
      });
      await leaveEarly(started, STREAM, config);
      await started.logged();
      await started.close();
      return started.cancelled.length === 0;
    };
    const ofWorkspace = { caller: aCaller({ onClientDisconnect: 'finish' }) };

    expect(await finishes({}, {})).toBe(false);
    expect(await finishes(ofWorkspace, {})).toBe(true);
    expect(await finishes({ ...ofWorkspace, onClientDisconnect: 'cancel' }, {})).toBe(false);
    expect(await finishes({ onClientDisconnect: 'cancel' }, { on_client_disconnect: 'finish' })).toBe(true);
  });

  it.each([
    ['a stream', STREAM, { headers: SSE, first: [word('Hel')] }, 'Hel'],
    ['a plain answer', CHAT, { first: [] }, ''],
  ] as const)(
    'is charged the input and what had come of %s with "cancel"',
    async (_, body, answer, output) => {
      const started = await given({ answers: [{ ...answer, isEndless: true }] });

      await leaveEarly(started, body, { on_client_disconnect: 'cancel' });

      const record = await started.logged();
      expect(record).toMatchObject({ ending: 'client_aborted', attempts: [{ isEstimated: true }] });
      const countable = record.countable ?? record.attempts[0]?.countable;
      expect(countable).toMatchObject({ input: expect.stringContaining('Hi') as string, output });
      expect(started.cancelled).toHaveLength(1);
    },
  );
});
