import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../common/errors/app-error.js';
import { ENDPOINT_IDS } from '../endpoint.js';
import { supportOf } from '../support.js';
import { nanoDollars } from '../prices/decimal.js';
import type { Price } from '../prices/price.js';
import { findProvider } from '../catalog/registry.js';
import { endpointsOfModel } from './kinds.js';
import { dollars, modelEntry, withPrice } from './model-entry.js';
import { ALL_MODELS, isEverything, modelList, modelNamed, modelListQuery } from './model-list.js';

const price: Price = {
  input: 2_500_000_000,
  output: 15_000_000_000,
  cachedInput: 250_000_000,
  cacheWrite: null,
  audioInput: null,
  audioOutput: null,
};

const refusalOf = (act: () => unknown): AppError => {
  try {
    act();
  } catch (error) {
    if (error instanceof AppError) return error;
  }
  throw new Error('it was not refused');
};

describe('dollars', () => {
  it.each([
    [0, '0'],
    [1, '0.000000001'],
    [150_000_000, '0.15'],
    [1_000_000_000, '1'],
    [12_345_678_900, '12.3456789'],
    [Number.MAX_SAFE_INTEGER, '9007199.254740991'],
  ])('writes %d nano-dollars as %s', (nano, text) => {
    expect(dollars(nano)).toBe(text);
  });

  it('loses nothing of any published price', () => {
    fc.assert(
      fc.property(fc.nat({ max: 1e15 }), (nano) => {
        const [whole = '', fraction = ''] = dollars(nano).split('.');
        expect(Number(whole + fraction.padEnd(9, '0'))).toBe(nano);
      }),
    );
    for (const listed of [0.075, 2.5, 0.15, 75, 0.000_001])
      expect(dollars(nanoDollars(listed) ?? 0)).toBe(String(listed));
  });
});

describe('what a model does, by its name', () => {
  it.each([
    ['gpt-5', 'chat-completions'],
    ['anthropic/claude-opus-4.5', 'messages'],
    ['gpt-4o-audio-preview', 'chat-completions'],
    ['text-embedding-3-small', 'embeddings'],
    ['gemini-embedding-001', 'embed-content'],
    ['BAAI/bge-m3', 'embeddings'],
    ['rerank-v3.5', 'rerank'],
    ['omni-moderation-latest', 'moderations'],
    ['gpt-4o-mini-transcribe', 'transcriptions'],
    ['whisper-large-v3', 'translations'],
    ['gpt-4o-mini-tts', 'speech'],
    ['mistral-ocr-latest', 'ocr'],
    ['tts-1', 'speech'],
    ['gpt-realtime', 'realtime'],
    ['gpt-image-1', 'image-generations'],
    ['black-forest-labs/FLUX.1-schnell', 'image-generations'],
    ['davinci-002', 'completions'],
    ['gpt-3.5-turbo-instruct', 'completions'],
  ] as const)('%s supports %s', (model, endpoint) => {
    expect(endpointsOfModel(model)).toContain(endpoint);
  });

  it.each(['text-embedding-3-small', 'rerank-v3.5', 'gpt-image-1', 'whisper-1', 'mistral-ocr-latest'])(
    '%s cannot be talked to',
    (model) => {
      expect(endpointsOfModel(model)).not.toContain('chat-completions');
    },
  );
});

