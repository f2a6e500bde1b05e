import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  aCaller,
  aGateway,
  type GatewayWishes,
  type ScriptedAnswer,
  type TestGateway,
} from '../../../test/support/gateway.js';
import { aBudget, aLimit } from '../../../test/support/limits.js';
import { MemoryAnswerStore } from '../../../test/support/memory-answer-store.js';

const ASK = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hello' }] };
const STREAM = { ...ASK, stream: true };
const answerOf = (content: string): ScriptedAnswer => ({
  chunks: [
    JSON.stringify({
      model: 'gpt-4o-mini',
      choices: [{ index: 0, message: { role: 'assistant', content } }],
      usage: { prompt_tokens: 10, completion_tokens: 5 },
    }),
  ],
});
const COST = 10 * 150 + 5 * 600;
const PIECES = [
  'data: {"choices":[{"delta":{"content":"o"}}]}\n\n',
  'data: {"choices":[{"delta":{"content":"ne"}}],"usage":{"prompt_tokens":10,"completion_tokens":5}}\n\n',
  'data: [DONE]\n\n',
];
const STREAMED: ScriptedAnswer = { headers: { 'content-type': 'text/event-stream' }, chunks: PIECES };
const SIMPLE = { cache: { mode: 'simple' } };

const open: TestGateway[] = [];
async function given(wishes: GatewayWishes = {}): Promise<TestGateway> {
  const gateway = await aGateway({
    answers: [answerOf('one'), answerOf('two'), answerOf('three')],
    ...wishes,
  });
  open.push(gateway);
  return gateway;
}
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(open.splice(0).map((gateway) => gateway.close()));
});

interface CacheTestResponse {
  readonly text: string;
  readonly cache: string | null;
  readonly status: number;
}
async function ask(
  gateway: TestGateway,
  config: object | null = SIMPLE,
  { body = ASK, headers = {} }: { body?: object; headers?: Record<string, string> } = {},
): Promise<CacheTestResponse> {
  const answer = await gateway.chat(body, {
    ...(config ? { 'x-gateway-config': JSON.stringify(config) } : {}),
    ...headers,
  });
  const { status } = answer;
  return { text: await answer.text(), cache: answer.headers.get('x-gateway-cache-status'), status };
}
const caches = (heard: readonly CacheTestResponse[]) => heard.map(({ cache }) => cache);
const lastRecord = async (gateway: TestGateway, count: number) => {
  await expect.poll(() => gateway.logs).toHaveLength(count);
  return gateway.logs.at(-1)?.record;
};

