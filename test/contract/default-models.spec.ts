import { describe, expect, it } from 'vitest';
import { GenaiPriceBook } from '../../src/adapters/prices/genai-price-book.js';

/**
 * The models that the listed clients (docs/clients.md) use without a choice of the user: for the work itself, and beside it for titles,
 * summaries and small tasks. Read from the versions named here.
 */
const DEFAULT_MODELS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  'Claude Code 2.1.332': {
    anthropic: [
      'claude-opus-5-5',
      'claude-sonnet-5-5',
      'claude-haiku-5-5',
      'claude-fable-5-2',
      'claude-haiku-4-5-20251001',
    ],
  },
  'Codex 0.171.0': {
    openai: [
      ...['gpt-6.2-sol', 'gpt-6.2-astra', 'gpt-6.1-sol', 'gpt-6.1-terra'],
      ...['gpt-5.6-sol', 'gpt-5.6-terra', 'gpt-5.6-luna', 'gpt-5.5'],
    ],
  },
  'Gemini CLI 0.61.0': { google: ['gemini-3.1-pro-preview', 'gemini-3.8-flash'] },
  'OpenCode 1.18.33, for titles': {
    anthropic: ['claude-haiku-4-5-20251001'],
    openai: ['gpt-5.4-nano'],
    google: ['gemini-3.8-flash'],
  },
};

/** In Codex's catalogue, without a published price. The operator's price file may have one. */
const UNPUBLISHED = ['daybreak-blue-latest', 'daybreak-red-latest', 'codex-auto-review'];

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

  it.each(UNPUBLISHED)('are priced as soon as a price is published, and belong above then: %s', (model) => {
    expect(book.find('openai', model)).toBeNull();
  });
});
