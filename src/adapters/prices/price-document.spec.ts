import { findProvider as findListed } from '@pydantic/genai-prices';
import { describe, expect, it } from 'vitest';
import { providers } from '../../providers/catalog/registry.js';
import { readPriceDocument } from './price-document.js';

const model = { id: 'm', match: { equals: 'm' }, prices: { input_mtok: 1 } };
const withModel = (change: object): string =>
  JSON.stringify([{ id: 'openai', models: [model, { ...model, ...change }] }]);

const withProvider = (change: object): string =>
  JSON.stringify([{ id: 'openai', models: [model], ...change }]);

describe('readPriceDocument', () => {
  it.each([
    ['no JSON', '[{', /^It is not JSON: /],
    ['an object', '{}', /^The document: /],
    ['no provider', '[]', /^The document: names no provider$/],
    ['a provider without models', '[{"id":"openai"}]', /^\[0\]\.models: /],
    ['a negative price', withModel({ prices: { input_mtok: -1 } }), /^\[0\]\.models\[1\]\.prices/],
    ['a price as text', withModel({ prices: { input_mtok: '1' } }), /^\[0\]\.models\[1\]\.prices/],
    ['a rule that does not exist', withModel({ match: { like: 'm' } }), /^\[0\]\.models\[1\]\.match/],
    ['a broken expression', withModel({ match: { regex: '(' } }), /^\[0\]\.models\[1\]\.match/],
    [
      'an expression that RE2 cannot compile',
      withModel({ match: { regex: '(a)\\1' } }),
      /^\[0\]\.models\[1\]\.match/,
    ],
    ['a window of no size', withModel({ context_window: 0 }), /^\[0\]\.models\[1\]\.context_window/],
    [
      'a mistyped price',
      withModel({ prices: { input_mtok: 2, outptu_mtok: 10 } }),
      /^\[0\]\.models\[1\]\.prices: has the unknown member "outptu_mtok" \(did you mean "output_mtok"\?\)$/,
    ],
    [
      'a mistyped price that applies from a day on',
      withModel({ prices: [{ prices: { input_mtok: 2 } }, { prices: { inptu_mtok: 2 } }] }),
      /^\[0\]\.models\[1\]\.prices\[1\]\.prices: has the unknown member "inptu_mtok"/,
    ],
    [
      'a mistyped condition',
      withModel({ prices: [{ constrain: { start_date: '2026-11-01' }, prices: { input_mtok: 2 } }] }),
      /^\[0\]\.models\[1\]\.prices\[0\]: has the unknown member "constrain"/,
    ],
    [
      'a member that a model does not have',
      withModel({ contextwindow: 1 }),
      /^\[0\]\.models\[1\]: has the unknown member "contextwindow" \(did you mean "context_window"\?\)$/,
    ],
    [
      'two rules where one counts',
      withModel({ match: { equals: 'm', starts_with: 'n' } }),
      /^\[0\]\.models\[1\]\.match: must have exactly one rule$/,
    ],
    [
      'a price beyond all bounds',
      withModel({ prices: { input_mtok: 1e300 } }),
      /^\[0\]\.models\[1\]\.prices\.input_mtok: must be at most 100,000 dollars$/,
    ],
    [
      'a tier beyond all bounds',
      withModel({ prices: { input_mtok: { base: 1, tiers: [{ start: 1, price: 100_001 }] } } }),
      /^\[0\]\.models\[1\]\.prices\.input_mtok\.tiers\[0\]\.price: must be at most 100,000 dollars$/,
    ],
    [
      'a repeated member',
      '[{"id":"openai",\n"models":[], "id":"google"}]',
      /^Line 2, column 14: "id" occurs twice in one object$/,
    ],
    [
      'a date that is none',
      withModel({ prices: [{ constraint: { start_date: 'soon' }, prices: {} }] }),
      /^\[0\]\.models\[1\]\.prices/,
    ],
  ])('refuses %s, and names the place', (_, text, message) => {
    expect(() => readPriceDocument(text)).toThrow(message);
  });

  it('reads what it needs, and leaves the rest', () => {
    const [provider] = readPriceDocument(withProvider({ api_pattern: 'x', extractors: [] }));

    expect([provider?.id, provider?.models.length]).toEqual(['openai', 1]);
  });

  it.each([...providers.values()].map(({ id, pricesId }) => pricesId ?? id))(
    'accepts the data that ships with the package: %s',
    (providerId) => {
      const models = findListed({ providerId })?.models ?? [];

      expect(readPriceDocument(withProvider({ models }))[0]?.models.length).toBe(models.length);
    },
  );
});