describe('an equal request', () => {
  it('gets the first response without a provider call, costs nothing, and its record has the savings', async () => {
    const gateway = await given();

    const [first, second] = [await ask(gateway), await ask(gateway)];

    expect(caches([first, second])).toEqual(['MISS', 'HIT']);
    expect(second.text).toBe(first.text);
    expect(gateway.calls).toHaveLength(1);
    const record = await lastRecord(gateway, 2);
    expect(record).toMatchObject({
      cache_status: 'HIT',
      cost_nano_usd: 0,
      saved_nano_usd: COST,
      provider: 'openai',
      status: 200,
      ending: 'completed',
      usage: { input_tokens: 10, output_tokens: 5 },
      attempts: [],
    });
    expect(gateway.logs[0]?.record).toMatchObject({
      cache_status: 'MISS',
      cost_nano_usd: COST,
      saved_nano_usd: null,
    });
  });

  it('is not looked up without a config or header that enables it, and the store is not queried', async () => {
    const gateway = await given();

    const heard = [await ask(gateway, null), await ask(gateway, null)];

    expect(caches(heard)).toEqual(['DISABLED', 'DISABLED']);
    expect(gateway.calls).toHaveLength(2);
    expect(gateway.answerStore.lookups).toBe(0);
    expect((await lastRecord(gateway, 2))?.cache_status).toBeNull();
  });

  it.each(['x-gateway-cache', 'x-portkey-cache'])('may opt in with the header %s', async (name) => {
    const gateway = await given();
    const headers = { [name]: 'simple' };

    expect(caches([await ask(gateway, null, { headers }), await ask(gateway, null, { headers })])).toEqual([
      'MISS',
      'HIT',
    ]);
    expect((await ask(gateway, null, { headers: { [name]: 'semantic' } })).status).toBe(400);
  });

  it('gets a stream in the original pieces, and only if it requests a stream', async () => {
    const gateway = await given({ answers: [STREAMED, answerOf('plain')] });

    const first = await ask(gateway, SIMPLE, { body: STREAM });
    const second = await gateway.chat(STREAM, { 'x-gateway-config': JSON.stringify(SIMPLE) });
    const pieces: string[] = [];
    for await (const piece of second.body ?? []) pieces.push(Buffer.from(piece).toString());
    const plain = await ask(gateway);

    expect(second.headers.get('x-gateway-cache-status')).toBe('HIT');
    expect(second.headers.get('content-type')).toBe('text/event-stream');
    expect(pieces.join('')).toBe(first.text);
    expect(plain).toMatchObject({ cache: 'MISS', status: 200 });
    expect(gateway.calls).toHaveLength(2);
    expect(await lastRecord(gateway, 3)).toMatchObject({ cache_status: 'MISS' });
    expect(gateway.logs[1]?.record).toMatchObject({
      cache_status: 'HIT',
      saved_nano_usd: COST,
      streamed: true,
    });
  });

  it('does not get a response in an encoding that it may not read', async () => {
    const gateway = await given();

    await ask(gateway, SIMPLE, { headers: { 'accept-encoding': 'gzip' } });
    const other = await ask(gateway, SIMPLE, { headers: { 'accept-encoding': 'identity' } });

    expect(other.cache).toBe('HIT');
    const sent = gateway.calls[0]?.headers ?? [];
    expect(sent[sent.findIndex((name) => name.toLowerCase() === 'accept-encoding') + 1]).toBe('identity');
  });

  it('finds what another process of the workspace got', async () => {
    const answerStore = new MemoryAnswerStore();
    const [one, other] = [await given({ answerStore }), await given({ answerStore })];

    await ask(one);
    await expect.poll(() => answerStore.kept.size).toBe(1);

    expect((await ask(other)).cache).toBe('HIT');
    expect(other.calls).toHaveLength(0);
  });

  it('never finds what another workspace or another organization got', async () => {
    const answerStore = new MemoryAnswerStore();
    const callers = [
      aCaller(),
      aCaller({ workspaceId: '00000000-0000-7000-8000-0000000000aa' }),
      aCaller({ organizationId: '00000000-0000-7000-8000-0000000000bb' }),
    ];

    for (const caller of callers) {
      const gateway = await given({ answerStore, caller });
      expect((await ask(gateway)).cache).toBe('MISS');
      expect(gateway.calls).toHaveLength(1);
    }

    await expect.poll(() => answerStore.kept.size).toBe(3);
    const digests = [...answerStore.kept.keys()].map((place) => place.split('/')[2]);
    expect(new Set(digests).size).toBe(3);
  });

  it('differs by metadata unless a namespace replaces it, and by the namespace', async () => {
    const gateway = await given();
    const as = (user: string, namespace?: string) =>
      ask(gateway, SIMPLE, {
        headers: {
          'x-gateway-metadata': JSON.stringify({ _user: user }),
          ...(namespace ? { 'x-portkey-cache-namespace': namespace } : {}),
        },
      });

    expect(caches([await as('ann'), await as('bob'), await as('ann')])).toEqual(['MISS', 'MISS', 'HIT']);
    expect(caches([await as('ann', 'n'), await as('bob', 'n'), await as('bob', 'm')])).toEqual([
      'MISS',
      'HIT',
      'MISS',
    ]);
    const long = await ask(gateway, SIMPLE, { headers: { 'x-gateway-cache-namespace': 'n'.repeat(129) } });
    expect(long.status).toBe(400);
  });

  it('goes to the provider with a forced refresh, whose response serves from then on', async () => {
    const gateway = await given();
    await ask(gateway);

    const fresh = await ask(gateway, SIMPLE, { headers: { 'x-gateway-cache-force-refresh': 'true' } });
    const after = await ask(gateway);

    expect(fresh.cache).toBe('REFRESH');
    expect(fresh.text).toContain('two');
    expect(after).toMatchObject({ cache: 'HIT', text: fresh.text });
    expect(gateway.calls).toHaveLength(2);
  });

  it('goes to the provider when its entry exceeds the max age of the config, its own or that of the writer', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
    const gateway = await given({ answers: [answerOf('one'), answerOf('two'), answerOf('three')] });
    const lasting = (seconds: number) => ({ cache: { mode: 'simple', max_age: seconds } });
    await ask(gateway, lasting(60));

    vi.setSystemTime(Date.now() + 59_000);
    expect(caches([await ask(gateway, lasting(60)), await ask(gateway, lasting(30))])).toEqual([
      'HIT',
      'MISS',
    ]);
    vi.setSystemTime(Date.now() + 31_000);
    expect((await ask(gateway, lasting(3_600))).cache).toBe('MISS');
  });

  it('sees a refresh of another process within 20 seconds', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
    const answerStore = new MemoryAnswerStore();
    const [one, other] = [
      await given({ answerStore }),
      await given({ answerStore, answers: [answerOf('newer')] }),
    ];
    await ask(one);
    await ask(other, SIMPLE, { headers: { 'x-gateway-cache-force-refresh': 'true' } });
    await expect.poll(() => String([...answerStore.kept.values()][0]?.answer)).toContain('newer');

    vi.setSystemTime(Date.now() + 20_001);

    expect((await ask(one)).text).toContain('newer');
  });
});

