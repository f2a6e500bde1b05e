import { findProvider as findListed } from '@pydantic/genai-prices';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ModelList } from '../../providers/models/model-list.js';
import type { Price } from '../../providers/prices/price.js';
import { dollars } from '../../providers/models/model-entry.js';
import { providers } from '../../providers/catalog/registry.js';
import { UNIT_PRICES } from '../../providers/prices/unit-prices/index.js';
import { GenaiModelCatalog, namesOf } from './genai-model-catalog.js';
import { GenaiPriceBook } from './genai-price-book.js';

beforeEach(() => {
  vi.useFakeTimers({ now: new Date('2026-11-20T12:00:00Z'), toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const catalog = new GenaiModelCatalog();
const of = (provider: string) => catalog.all().filter((model) => model.provider === provider);

describe('the models of the catalogue', () => {
  it('are at least 250, each once per provider', () => {
    const names = catalog.all().map(({ provider, id }) => `${provider} ${id}`);

    expect(names.length).toBeGreaterThanOrEqual(250);
    expect(new Set(names).size).toBe(names.length);
  });

  it('are those of every provider whose prices are known', () => {
    for (const { id, pricesId, prices } of providers.values()) {
      const isKnown =
        prices !== undefined ||
        UNIT_PRICES.some(({ provider, model }) => provider === id && !model.endsWith('*')) ||
        (pricesId !== null && findListed({ providerId: pricesId ?? id })?.id === (pricesId ?? id));
      expect([id, of(id).length > 0]).toEqual([id, isKnown]);
    }
  });

  it('are sorted by the catalogue, then by their names', () => {
    const order = [...new Set(catalog.all().map(({ provider }) => provider))];
    const known = [...providers.keys()].filter((id) => order.includes(id));

    expect(order).toEqual(known);
    const ids = of('openai').map(({ id }) => id);
    expect(ids).toEqual([...ids].sort());
  });

  it.each([
    ['openai', 'gpt-4o', { context_length: 128_000 }],
    ['openai', 'gpt-5-2025-08-07', { context_length: 400_000 }],
    ['openai', 'whisper-1', { pricing: { units: { audio_input_hour: '0.36' } } }],
    ['mistral-ai', 'codestral-latest', { context_length: 256_000 }],
    ['sandbox', 'sandbox-1', { pricing: { input: '1', output: '2' }, context_length: null }],
  ])('know of %s the model %s', (provider, id, said) => {
    expect(of(provider).find((model) => model.id === id)).toMatchObject({
      object: 'model',
      owned_by: provider,
      ...said,
    });
  });

  it.each([
    [
      'anthropic',
      'claude-opus-5-5',
      { display_name: 'Claude Opus 5.5', created: 0, created_at: '1970-01-01T00:00:00Z' },
    ],
    ['anthropic', 'claude-sonnet-5-5', { display_name: 'Claude Sonnet 5.5', type: 'model' }],
    ['openai', 'gpt-5-2025-08-07', { created: 1_754_524_800, created_at: '2025-08-07T00:00:00Z' }],
    ['sandbox', 'sandbox-1', { display_name: 'sandbox-1' }],
  ])('have a name and a time as clients read them: %s %s', (provider, id, said) => {
    expect(of(provider).find((model) => model.id === id)).toMatchObject(said);
  });

  it('leave out those that Anthropic no longer serves, and keep them where others still do', () => {
    const retired = /^claude-(?:v1|2|instant|3)|^claude-(?:opus|sonnet)-4(?:-0|-2025\d+)?$/;
    const named = (provider: string) => of(provider).filter(({ id }) => retired.test(id));

    expect(named('anthropic')).toEqual([]);
    expect(named('openrouter').length).toBeGreaterThan(0);
    expect(new GenaiPriceBook().find('anthropic', 'claude-3-opus-latest')).not.toBeNull();
  });

  it.each(['ft:gpt-4o', 'ft:gpt-3.5-turbo-', 'moderation', 'gpt-5-1', 'gpt-4o-mini-2024-07-18.ft-'])(
    'have none called %s, which is a rule of the price data and no name',
    (id) => {
      expect(of('openai').map((model) => model.id)).not.toContain(id);
    },
  );

  it('cost what a request would be charged', () => {
    const book = new GenaiPriceBook();
    const written = ({ isByUnitOnly, input, output }: Price) =>
      isByUnitOnly ? {} : { input: dollars(input), output: dollars(output) };
    let compared = 0;
    for (const { provider, id, pricing } of catalog.all()) {
      const charged = book.find(provider, id);
      if (charged && pricing) {
        compared++;
        expect([provider, id, { input: pricing.input, output: pricing.output }]).toEqual([
          provider,
          id,
          written(charged),
        ]);
      } else expect([provider, id, charged]).toEqual([provider, id, pricing]);
    }
    expect(compared).toBeGreaterThan(250);
  });

  it('are the same when they were taken apart ahead of the first client, in turns', async () => {
    const ahead = new GenaiModelCatalog();
    let turns = 0;
    let isReady = false;
    const count = (): void => {
      turns++;
      if (!isReady) setImmediate(count);
    };
    setImmediate(count);
    await ahead.prepare();
    isReady = true;
    expect(ahead.prepare()).toBeNull();
    expect(turns).toBeGreaterThan(50);
    expect(ahead.all().map(({ id }) => id)).toEqual(catalog.all().map(({ id }) => id));
  });

  it('are serialized once, and again when prices may have changed', () => {
    const first = catalog.listed();
    const inputOf = (bytes: Buffer) =>
      (JSON.parse(bytes.toString()) as ModelList).data.find(
        ({ provider, id }) => provider === 'deepseek' && id === 'deepseek-v4-flash',
      )?.pricing?.input;

    expect(catalog.listed()).toBe(first);
    vi.setSystemTime(new Date('2026-11-21T02:00:00Z'));
    expect(catalog.listed()).not.toBe(first);
    expect([inputOf(first), inputOf(catalog.listed())]).toEqual(['0.22', '0.44']);
  });

  it('are listed in the format of OpenAI', () => {
    const list = JSON.parse(catalog.listed().toString()) as ModelList;

    expect(list.object).toBe('list');
    expect(list.total).toBe(list.data.length);
    expect(list.data).toEqual(catalog.all());
  });
});

describe('namesOf', () => {
  const model = (id: string, match: Parameters<typeof namesOf>[0]['match']) =>
    namesOf({ id, match, prices: {} });

  it.each([
    ['its own name', 'a', { equals: 'a' }, ['a']],
    ['names that are spelled out, not its own', 'a', { or: [{ equals: 'b' }, { equals: 'c' }] }, ['b', 'c']],
    ['its own where a rule accepts it', 'a-1', { or: [{ starts_with: 'a' }, { equals: 'b' }] }, ['b', 'a-1']],
    ['its own where several rules do', 'a-1', { and: [{ starts_with: 'a' }, { regex: '-1$' }] }, ['a-1']],
    [
      'its own where one of several is a part',
      'a-1',
      { and: [{ starts_with: 'a' }, { contains: '-' }] },
      ['a-1'],
    ],
    ['nothing for a part of a name', 'a', { contains: 'a' }, []],
    ['nothing for the end of a name', 'a', { ends_with: 'a' }, []],
    ['nothing for the beginning of a name', 'a-', { starts_with: 'a-' }, []],
    ['nothing for fine-tuned models', 'ft:a', { starts_with: 'ft:a' }, []],
    ['one spelling of a version', 'a-1.5', { or: [{ equals: 'a-1.5' }, { equals: 'a-1-5' }] }, ['a-1.5']],
  ])('finds %s', (_, id, match, names) => {
    expect(model(id, match)).toEqual(names);
  });
});
