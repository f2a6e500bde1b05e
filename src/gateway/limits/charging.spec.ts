import { afterEach, describe, expect, it } from 'vitest';
import {
  aCaller,
  aGateway,
  type GatewayWishes,
  type ScriptedAnswer,
  type TestGateway,
} from '../../../test/support/gateway.js';
import { aBudget, aLimit } from '../../../test/support/limits.js';
import { errorCodeIn } from '../../../test/support/refusals.js';
import { aSilence } from '../../../test/support/sounds.js';
import type { Price, UnitPrices } from '../../providers/prices/price.js';

const TOKENS: Price = {
  input: 1_000_000_000,
  output: 2_000_000_000,
  cachedInput: null,
  cacheWrite: null,
  audioInput: null,
  audioOutput: null,
};
const byUnit = (units: UnitPrices): Price => ({ ...TOKENS, input: 0, output: 0, units, isByUnitOnly: true });
const JSON_TYPE = { 'content-type': 'application/json' };
const json = (answer: object): ScriptedAnswer => ({ headers: JSON_TYPE, chunks: [JSON.stringify(answer)] });
const sound: ScriptedAnswer = { headers: { 'content-type': 'audio/mpeg' }, chunks: ['sound'] };
const text: ScriptedAnswer = {
  headers: { 'content-type': 'text/plain' },
  chunks: ['1\n00:00 --> 00:02\nHi'],
};

let gateway: TestGateway;
const given = async (wishes: GatewayWishes): Promise<TestGateway> =>
  (gateway = await aGateway({ virtualKeys: { docs: 'mistral-ai', gemini: 'google' }, ...wishes }));
const under = (amount: number, wishes: GatewayWishes): Promise<TestGateway> =>
  given({ caller: aCaller({ limits: { limits: [aBudget(amount)], policies: [] } }), ...wishes });
afterEach(() => gateway.close());

type FormFields = Readonly<Record<string, string | File>>;
function form(fields: FormFields): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.append(name, value);
  return data;
}
interface ChargedTestRequest {
  readonly path: string;
  readonly body: object | FormData;
  readonly slug?: string;
}
const ask = (
  { path, body, slug = 'openai-prod' }: ChargedTestRequest,
  headers: object = {},
): Promise<Response> =>
  gateway.request(path, {
    method: 'POST',
    headers: {
      ...(body instanceof FormData ? {} : JSON_TYPE),
      'x-gateway-virtual-key': slug,
      ...headers,
    },
    body: body instanceof FormData ? body : JSON.stringify(body),
  });
const codeOf = async (answer: Response): Promise<unknown> => errorCodeIn(await answer.json());

interface ChargedCase extends ChargedTestRequest {
  readonly title: string;
  readonly price: Price;
  readonly answer: ScriptedAnswer;
  /** Nano-dollars of one request. */
  readonly cost: number;
  readonly usage: object;
}

const SOURCE = new File(['picture'], 'a.png', { type: 'image/png' });
const SPOKEN = { model: 'tts-1', input: 'Hello 🌍!', voice: 'alloy' };
const HEARD = { file: aSilence(2), model: 'whisper-1' };
const IMAGES = byUnit({
  images: [
    { size: '512x512', quality: null, amount: 18_000_000 },
    { size: '1024x1024', quality: null, amount: 20_000_000 },
  ],
});