describe('what is not kept', () => {
  it.each<[string, ScriptedAnswer, object]>([
    ['an answer that is no 200', { status: 500, chunks: ['{}'] }, ASK],
    ['a failure inside a 200', { chunks: ['{"error":{"message":"busy"}}'] }, ASK],
    ['a stream that broke off', { ...STREAMED, chunks: PIECES.slice(0, 1), error: new Error('cut') }, STREAM],
    ['a stream without its end', { ...STREAMED, chunks: PIECES.slice(0, 2) }, STREAM],
  ])('is %s', async (_, answer, body) => {
    const gateway = await given({ answers: [answer, body === STREAM ? STREAMED : answerOf('good')] });
    const asked = () => ask(gateway, SIMPLE, { body }).catch(() => null);
    await asked();
    await expect.poll(() => gateway.logs).toHaveLength(1);

    expect((await asked())?.cache).toBe('MISS');
    expect((await asked())?.cache).toBe('HIT');
    expect(gateway.calls).toHaveLength(2);
  });

  it('is not a response that a guardrail denied or flagged; a stored one is judged again', async () => {
    const failing = { 'default.contains': { operator: 'none', words: ['one'] } };
    const gateway = await given();
    const denying = { ...SIMPLE, output_guardrails: [{ ...failing, deny: true }] };
    const marking = { ...SIMPLE, output_guardrails: [failing] };
    expect(await ask(gateway, denying)).toMatchObject({ status: 446, cache: 'MISS' });
    expect(gateway.answerStore.kept.size).toBe(0);

    const kept = await given();
    await ask(kept);
    expect(await ask(kept, denying)).toMatchObject({ status: 446, cache: 'HIT' });
    expect(await ask(kept, marking)).toMatchObject({ status: 246, cache: 'HIT' });
    expect(kept.calls).toHaveLength(1);
  });

  it('is what would act again: such a request is no affair of the cache', async () => {
    const gateway = await given();
    const body = { ...ASK, store: true };

    expect(caches([await ask(gateway, SIMPLE, { body }), await ask(gateway, SIMPLE, { body })])).toEqual([
      'DISABLED',
      'DISABLED',
    ]);
  });
});

