import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { costOf } from '../../providers/prices/cost.js';
import { GenaiModelCatalog } from './genai-model-catalog.js';
import { GenaiPriceBook } from './genai-price-book.js';
import { PriceData } from './price-data.js';

const NOW = new Date('2026-11-28T12:00:00Z').getTime();
let folder: string;
let file: string;
beforeEach(() => {
  vi.useFakeTimers({ now: NOW, toFake: ['Date'] });
  folder = mkdtempSync(join(tmpdir(), 'prices-'));
  file = join(folder, 'prices.json');
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true });
});

const entry = (id: string, input: number, more: object = {}) => ({
  id,
  name: id,
  match: { equals: id },
  context_window: 77_000,
  prices: { input_mtok: input, output_mtok: 9 },
  ...more,
});
let writes = 0;
/** A file differs from the one before by its size, too, whatever the resolution of its time. */
const write = (...models: object[]): void => {
  const document = [{ id: 'openai', name: 'OpenAI', models }];
  writeFileSync(file, JSON.stringify(document) + ' '.repeat(writes++));
};
const later = (): void => {
  vi.setSystemTime(Date.now() + 6_000);
};

describe('the file of the operator', () => {
  it('prices a model that no other list has, and overrides a built-in one', () => {
    write(entry('gpt-99', 3), entry('gpt-5.5', 4));
    const book = new GenaiPriceBook(new PriceData(file));

    expect(book.find('openai', 'gpt-99')).toMatchObject({ input: 3_000_000_000, output: 9_000_000_000 });
    expect(book.find('openai', 'gpt-5.5')).toMatchObject({ input: 4_000_000_000 });
    expect(book.find('openai', 'gpt-6.2-sol')).toMatchObject({ input: 2_000_000_000 });
    expect(book.find('openai', 'gpt-4o')).not.toBeNull();
  });

  it('lists its models with their windows', () => {
    write(entry('gpt-99', 3), entry('gpt-5.5', 4));
    const models = new GenaiModelCatalog(new PriceData(file)).all();

    const of = (id: string) => models.filter((model) => model.provider === 'openai' && model.id === id);
    expect(of('gpt-99')).toMatchObject([{ context_length: 77_000, pricing: { input: '3' } }]);
    expect(of('gpt-5.5')).toMatchObject([{ context_length: 77_000, pricing: { input: '4' } }]);
  });

  it('is read again when it changes, for prices and for the list', () => {
    write(entry('gpt-99', 3));
    const data = new PriceData(file);
    const [book, catalog] = [new GenaiPriceBook(data), new GenaiModelCatalog(data)];
    const found = () => [
      book.find('openai', 'gpt-99')?.input,
      catalog.all().find(({ id }) => id === 'gpt-99')?.pricing?.input,
    ];
    expect(found()).toEqual([3_000_000_000, '3']);

    write(entry('gpt-99', 5));
    later();

    expect(found()).toEqual([5_000_000_000, '5']);
  });

  it('stays in force as it was when it becomes unusable or disappears, until it is usable again', () => {
    write(entry('gpt-99', 3));
    const book = new GenaiPriceBook(new PriceData(file));
    const now = () => book.find('openai', 'gpt-99')?.input;

    writeFileSync(file, '[{"id":"openai","models":[{"id":"gpt-99"');
    later();
    expect(now()).toBe(3_000_000_000);
    rmSync(file);
    later();
    expect(now()).toBe(3_000_000_000);
    write(entry('gpt-99', 6));
    later();
    expect(now()).toBe(6_000_000_000);
  });

  it('may be missing at the start: the built-in prices apply', () => {
    expect(new GenaiPriceBook(new PriceData(file)).find('openai', 'gpt-5.5')).not.toBeNull();
  });

  it('may have tiers, times and rules for names, as the price data has', () => {
    const prices = [
      { constraint: null, prices: { input_mtok: 1, output_mtok: 1 } },
      {
        constraint: { start_date: '2026-11-01' },
        prices: { input_mtok: { base: 2, tiers: [{ start: 100, price: 4 }] }, output_mtok: 1 },
      },
    ];
    const match = {
      or: [{ starts_with: 'GPT-98' }, { and: [{ contains: '97' }, { ends_with: '-x' }, { regex: '^o' }] }],
    };
    write(entry('gpt-98', 0, { match, prices }));
    const book = new GenaiPriceBook(new PriceData(file));

    const price = book.find('openai', 'gpt-98-mini');
    const usage = { output_tokens: 0 };
    expect(price && costOf({ ...usage, input_tokens: 100 }, price)).toBe(200_000);
    expect(price && costOf({ ...usage, input_tokens: 101 }, price)).toBe(404_000);
    expect(book.find('openai', 'o-97-x')).toEqual(price);
    expect(book.find('openai', 'o-97-y')).toBeNull();
  });
});

describe('models that the package lacks', () => {
  const book = new GenaiPriceBook();

  it.each([
    [
      'anthropic',
      'claude-sonnet-5-5',
      { input: 2, output: 10, cachedInput: 0.1, cacheWrite: 2.5, cacheWrite1h: 4 },
    ],
    ['anthropic', 'claude-sonnet-5-5-20260928', { input: 2, cachedInput: 0.1 }],
    ['anthropic', 'claude-haiku-5-5', { input: 0.1, output: 0.5 }],
    ['anthropic', 'claude-fable-5-2', { input: 8, output: 40, cachedInput: 0.2 }],
    ['openai', 'gpt-6.2-sol', { input: 2, output: 10, cachedInput: 0.1, cacheWrite: 2.5 }],
    ['openai', 'gpt-6.2-astra', { input: 8, output: 40, cachedInput: 0.4 }],
    ['openai', 'gpt-6.1-terra', { input: 1, output: 5, cachedInput: 0.05 }],
  ])('have the published price: %s %s', (provider, model, dollars) => {
    const nano = Object.fromEntries(
      Object.entries(dollars).map(([kind, rate]) => [kind, Math.round(rate * 1e9)]),
    );
    expect(book.find(provider, model)).toMatchObject(nano);
  });

  it('charge a long request by its own rates', () => {
    const price = book.find('openai', 'gpt-6.2-sol');
    const cost = (input_tokens: number) => price && costOf({ input_tokens, output_tokens: 0 }, price);

    expect([cost(272_000), cost(300_000)]).toEqual([272_000 * 2_000, 300_000 * 4_000]);
  });
});