const ROWS: readonly ChargedCase[] = [
  {
    title: 'speech by its characters, emoji counted once',
    path: '/v1/audio/speech',
    body: SPOKEN,
    price: byUnit({ millionInputCharacters: 15_000_000_000 }),
    answer: sound,
    cost: 8 * 15_000,
    usage: { input_characters: 8 },
  },
  ...['/v1/audio/transcriptions', '/v1/audio/translations'].flatMap((path) =>
    ['text', 'srt', 'vtt', 'json'].map((format): ChargedCase => ({
      title: `${path} as ${format} by the length of its file, which stands before the model`,
      path,
      body: form({ ...HEARD, response_format: format }),
      price: byUnit({ audioInputHour: 360_000_000 }),
      answer: format === 'json' ? json({ text: 'Hi' }) : text,
      cost: 2 * 100_000,
      usage: { audio_input_ms: 2_000 },
    })),
  ),
  {
    title: 'generated images by their number, size and quality',
    path: '/v1/images/generations',
    body: { model: 'dall-e-2', prompt: 'tides', n: 3, size: '512x512' },
    price: IMAGES,
    answer: json({ created: 1, data: [{}, {}, {}] }),
    cost: 3 * 18_000_000,
    usage: { image_count: 3, image_size: '512x512' },
  },
  ...['/v1/images/edits', '/v1/images/variations'].map((path): ChargedCase => ({
    title: `${path} by their number`,
    path,
    body: form({ image: SOURCE, model: 'dall-e-2', n: '2', size: '512x512' }),
    price: IMAGES,
    answer: json({ created: 1, data: [{}, {}] }),
    cost: 2 * 18_000_000,
    usage: { image_count: 2, image_size: '512x512' },
  })),
  {
    title: 'an edit in JSON as one in a form',
    path: '/v1/images/edits',
    body: { images: [{ image_url: 'data:,' }], model: 'dall-e-2', n: 2, size: '512x512' },
    price: IMAGES,
    answer: json({ created: 1, data: [{}, {}] }),
    cost: 2 * 18_000_000,
    usage: { image_count: 2 },
  },
  {
    title: 'images by the token, without usage, at their reservation',
    path: '/v1/images/generations',
    body: { model: 'gpt-image-1', prompt: 'tides' },
    price: TOKENS,
    answer: json({ created: 1, data: [{}] }),
    cost: JSON.stringify({ model: 'gpt-image-1', prompt: 'tides' }).length * 1_000 + 6_240 * 2_000,
    usage: { output_tokens: 6_240 },
  },
  {
    title: 'a response in the background, whose answer has no usage yet, at its reservation',
    path: '/v1/responses',
    body: { model: 'gpt-5', background: true, max_output_tokens: 100, input: 'Hi' },
    price: TOKENS,
    answer: json({ id: 'resp_1', status: 'queued', usage: null, output: [] }),
    cost:
      200_000 +
      JSON.stringify({ model: 'gpt-5', background: true, max_output_tokens: 100, input: 'Hi' }).length *
        1_000,
    usage: { output_tokens: 100 },
  },
  {
    title: 'an embedding of tokens, without usage, at its reservation',
    path: '/v1/embeddings',
    body: { model: 'text-embedding-3-small', input: [1, 2, 3] },
    price: TOKENS,
    answer: json({ data: [] }),
    cost: JSON.stringify({ model: 'text-embedding-3-small', input: [1, 2, 3] }).length * 1_000,
    usage: { output_tokens: 0 },
  },
  {
    title: 'a search by the unit',
    path: '/v1/rerank',
    body: { model: 'rerank', query: 'tides', documents: ['a', 'b'] },
    price: byUnit({ thousandSearchUnits: 2_000_000_000 }),
    answer: json({ results: [] }),
    cost: 2_000_000,
    usage: { search_units: 1 },
  },
  {
    title: 'a search that its price does not name, at what was reserved',
    path: '/v1/responses',
    body: { model: 'gpt-5', max_output_tokens: 100, input: 'Hi' },
    price: TOKENS,
    answer: json({
      usage: { input_tokens: 3, output_tokens: 5 },
      output: [{ type: 'web_search_call', action: { type: 'search' } }],
    }),
    cost: 200_000 + JSON.stringify({ model: 'gpt-5', max_output_tokens: 100, input: 'Hi' }).length * 1_000,
    usage: { web_searches: 1 },
  },
];

describe('a budget in dollars is charged for', () => {
  it.each(ROWS)('$title', async (row) => {
    const slug = row.path === '/v1/rerank' ? 'docs' : (row.slug ?? 'openai-prod');
    await under(3 * row.cost, { price: row.price, answers: [row.answer], virtualKeys: { docs: 'voyage' } });

    const statuses: number[] = [];
    for (let turn = 0; turn < 5; turn++) {
      const answer = await ask({ ...row, slug });
      await answer.arrayBuffer();
      statuses.push(answer.status);
    }

    expect(statuses).toEqual([200, 200, 200, 402, 402]);
    expect(gateway.logs.slice(0, 3).map(({ record }) => record.cost_nano_usd)).toEqual(
      Array(3).fill(row.cost),
    );
    expect(gateway.logs[0]?.record.usage).toMatchObject(row.usage);
  });

  it.each([
    ['/v1beta/models/text-embedding-004:embedContent', { content: { parts: [{ text: 'tides' }] } }, 'gemini'],
    [
      '/v1beta/models/e:batchEmbedContents',
      { requests: [{ content: { parts: [{ text: 'tides' }] } }] },
      'gemini',
    ],
    ['/v1/embeddings', { model: 'e', input: 'tides' }, 'openai-prod'],
    ['/v1/moderations', { model: 'mistral-moderation', input: 'tides' }, 'docs'],
  ])('the counted text of %s, whose response reports no usage', async (path, body, slug) => {
    await under(1e12, { price: TOKENS, answers: [json({ data: [] })] });

    expect((await ask({ path: path.startsWith('/v1/') ? path : `/v1${path}`, body, slug })).status).toBe(200);

    expect(gateway.logs[0]?.record.countable).toEqual({ input: 'tides', output: '' });
    expect(gateway.logs[0]?.record.attempts[0]?.charges?.[0]?.leased).toBeGreaterThan(0);
  });
});