describe('guardrails of the request', () => {
  it('run first: a denied request gets no response, and the changed text is the cache key', async () => {
    const gateway = await given();
    const denying = {
      ...SIMPLE,
      input_guardrails: [{ 'default.contains': { operator: 'none', words: ['hello'] }, deny: true }],
    };
    const prefixed = (prefix: string) => ({
      ...SIMPLE,
      input_mutators: [{ 'default.addPrefix': { prefix } }],
    });
    await ask(gateway);

    expect((await ask(gateway, denying)).status).toBe(446);
    expect(
      caches([await ask(gateway, prefixed('Be brief. ')), await ask(gateway, prefixed('Be brief. '))]),
    ).toEqual(['MISS', 'HIT']);
  });
});

describe('the store of all processes', () => {
  it('does not fail requests while it is unavailable: they miss, except what this process holds', async () => {
    const gateway = await given();
    gateway.answerStore.state = 'away';

    expect(caches([await ask(gateway), await ask(gateway)])).toEqual(['MISS', 'HIT']);
    expect(gateway.answerStore.lookups).toBe(1);
  });

  it('delays no request when it does not respond', async () => {
    const gateway = await given();
    gateway.answerStore.state = 'silent';

    // It never responds: a request that waited for it would wait without limit.
    expect((await ask(gateway)).cache).toBe('MISS');
    expect((await ask(gateway, SIMPLE, { body: { ...ASK, seed: 1 } })).cache).toBe('MISS');
    expect(gateway.answerStore.lookups).toBe(1);
  });

  it('may hold unreadable entries: they are misses', async () => {
    const gateway = await given();
    await ask(gateway);
    await expect.poll(() => gateway.answerStore.kept.size).toBe(1);
    for (const [place, { expiresAt }] of gateway.answerStore.kept)
      gateway.answerStore.kept.set(place, { answer: Buffer.from('rubbish'), expiresAt });
    const other = await given({ answerStore: gateway.answerStore, answers: [answerOf('good')] });

    expect(await ask(other)).toMatchObject({ cache: 'MISS', status: 200 });
  });

  it('is left out where the settings keep nothing there', async () => {
    const gateway = await given({ settings: { GATEHOUSE_CACHE_STORE_BYTES: '0' } });

    expect(caches([await ask(gateway), await ask(gateway)])).toEqual(['MISS', 'HIT']);
    expect([gateway.answerStore.lookups, gateway.answerStore.kept.size]).toEqual([0, 0]);
  });
});

describe('a hundred equal requests at once', () => {
  it('make one call, and all get its response', async () => {
    const gateway = await given();

    const heard = await Promise.all(Array.from({ length: 100 }, () => ask(gateway)));

    expect(gateway.calls).toHaveLength(1);
    expect(new Set(heard.map(({ text }) => text)).size).toBe(1);
    expect(caches(heard).filter((status) => status === 'HIT')).toHaveLength(99);
  });

  it('go on by themselves when the first of them gets nothing to keep', async () => {
    const gateway = await given({ answers: [{ status: 500, chunks: ['{}'] }, answerOf('good')] });

    const heard = await Promise.all(Array.from({ length: 20 }, () => ask(gateway)));

    expect(heard.filter(({ status }) => status === 500)).toHaveLength(1);
    expect(heard.filter(({ status }) => status === 200)).toHaveLength(19);
    expect((await ask(gateway)).cache).toBe('HIT');
  });

  it('do not fail with the first of them, which leaves', async () => {
    const gateway = await given({ answers: [{ isEndless: true, chunks: ['{'] }, answerOf('good')] });
    const leaving = new AbortController();
    const headers = { 'x-gateway-config': JSON.stringify(SIMPLE) };
    const first = gateway
      .request('/v1/chat/completions', {
        method: 'POST',
        body: JSON.stringify(ASK),
        headers: { 'content-type': 'application/json', 'x-gateway-virtual-key': 'openai-prod', ...headers },
        signal: leaving.signal,
      })
      .then((answer) => answer.text())
      .catch(() => 'left');
    await expect.poll(() => gateway.calls).toHaveLength(1);
    const others = Promise.all([ask(gateway), ask(gateway), ask(gateway)]);
    await expect.poll(() => gateway.opened).toHaveLength(4);

    leaving.abort();

    expect(await first).toBe('left');
    expect((await others).map(({ status }) => status)).toEqual([200, 200, 200]);
  });
});

