import { describe, expect, it } from 'vitest';
import { readPriceDocument } from './price-document.js';
import { priceWarnings } from './price-warnings.js';

const warningsOf = (id: string, model: string, prices: object): readonly string[] =>
  priceWarnings(
    readPriceDocument(JSON.stringify([{ id, models: [{ id: model, match: { equals: model }, prices }] }])),
  );

describe('priceWarnings', () => {
  it('name a provider that the gateway does not have', () => {
    expect(warningsOf('opnai', 'gpt-7', { input_mtok: 1, output_mtok: 2 })).toEqual([
      '[0].id: no provider has the id "opnai" (did you mean "openai"?), so its models are not used',
    ]);
    expect(warningsOf('openai', 'gpt-7', { input_mtok: 1, output_mtok: 2 })).toEqual([]);
  });

  it('name a chat model without a price of its output', () => {
    expect(warningsOf('openai', 'gpt-7', { input_mtok: 1 })).toEqual([
      '[0].models[0].prices: "gpt-7" has no output_mtok, so its output is free; set 0 if it is',
    ]);
    expect(warningsOf('openai', 'gpt-7', { input_mtok: 1, output_mtok: 0 })).toEqual([]);
    expect(warningsOf('openai', 'text-embedding-4', { input_mtok: 1 })).toEqual([]);
  });
});