describe('without a budget', () => {
  it('what the request shows exactly is on record with its cost, marked as counted', async () => {
    await given({ price: byUnit({ millionInputCharacters: 15_000_000_000 }), answers: [sound] });

    await (await ask({ path: '/v1/audio/speech', body: SPOKEN })).arrayBuffer();

    expect(gateway.logs[0]?.record).toMatchObject({
      usage: { input_characters: 8 },
      usage_source: 'counted',
      cost_nano_usd: 120_000,
    });
  });

  it('a background response is charged what a limit would have reserved', async () => {
    await given({ price: TOKENS, answers: [json({ id: 'resp_1', status: 'queued', usage: null })] });
    const body = { model: 'gpt-5', background: true, input: 'Hi', max_output_tokens: 100 };

    await ask({ path: '/v1/responses', body });

    const input_tokens = JSON.stringify(body).length;
    expect(gateway.logs[0]?.record).toMatchObject({
      usage: { input_tokens, output_tokens: 100 },
      usage_source: 'counted',
      cost_nano_usd: input_tokens * 1_000 + 100 * 2_000,
    });
  });

  it.each([
    ['a compaction', '/v1/responses/compact', 'openai-prod', { output: [{ encrypted_content: 'x' }] }],
    [
      'a compaction that reports zero beside its output, and so',
      '/v1/responses/compact',
      'openai-prod',
      { output: [{ encrypted_content: 'x' }], usage: { input_tokens: 0, output_tokens: 0, total_tokens: 0 } },
    ],
    [
      'a compaction that reports no output beside its output, and so',
      '/v1/responses/compact',
      'openai-prod',
      { output: [{ encrypted_content: 'x' }], usage: { input_tokens: 9, output_tokens: 0, total_tokens: 9 } },
    ],
    ['a background interaction', '/v1beta/interactions', 'gemini', { status: 'in_progress' }],
  ])('%s without usage is charged what a limit would have reserved', async (_, path, slug, answer) => {
    await given({ price: TOKENS, answers: [json(answer)] });
    const body = { model: 'a-model', background: true, input: 'Hi' };

    await ask({ path, body, slug });

    expect(gateway.logs[0]?.record).toMatchObject({
      usage: { input_tokens: JSON.stringify(body).length },
      usage_source: 'counted',
      cost_nano_usd: expect.any(Number),
    });
  });

  it.each([
    [
      '/v1/responses/compact',
      'openai-prod',
      'compaction',
      { object: 'response.compaction', usage: { input_tokens: 100, output_tokens: 10, total_tokens: 110 } },
    ],
    [
      '/v1beta/interactions',
      'gemini',
      'interactions',
      { usage: { total_input_tokens: 100, total_output_tokens: 6, total_thought_tokens: 4 } },
    ],
  ])('%s is metered and priced by its response, under a limit too', async (path, slug, endpoint, answer) => {
    await under(1e12, { price: TOKENS, answers: [json(answer)] });

    expect((await ask({ path, slug, body: { model: 'a-model', input: 'Hi' } })).status).toBe(200);

    expect(gateway.logs[0]?.record).toMatchObject({
      endpoint,
      model: 'a-model',
      usage: { input_tokens: 100, output_tokens: 10 },
      usage_source: 'provider',
      cost_nano_usd: 100 * 1_000 + 10 * 2_000,
    });
  });

  it('a streamed interaction is metered by its last event', async () => {
    const events = [
      { event_type: 'interaction.created', interaction: { id: 'one', status: 'in_progress' } },
      { event_type: 'step.delta', index: 0, delta: { type: 'text', text: 'Hi' } },
      { event_type: 'step.stop', index: 0, usage: { total_input_tokens: 1, total_output_tokens: 1 } },
      {
        event_type: 'interaction.completed',
        interaction: { usage: { total_input_tokens: 100, total_output_tokens: 10 } },
      },
    ].map((event) => `event: ${event.event_type}\ndata: ${JSON.stringify(event)}\n\n`);
    const answer = {
      headers: { 'content-type': 'text/event-stream' },
      chunks: [...events, 'event: done\ndata: [DONE]\n\n'],
    };
    await under(1e12, { price: TOKENS, answers: [answer] });

    const body = { model: 'a-model', input: 'Hi', stream: true };
    const delivered = await (await ask({ path: '/v1beta/interactions', slug: 'gemini', body })).text();

    expect(delivered).toBe(answer.chunks.join(''));
    expect(gateway.logs[0]?.record).toMatchObject({
      endpoint: 'interactions',
      ending: 'completed',
      usage: { input_tokens: 100, output_tokens: 10 },
      cost_nano_usd: 100 * 1_000 + 10 * 2_000,
    });
  });

  it('an interaction with an agent is refused under a limit, which says why, and passes without', async () => {
    const asked = {
      ...{ path: '/v1beta/interactions', slug: 'gemini' },
      body: { agent: 'deep-research', background: true, input: 'Hi' },
    };
    await under(1e12, { price: TOKENS });
    const refusal: unknown = await (await ask(asked)).json();
    expect(errorCodeIn(refusal)).toBe('usage_unknown');
    expect(JSON.stringify(refusal)).toContain('POST /v1/interactions with an agent uses');
    expect(gateway.calls).toEqual([]);
    await gateway.close();

    await given({});
    expect((await ask(asked)).status).toBe(200);
  });

  it('what the gateway cannot measure stays unknown', async () => {
    await given({ price: TOKENS, answers: [json({ id: 'batch_1' })] });

    await ask({ path: '/v1/batches', body: { model: 'gpt-5' } });

    expect(gateway.logs[0]?.record).toMatchObject({ usage: null, usage_source: 'none', cost_nano_usd: null });
  });
});

