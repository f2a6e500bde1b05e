import { describe, expect, it } from 'vitest';
import { GenaiPriceBook } from '../../src/adapters/prices/genai-price-book.js';
import { DEFAULT_MODELS, UNPRICED_CODEX_MODELS } from '../support/default-models.js';

const cases = Object.entries(DEFAULT_MODELS).flatMap(([client, providers]) =>
  Object.entries(providers).flatMap(([provider, models]) =>
    models.map((model) => ({ client, provider, model })),
  ),
);

describe('the models that a listed client uses by default', () => {
  const book = new GenaiPriceBook();

  it.each(cases)('have a price: $client, $provider $model', ({ provider, model }) => {
    const price = book.find(provider, model);

    expect(price).not.toBeNull();
    expect(price?.input).toBeGreaterThan(0);
    expect(price?.output).toBeGreaterThan(0);
    expect(price?.cachedInput).not.toBeNull();
  });

  it.each(UNPRICED_CODEX_MODELS)(
    'are priced as soon as a price is published, and belong above then: %s',
    (model) => {
      expect(book.find('openai', model)).toBeNull();
    },
  );
});
