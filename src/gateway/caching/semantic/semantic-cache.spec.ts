import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  aCaller,
  aGateway,
  type GatewayWishes,
  type ScriptedAnswer,
  type TestGateway,
} from '../../../../test/support/gateway.js';
import { aBudget } from '../../../../test/support/limits.js';
import { MemoryAnswerStore } from '../../../../test/support/memory-answer-store.js';
import { MemoryVectorStore } from '../../../../test/support/memory-vector-store.js';

const EMBEDDING = { virtual_key: 'vectors', model: 'embed' };
const SEMANTIC = { cache: { mode: 'semantic', embedding: EMBEDDING } };

/** Texts and their directions. The second has a similarity of 0.98 to the first, the third of 0.9. */
const DIRECTIONS: Readonly<Record<string, readonly number[]>> = {
  'What is the capital of France?': [1, 0, 0],
  'France has which capital?': [0.98, 0.199, 0],
  'What is the largest town of France?': [0.9, 0.436, 0],
  'How do I bake bread?': [0, 0, 1],
};
const [FIRST, ALIKE, NEAR, OTHER] = Object.keys(DIRECTIONS) as [string, string, string, string];

const EMBEDDED_TOKENS = 8;
const EMBEDDING_COST = EMBEDDED_TOKENS * 15;
const vectorAnswer = (embedding: readonly number[] = [1, 1, 1]): ScriptedAnswer => ({
  chunks: [
    JSON.stringify({
      object: 'list',
      model: 'embed',
      data: [{ object: 'embedding', index: 0, embedding }],
      usage: { prompt_tokens: EMBEDDED_TOKENS, total_tokens: EMBEDDED_TOKENS },
    }),
  ],
});
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
const ANSWERS = ['one', 'two', 'three', 'four', 'five'].map(answerOf);

const open: TestGateway[] = [];
async function given(wishes: GatewayWishes = {}): Promise<TestGateway> {
  const gateway = await aGateway({
    answers: ANSWERS,
    embed: (text) => vectorAnswer(DIRECTIONS[text]),
    virtualKeys: { vectors: 'openai' },
    prices: { embed: 0.1 },
    ...wishes,
  });
  open.push(gateway);
  return gateway;
}
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(open.splice(0).map((gateway) => gateway.close()));
});

interface SemanticTestResponse {
  readonly text: string;
  readonly cache: string | null;
  readonly status: number;
}
async function ask(
  gateway: TestGateway,
  content: unknown,
  {
    config = SEMANTIC,
    body = {},
    headers = {},
  }: { config?: object | null; body?: object; headers?: Record<string, string> } = {},
): Promise<SemanticTestResponse> {
  const answer = await gateway.chat(
    { model: 'gpt-4o-mini', messages: [{ role: 'user', content }], ...body },
    { ...(config ? { 'x-gateway-config': JSON.stringify(config) } : {}), ...headers },
  );
  const { status } = answer;
  return { text: await answer.text(), cache: answer.headers.get('x-gateway-cache-status'), status };
}
const recordOf = async (gateway: TestGateway, at: number) => {
  await expect.poll(() => gateway.logs.length).toBeGreaterThan(at);
  return gateway.logs[at]?.record;
};