const UNMEASURED = [
  ...['/batches', '/messages/batches', '/fine_tuning/jobs', '/threads/thread_1/runs', '/threads/runs'],
  ...['/vector_stores/vs_1/search', '/vector_stores', '/containers', '/videos'],
  ...['/v1beta/cachedContents', '/realtime/client_secrets', '/realtime/calls', '/a/path/of/tomorrow'],
  ...['/v1/chat', '/chat/completions/', '/chat%2Fcompletions'],
];
const FREE = [
  ...['/files', '/batches/batch_1/cancel', '/conversations', '/threads', '/assistants', '/uploads'],
  '/v1beta/interactions/one/cancel',
  ...['/responses/resp_1/cancel', '/responses/input_tokens', '/fine_tuning/jobs/job_1/cancel'],
];

describe('a request that the gateway cannot measure', () => {
  it.each(UNMEASURED)(
    'POST %s is refused under a limit in dollars or tokens, and passes without',
    async (path) => {
      const asked = { path: `/v1${path}`, body: { model: 'a-model' } };
      for (const limit of [
        aBudget(1e12),
        aBudget(1e12, { type: 'tokens' }),
        aLimit({ measure: 'tokens', amount: 1e9 }),
      ]) {
        await given({ caller: aCaller({ limits: { limits: [limit], policies: [] } }), price: TOKENS });
        const answer = await ask(asked);
        expect([answer.status, await codeOf(answer)]).toEqual([402, 'usage_unknown']);
        expect(gateway.calls).toEqual([]);
        await gateway.close();
      }
      await given({ caller: aCaller({ limits: { limits: [aLimit()], policies: [] } }) });
      expect((await ask(asked)).status).toBe(200);
    },
  );

  it.each(['PUT', 'PATCH'])('%s to an endpoint that is charged is refused', async (method) => {
    await under(1e12, { price: TOKENS });
    const headers = { ...JSON_TYPE, 'x-gateway-virtual-key': 'openai-prod' };

    const answer = await gateway.request('/v1/chat/completions', { method, headers, body: '{"model":"m"}' });

    expect(await codeOf(answer)).toBe('usage_unknown');
  });

  it('says which request it is, whose limit needs it, and what to do', async () => {
    await under(1e12, { price: TOKENS });

    expect(await (await ask({ path: '/v1/batches', body: {} })).json()).toMatchObject({
      error: {
        message:
          'The gateway cannot measure what POST /v1/batches uses, which the budget of this API key requires. Use a credential without dollar or token limits.',
      },
    });
  });

  it('is refused where the organization allows some models only, because it hides its model', async () => {
    const policy = { providers: null, models: new Set(['a-model']), keepsBodies: true, needsLog: false };
    await given({ caller: aCaller({ policy }) });

    expect(await codeOf(await ask({ path: '/v1/a/path/of/tomorrow', body: {} }))).toBe('model_not_allowed');
    expect(gateway.calls).toEqual([]);
  });

  it('is refused where audio is at an address, since its length is unknown', async () => {
    await under(1e12, { price: TOKENS });

    const body = form({ url: 'https://example.com/a.mp3', model: 'whisper-1' });

    expect(await codeOf(await ask({ path: '/v1/audio/transcriptions', body }))).toBe('usage_unknown');
  });
});

describe('a request that providers do not bill', () => {
  it.each(FREE)('POST %s passes under a budget that is spent', async (path) => {
    await under(0, { price: TOKENS });

    expect((await ask({ path: `/v1${path}`, body: {} })).status).toBe(200);
  });

  it.each(['GET', 'DELETE'])('%s of whatever path passes under a budget that is spent', async (method) => {
    await under(0, { price: TOKENS });
    const headers = { 'x-gateway-virtual-key': 'openai-prod' };

    expect((await gateway.request('/v1/batches/batch_1', { method, headers })).status).toBe(200);
  });
});