describe('modelEntry', () => {
  const openai = findProvider('openai');

  it('has the format of OpenAI, and lists what the gateway knows', () => {
    expect(withPrice(modelEntry('gpt-5', openai, 400_000), price)).toMatchObject({
      id: 'gpt-5',
      object: 'model',
      created: 0,
      owned_by: 'openai',
      provider: 'openai',
      context_length: 400_000,
      pricing: { input: '2.5', output: '15', cached_input: '0.25' },
    });
  });

  it('names only endpoints that the provider supports', () => {
    const { endpoints } = modelEntry('gpt-5', openai, null);

    expect(endpoints).toContain('chat-completions');
    for (const endpoint of endpoints) expect(supportOf(openai, endpoint)).not.toBeNull();
  });

  it('leaves an unknown price empty, and leaves out kinds that are charged as another', () => {
    const entry = modelEntry('gpt-99', openai, null);

    expect(withPrice(entry, null).pricing).toBeNull();
    expect(Object.keys(withPrice(entry, price).pricing ?? {})).toEqual(['input', 'output', 'cached_input']);
  });

  it('names the length from which a request costs more', () => {
    const tiers = [{ aboveInputTokens: 200_000, rates: { ...price, input: 5_000_000_000 } }];

    expect(withPrice(modelEntry('x', openai, null), { ...price, tiers }).pricing?.tiers).toEqual([
      { above_input_tokens: 200_000, input: '5', output: '15', cached_input: '0.25' },
    ]);
  });
});

describe('a query for models', () => {
  const models = ['b', 'a', 'gpt-5', 'gpt-5-mini'].flatMap((id) => [
    modelEntry(id, findProvider('openai'), null),
    modelEntry(id, findProvider('groq'), null),
  ]);
  const ids = (query: string): string[] =>
    modelList(models, modelListQuery(new URLSearchParams(query))).data.map(
      ({ provider, id }) => `${provider}/${id}`,
    );

  it('includes everything without a filter, or with one that means nothing here', () => {
    for (const query of ['', 'client_version=1.2.3', 'search=&limit='])
      expect(isEverything(modelListQuery(new URLSearchParams(query)))).toBe(true);
    expect(modelList(models, ALL_MODELS)).toEqual({ object: 'list', data: models, total: 8 });
  });

  it.each([
    ['provider=groq&search=GPT', ['groq/gpt-5', 'groq/gpt-5-mini']],
    ['search=mini', ['openai/gpt-5-mini', 'groq/gpt-5-mini']],
    ['endpoint=vector-stores', []],
    ['limit=2', ['openai/b', 'groq/b']],
    ['limit=1&offset=2', ['openai/a']],
    ['offset=8', []],
    ['limit=0', []],
  ])('%s finds %j', (query, found) => {
    expect(ids(query)).toEqual(found);
  });

  it('reports how many there are, of which it shows some', () => {
    expect(modelList(models, modelListQuery(new URLSearchParams('provider=groq&limit=1')))).toMatchObject({
      total: 4,
      data: [{ id: 'b' }],
    });
  });

  it.each([
    ['provider=nobody', 'provider_unknown'],
    ['provider=__proto__', 'provider_unknown'],
    ['endpoint=telepathy', 'invalid_request'],
    ['endpoint=constructor', 'invalid_request'],
    ['limit=-1', 'invalid_request'],
    ['limit=1e9', 'invalid_request'],
    ['limit=99999999999999999999', 'invalid_request'],
    ['offset=x', 'invalid_request'],
  ])('is refused when it says %s', (query, code) => {
    expect(refusalOf(() => modelListQuery(new URLSearchParams(query))).code).toBe(code);
  });

  it('names the endpoints when it is refused for one', () => {
    const { message } = refusalOf(() => modelListQuery(new URLSearchParams('endpoint=x')));

    for (const id of ENDPOINT_IDS) expect(message).toContain(id);
  });

  it('for one model finds that of the first provider, or of the one it names', () => {
    expect(modelNamed(models, 'gpt-5', ALL_MODELS).provider).toBe('openai');
    expect(modelNamed(models, 'gpt-5', { ...ALL_MODELS, provider: 'groq' }).provider).toBe('groq');
    expect(refusalOf(() => modelNamed(models, 'gpt', ALL_MODELS)).code).toBe('not_found');
  });

  it('is read or refused with an AppError, whatever it says', () => {
    const name = fc.constantFrom('provider', 'search', 'endpoint', 'limit', 'offset');
    fc.assert(
      fc.property(fc.array(fc.tuple(name, fc.string())), (pairs) => {
        try {
          modelList(models, modelListQuery(new URLSearchParams(pairs)));
        } catch (error) {
          expect(error).toBeInstanceOf(AppError);
        }
      }),
    );
  });
});