describe('a question that means the same', () => {
  it('gets the response; its record has the embedding cost, the score and the savings', async () => {
    const gateway = await given();

    const [first, second] = [await ask(gateway, FIRST), await ask(gateway, ALIKE)];

    expect([first.cache, second.cache]).toEqual(['SEMANTIC MISS', 'SEMANTIC HIT']);
    expect(second.text).toBe(first.text);
    expect(gateway.calls).toHaveLength(1);
    const embedded = {
      option_path: 'config.cache.embedding',
      cost_nano_usd: EMBEDDING_COST,
      isSideCall: true,
    };
    expect(await recordOf(gateway, 0)).toMatchObject({
      cache_status: 'SEMANTIC MISS',
      cache_score: null,
      cost_nano_usd: COST + EMBEDDING_COST,
      saved_nano_usd: null,
      usage: { input_tokens: 10, output_tokens: 5 },
      attempts: [embedded, { option_path: 'config', cost_nano_usd: COST }],
    });
    const hit = await recordOf(gateway, 1);
    expect(hit).toMatchObject({
      cache_status: 'SEMANTIC HIT',
      cost_nano_usd: EMBEDDING_COST,
      saved_nano_usd: COST,
      usage: { input_tokens: 10, output_tokens: 5 },
      countable: null,
      attempts: [{ ...embedded, usage: { input_tokens: EMBEDDED_TOKENS, output_tokens: 0 } }],
    });
    expect(hit?.cache_score).toBeCloseTo(0.98, 2);
  });

  it('is computed only when no exact match exists', async () => {
    const gateway = await given();
    await ask(gateway, FIRST);

    expect((await ask(gateway, FIRST)).cache).toBe('HIT');
    expect(gateway.embeddings).toHaveLength(1);
    expect((await recordOf(gateway, 1))?.attempts).toEqual([]);
  });

  it('is none below the threshold, and the record says how near it was', async () => {
    const gateway = await given();
    const loose = { cache: { ...SEMANTIC.cache, threshold: 0.85 } };
    await ask(gateway, FIRST);

    expect((await ask(gateway, OTHER)).cache).toBe('SEMANTIC MISS');
    expect((await recordOf(gateway, 1))?.cache_score).toBeCloseTo(0, 2);
    expect((await ask(gateway, NEAR, { headers: { 'x-gateway-cache-force-refresh': 'true' } })).cache).toBe(
      'REFRESH',
    );
    expect((await ask(gateway, ALIKE, { config: loose })).cache).toBe('SEMANTIC HIT');
    expect(gateway.calls).toHaveLength(3);
  });

  it('gets a stream if it requests one, in the original pieces, and other requests do not', async () => {
    const pieces = ['data: {"choices":[{"delta":{"content":"o"}}]}\n\n', 'data: [DONE]\n\n'];
    const gateway = await given({
      answers: [{ headers: { 'content-type': 'text/event-stream' }, chunks: pieces }, answerOf('plain')],
    });
    const body = { stream: true };

    const first = await ask(gateway, FIRST, { body });
    const second = await ask(gateway, ALIKE, { body });
    const plain = await ask(gateway, ALIKE);

    expect([first.cache, second.cache, plain.cache]).toEqual([
      'SEMANTIC MISS',
      'SEMANTIC HIT',
      'SEMANTIC MISS',
    ]);
    expect(second.text).toBe(pieces.join(''));
  });

  it.each<[string, { body?: object; headers?: Record<string, string>; config?: object }]>([
    ['another model', { body: { model: 'gpt-4o-mini-2' } }],
    [
      'another system prompt',
      {
        body: {
          messages: [
            { role: 'system', content: 'x' },
            { role: 'user', content: ALIKE },
          ],
        },
      },
    ],
    ['other tools', { body: { tools: [{ type: 'function', function: { name: 'f' } }] } }],
    ['another parameter', { body: { temperature: 0.5 } }],
    ['another namespace', { headers: { 'x-gateway-cache-namespace': 'n' } }],
    ['other metadata', { headers: { 'x-gateway-metadata': '{"_user":"bob"}' } }],
    ['a header that a provider may read', { headers: { 'openai-beta': 'x' } }],
    [
      'another embedding model',
      { config: { cache: { ...SEMANTIC.cache, embedding: { ...EMBEDDING, model: 'embed-2' } } } },
    ],
  ])('gets nothing from a request with %s', async (_, wishes) => {
    const gateway = await given({ prices: { embed: 0.1, 'embed-2': 0.1 } });
    await ask(gateway, FIRST);

    expect((await ask(gateway, ALIKE, wishes)).cache).toBe('SEMANTIC MISS');
    expect(gateway.calls).toHaveLength(2);
  });

  it('gets nothing where numbers differ, however like the texts are', async () => {
    const gateway = await given({ embed: () => vectorAnswer([1, 0, 0]) });

    await ask(gateway, 'Where is order 4711?');

    expect((await ask(gateway, 'Where is order 4712?')).cache).toBe('SEMANTIC MISS');
    expect((await ask(gateway, 'Please tell me where order 4711 is.')).cache).toBe('SEMANTIC HIT');
  });

  it('gets nothing from another workspace or organization, and finds what another process of its own kept', async () => {
    const [answerStore, vectorStore] = [new MemoryAnswerStore(), new MemoryVectorStore()];
    const stores = { answerStore, vectorStore };
    await ask(await given(stores), FIRST);
    await expect.poll(() => [answerStore.kept.size, vectorStore.rooms.size]).toEqual([1, 1]);
    const others = [
      aCaller({ workspaceId: '00000000-0000-7000-8000-0000000000aa' }),
      aCaller({ organizationId: '00000000-0000-7000-8000-0000000000bb' }),
    ];

    for (const caller of others)
      expect((await ask(await given({ ...stores, caller }), ALIKE)).cache).toBe('SEMANTIC MISS');
    const same = await given(stores);
    expect((await ask(same, ALIKE)).cache).toBe('SEMANTIC HIT');
    expect(same.calls).toHaveLength(0);
  });

  it('gets no response that is too old for either of the two, or gone', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() });
    const gateway = await given({ settings: { GATEHOUSE_CACHE_MEMORY_BYTES: '0' } });
    const lasting = (max_age: number) => ({ config: { cache: { ...SEMANTIC.cache, max_age } } });
    await ask(gateway, FIRST, lasting(60));
    await expect.poll(() => gateway.answerStore.kept.size).toBe(1);
    vi.setSystemTime(Date.now() + 30_000);

    expect((await ask(gateway, ALIKE, lasting(60))).cache).toBe('SEMANTIC HIT');
    expect((await ask(gateway, ALIKE, lasting(20))).cache).toBe('SEMANTIC MISS');
    await expect.poll(() => gateway.answerStore.kept.size).toBe(2);
    gateway.answerStore.kept.clear();
    expect((await ask(gateway, FIRST, lasting(60))).cache).toBe('SEMANTIC MISS');
  });

  it('is one of many simultaneous ones: the provider and the embedding are called once', async () => {
    const gateway = await given();

    const heard = await Promise.all(Array.from({ length: 20 }, () => ask(gateway, FIRST)));

    expect([gateway.calls.length, gateway.embeddings.length]).toEqual([1, 1]);
    expect(heard.filter(({ cache }) => cache === 'HIT')).toHaveLength(19);
  });

  it('never lets a similar match replace an exact one', async () => {
    // The second vector arrives with the third request: the wait for it is limited.
    const gateway: TestGateway = await given({
      embed: (text) => ({
        ...vectorAnswer(DIRECTIONS[text]),
        until: () => gateway.embeddings.length < 2 || gateway.opened.length === 3,
      }),
    });
    await ask(gateway, FIRST);
    const alike = ask(gateway, ALIKE);
    await expect.poll(() => gateway.embeddings, { interval: 1 }).toHaveLength(2);
    const exact = ask(gateway, ALIKE, { config: { cache: { mode: 'simple' } } });

    expect((await alike).cache).toBe('SEMANTIC HIT');
    expect((await exact).cache).toBe('MISS');
    expect(gateway.calls).toHaveLength(2);
  });

  it('is judged by the output guardrails of the new request', async () => {
    const gateway = await given();
    await ask(gateway, FIRST);
    const denying = {
      ...SEMANTIC,
      output_guardrails: [{ 'default.contains': { operator: 'none', words: ['one'] }, deny: true }],
    };

    expect(await ask(gateway, ALIKE, { config: denying })).toMatchObject({
      status: 446,
      cache: 'SEMANTIC HIT',
    });
  });
});

