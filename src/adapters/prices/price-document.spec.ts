import { describe, expect, it } from 'vitest';
import { readPriceDocument } from './price-document.js';

const model = { id: 'm', match: { equals: 'm' }, prices: { input_mtok: 1 } };
const withModel = (change: object): string =>
  JSON.stringify([{ id: 'openai', models: [model, { ...model, ...change }] }]);

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
      'a date that is none',
      withModel({ prices: [{ constraint: { start_date: 'soon' }, prices: {} }] }),
      /^\[0\]\.models\[1\]\.prices/,
    ],
  ])('refuses %s, and names the place', (_, text, message) => {
    expect(() => readPriceDocument(text)).toThrow(message);
  });

  it('reads what it needs, and leaves the rest', () => {
    const [provider] = readPriceDocument(withModel({ name: 'M', tokenizer: 'x' }));

    expect([provider?.id, provider?.models.length]).toEqual(['openai', 2]);
  });
});
