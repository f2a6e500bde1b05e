import { afterEach, describe, expect, it } from 'vitest';
import { aCaller, aGateway, type ScriptedAnswer, type TestGateway } from '../../../test/support/gateway.js';
import { aBudget } from '../../../test/support/limits.js';
import { aSilence } from '../../../test/support/sounds.js';
import { GenaiPriceBook } from '../../adapters/prices/genai-price-book.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const json = (answer: object): ScriptedAnswer => ({ headers: JSON_TYPE, chunks: [JSON.stringify(answer)] });
const SOUND: ScriptedAnswer = { headers: { 'content-type': 'audio/mpeg' }, chunks: ['sound'] };
const PICTURES = json({
  created: 1,
  data: [{ url: 'https://example.com/a' }, { url: 'https://example.com/b' }],
});

interface ListPriceCase {
  readonly provider: string;
  readonly model: string;
  readonly path: string;
  readonly fields: object;
  readonly answer: ScriptedAnswer;
  /** Nano-dollars of one request, from the list price. */
  readonly cost: number;
}

const speech = (provider: string, model: string, cost: number, voice = 'thalia'): ListPriceCase => ({
  ...{ provider, model, cost, answer: SOUND },
  path: '/v1/audio/speech',
  fields: { input: 'Tides, twice a day 🌊', voice },
});
/** Nine seconds, which give whole nano-dollars at every price by the hour. */
const transcript = (provider: string, model: string, cost: number, answer: object): ListPriceCase => ({
  ...{ provider, model, cost, answer: json(answer) },
  path: '/v1/audio/transcriptions',
  fields: { file: aSilence(9) },
});
const rerank = (provider: string, model: string, cost: number, answer: object): ListPriceCase => ({
  ...{ provider, model, cost, answer: json(answer) },
  path: '/v1/rerank',
  fields: { query: 'tides', documents: ['ebb', 'flow'] },
});
const images = (provider: string, model: string, cost: number): ListPriceCase => ({
  ...{ provider, model, cost, answer: PICTURES },
  path: '/v1/images/generations',
  fields: { prompt: 'tides', n: 2 },
});

const HEARD_BY_DEEPGRAM = {
  metadata: { duration: 9 },
  results: { channels: [{ alternatives: [{ transcript: 'Hi', words: [] }] }] },
};
const FOUND = { results: [{ index: 0, relevance_score: 0.5 }] };

const ROWS: readonly ListPriceCase[] = [
  speech('elevenlabs', 'eleven_v3', 20 * 80_000),
  speech('elevenlabs', 'eleven_flash_v2_5', 20 * 40_000),
  speech('deepgram', 'aura-asteria-en', 20 * 15_000, 'asteria'),
  speech('deepgram', 'aura-2', 20 * 30_000),
  speech('deepgram', 'aura-2-thalia-en', 20 * 30_000),
  speech('groq', 'canopylabs/orpheus-v1-english', 20 * 22_000),
  speech('mistral-ai', 'voxtral-mini-tts-3', 20 * 13_000),
  transcript('elevenlabs', 'scribe_v2', 550_000, { text: 'Hi', words: [] }),
  transcript('deepgram', 'nova-3', 645_000, HEARD_BY_DEEPGRAM),
  transcript('deepgram', 'nova-2-meeting', 645_000, HEARD_BY_DEEPGRAM),
  transcript('deepgram', 'enhanced', 2_175_000, HEARD_BY_DEEPGRAM),
  transcript('mistral-ai', 'voxtral-mini-transcribe-3', 525_000, { text: 'Hi' }),
  transcript('workers-ai', '@cf/openai/whisper', 67_500, { result: { text: 'Hi' }, success: true }),
  images('recraft-ai', 'recraftv3', 2 * 40_000_000),
  images('recraft-ai', 'recraftv2', 2 * 22_000_000),
  rerank('cohere', 'rerank-v4.0-pro', 2_500_000, { ...FOUND, meta: { billed_units: { search_units: 1 } } }),
  rerank('cohere', 'rerank-v4.0-fast', 2_000_000, { ...FOUND, meta: { billed_units: { search_units: 1 } } }),
];

const FIELDS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'workers-ai': { 'workers-ai-account-id': '0123456789abcdef0123456789abcdef' },
};

let gateway: TestGateway;
afterEach(() => gateway.close());

async function under(amount: number, { provider, model, answer }: ListPriceCase): Promise<void> {
  gateway = await aGateway({
    caller: aCaller({ limits: { limits: [aBudget(amount)], policies: [] } }),
    virtualKeys: { provider: { providerId: provider, customHost: null, fields: FIELDS[provider] ?? {} } },
    price: new GenaiPriceBook().find(provider, model),
    answers: [answer],
  });
}

function ask({ path, model, fields }: ListPriceCase): Promise<Response> {
  const values = Object.entries<unknown>({ model, ...fields });
  const isForm = values.some(([, value]) => value instanceof File);
  const form = new FormData();
  for (const [name, value] of values) form.append(name, value);
  return gateway.request(path, {
    method: 'POST',
    headers: { ...(isForm ? {} : JSON_TYPE), 'x-gateway-virtual-key': 'provider' },
    body: isForm ? form : JSON.stringify({ model, ...fields }),
  });
}

describe('a dollar budget holds at the list price of', () => {
  it.each(ROWS)('$provider $model', async (row) => {
    await under(3 * row.cost, row);

    const statuses: number[] = [];
    for (let turn = 0; turn < 5; turn++) {
      const answer = await ask(row);
      await answer.arrayBuffer();
      statuses.push(answer.status);
    }

    expect(statuses).toEqual([200, 200, 200, 402, 402]);
    expect(gateway.logs.slice(0, 3).map(({ record }) => record.cost_nano_usd)).toEqual(
      Array(3).fill(row.cost),
    );
  });

  it('Jina, whose reranker reports its tokens', async () => {
    const row = rerank('jina', 'jina-reranker-m0', 0, { ...FOUND, usage: { total_tokens: 1_000 } });
    await under(120_000, row);

    const answer = await ask(row);

    expect(answer.status).toBe(200);
    expect(gateway.logs[0]?.record.cost_nano_usd).toBe(1_000 * 50);
    expect((await ask(row)).status).toBe(200);
    expect((await ask(row)).status).toBe(200);
    expect((await ask(row)).status).toBe(402);
  });
});