describe('the embedding', () => {
  it('is called with the stored key alone: only the text of the client is sent', async () => {
    const gateway = await given();
    await ask(gateway, FIRST, {
      headers: { authorization: 'Bearer own', 'x-custom': 'private', cookie: 'a=b' },
    });

    const [sent] = gateway.embeddings;
    expect(sent?.headers).toEqual([
      'content-type',
      'application/json',
      'accept-encoding',
      'identity',
      'authorization',
      'Bearer sk-vectors',
    ]);
    expect(JSON.parse((sent?.body as Buffer).toString())).toEqual({ model: 'embed', input: FIRST });
    expect([sent?.path, sent?.tenant, sent?.target.origin]).toEqual([
      '/v1/embeddings',
      aCaller().workspaceId,
      'https://api.openai.com',
    ]);
  });

  it('is called in the dialect of another provider', async () => {
    const gateway = await given({
      virtualKeys: { vectors: 'google' },
      answers: [{ chunks: ['{"embedding":{"values":[1,0]},"embeddings":[{"values":[1,0]}]}'] }, ...ANSWERS],
    });
    const embedding = { virtual_key: 'vectors', model: 'gemini-embedding-001' };

    const { cache } = await ask(gateway, FIRST, { config: { cache: { ...SEMANTIC.cache, embedding } } });

    expect(cache).toBe('SEMANTIC MISS');
    expect(gateway.calls[0]?.path).toMatch(/gemini-embedding-001:(batchEmbedContents|embedContent)/);
  });

  it('is computed once per text, whichever targets the request goes to', async () => {
    const gateway = await given({ answers: [{ status: 503, chunks: ['{}'] }, answerOf('two')] });
    const config = {
      ...SEMANTIC,
      strategy: { mode: 'fallback' },
      targets: [{ virtual_key: 'vectors' }, { virtual_key: 'openai-prod' }],
    };

    expect(await ask(gateway, FIRST, { config })).toMatchObject({ status: 200, cache: 'SEMANTIC MISS' });
    expect([gateway.calls.length, gateway.embeddings.length]).toEqual([2, 1]);
  });

  it.each<[string, ScriptedAnswer]>([
    ['refuses', { status: 429, chunks: ['{}'] }],
    ['breaks off', { status: 200, chunks: ['{"data":['], error: new Error('cut') }],
    ['cannot be reached', { error: new Error('down'), isUnsent: true }],
    ['answers without a vector', { chunks: ['{"data":[]}'] }],
    ['answers with no numbers', vectorAnswer([Number.NaN])],
  ])(
    'is skipped when the provider %s: the request continues, and the provider is not called again at once',
    async (_, failure) => {
      const gateway = await given({ embed: () => failure });

      const heard = [await ask(gateway, FIRST), await ask(gateway, OTHER), await ask(gateway, FIRST)];

      expect(heard.map(({ status, cache }) => [status, cache])).toEqual([
        [200, 'MISS'],
        [200, 'MISS'],
        [200, 'HIT'],
      ]);
      expect(gateway.embeddings).toHaveLength(1);
      expect((await recordOf(gateway, 0))?.decisions?.[0]).toMatch(/^config\.cache\.embedding: not compared/);
    },
  );

  it('without a known price leaves the cost of a hit unknown, and never zero', async () => {
    const gateway = await given({ prices: {} });
    await ask(gateway, FIRST);
    await ask(gateway, ALIKE);

    expect(await recordOf(gateway, 1)).toMatchObject({
      cache_status: 'SEMANTIC HIT',
      cost_nano_usd: null,
      saved_nano_usd: COST,
    });
  });

  it('may be billed although its response broke off: its input is counted', async () => {
    const gateway = await given({
      embed: () => ({ status: 200, chunks: ['{"data":['], error: new Error('cut') }),
    });

    await ask(gateway, FIRST);

    expect((await recordOf(gateway, 0))?.attempts).toMatchObject([
      { usage: null, isSideCall: true, countable: { model: 'embed', input: FIRST, output: '' } },
      { cost_nano_usd: COST },
    ]);
  });

  it('counts against budgets, is charged to them, and is skipped when they are exhausted', async () => {
    const budget = aBudget(100_000_000);
    const caller = aCaller({ limits: { limits: [budget], policies: [] } });
    const gateway = await given({ caller });
    await ask(gateway, FIRST);
    await ask(gateway, ALIKE);

    const charges = (await recordOf(gateway, 1))?.attempts[0]?.charges;
    expect(charges).toMatchObject([{ measure: 'cost', leased: EMBEDDING_COST }]);

    const poor = await given({ caller: aCaller({ limits: { limits: [aBudget(100)], policies: [] } }) });
    expect((await ask(poor, FIRST)).status).toBe(402);
    expect(poor.embeddings).toHaveLength(0);
  });

  it('is refused to what the organization or the virtual key does not allow', async () => {
    const policy = { providers: null, models: new Set(['gpt-4o-mini']), keepsBodies: true, needsLog: false };
    const gateway = await given({ caller: aCaller({ policy }) });

    expect(await ask(gateway, FIRST)).toMatchObject({ status: 200, cache: 'MISS' });
    expect(gateway.embeddings).toHaveLength(0);
    expect((await recordOf(gateway, 0))?.decisions).toEqual([
      'config.cache.embedding: not compared by meaning: model_not_allowed',
    ]);
  });
});