describe('a target that nothing came of', () => {
  it.each<[string, GatewayWishes]>([
    [
      'its limits refused it',
      { limits: [aLimit({ amount: 0 })], answers: [{ ...STREAMED, isEndless: true }] },
    ],
    [
      'it broke off before its first token',
      {
        answers: [
          { ...STREAMED, chunks: ['data: {"error":{"message":"busy"}}\n\n'], isEndless: true },
          { ...STREAMED, isEndless: true },
        ],
      },
    ],
  ])('blocks no equal request while another target responds (%s)', async (_, wishes) => {
    const gateway = await given({ ...wishes, virtualKeys: { second: 'groq' } });
    const targets = ['openai-prod', 'second'].map((virtual_key) => ({ virtual_key }));
    const begin = (config: object) =>
      gateway.chat(STREAM, { 'x-gateway-config': JSON.stringify({ ...SIMPLE, ...config }) });
    const running = await begin({ strategy: { mode: 'fallback' }, targets });
    expect(running.headers.get('x-gateway-last-used-option-index')).toBe('config.targets[1]');
    const before = performance.now();

    const alone = await begin({ virtual_key: 'openai-prod' });

    expect(performance.now() - before).toBeLessThan(4_000);
    await Promise.all([running.body?.cancel(), alone.body?.cancel()]);
  });
});

describe('limits', () => {
  it('count a hit as a request, and charge no budget for it', async () => {
    const budget = aBudget(1_000_000_000);
    const rate = aLimit({ amount: 2 });
    const caller = aCaller({ limits: { limits: [budget, rate], policies: [] } });
    const gateway = await given({ caller });
    const body = { ...ASK, max_tokens: 5 };

    await ask(gateway, SIMPLE, { body });
    await expect.poll(() => gateway.logs).toHaveLength(1);
    const spent = gateway.limits.leased.get(budget.id);
    expect(await ask(gateway, SIMPLE, { body })).toMatchObject({ cache: 'HIT', status: 200 });
    expect((await ask(gateway, SIMPLE, { body })).status).toBe(429);

    expect(gateway.limits.leased.get(budget.id)).toBe(spent);
  });
});

describe('a fallback', () => {
  it('serves what its last target once returned, and names its origin', async () => {
    const gateway = await given({
      answers: [
        { status: 503, chunks: ['{}'] },
        { status: 503, chunks: ['{}'] },
        answerOf('third'),
        { status: 503 },
      ],
      virtualKeys: { second: 'groq', third: 'mistral-ai' },
    });
    const targets = ['openai-prod', 'second', 'third'].map((virtual_key) => ({ virtual_key }));
    const config = { ...SIMPLE, strategy: { mode: 'fallback' }, targets };
    const first = await ask(gateway, config);
    const second = await ask(gateway, config);

    expect(first.text).toContain('third');
    expect(second).toMatchObject({ cache: 'HIT', text: first.text, status: 200 });
    const record = await lastRecord(gateway, 2);
    expect(record).toMatchObject({ option_path: 'config.targets[2]', cost_nano_usd: 0, cache_status: 'HIT' });
  });
});