describe('cache options', () => {
  const cache = { mode: 'semantic', max_age: 60, threshold: 0.9, embedding: EMBEDDING } as const;

  it('may be set by the workspace, for requests without options', async () => {
    const gateway = await given({ caller: aCaller({ cache }) });

    const heard = [await ask(gateway, FIRST, { config: null }), await ask(gateway, ALIKE, { config: null })];

    expect(heard.map((each) => each.cache)).toEqual(['SEMANTIC MISS', 'SEMANTIC HIT']);
  });

  it('is taken from the request first, also when it disables the cache', async () => {
    const gateway = await given({ caller: aCaller({ cache }) });
    const off = { 'x-gateway-cache': 'off' };
    await ask(gateway, FIRST, { config: null });

    const heard = [
      await ask(gateway, FIRST, { config: { cache: { mode: 'off' } } }),
      await ask(gateway, FIRST, { config: null, headers: off }),
      await ask(gateway, ALIKE, { config: { cache: { mode: 'simple' } } }),
      await ask(gateway, ALIKE, { config: { cache: { mode: 'semantic', threshold: 0.999 } } }),
    ];

    expect(heard.map((each) => each.cache)).toEqual(['DISABLED', 'DISABLED', 'MISS', 'HIT']);
  });

  it('is completed by the workspace where a request or a config says only the mode', async () => {
    const gateway = await given({ caller: aCaller({ cache: { ...cache, mode: 'off' } }) });
    const headers = { 'x-portkey-cache': 'semantic' };

    const heard = [
      await ask(gateway, FIRST, { config: null, headers }),
      await ask(gateway, ALIKE, { config: null, headers }),
    ];

    expect(heard.map((each) => each.cache)).toEqual(['SEMANTIC MISS', 'SEMANTIC HIT']);
  });

  it('is refused without an embedding, and the response names the missing place', async () => {
    const gateway = await given();

    const refused = await ask(gateway, FIRST, { config: null, headers: { 'x-gateway-cache': 'semantic' } });

    expect(refused.status).toBe(400);
    expect(refused.text).toContain('config.cache.embedding is missing');
    expect([gateway.calls.length, gateway.embeddings.length]).toEqual([0, 0]);
  });
});
