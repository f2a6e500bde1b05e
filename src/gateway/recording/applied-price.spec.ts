import { describe, expect, it } from 'vitest';
import type { Price } from '../../common/contracts/price.js';
import { TokenizingUsageCounter } from '../../adapters/usage-counter.js';
import { costOf } from '../../providers/prices/cost.js';
import { appliedPrice } from './applied-price.js';

const PRICE: Price = {
  input: 150_000_000,
  output: 600_000_000,
  cachedInput: 75_000_000,
  cacheWrite: null,
  audioInput: null,
  audioOutput: null,
};

describe('an applied price', () => {
  it('names its source and its model, and only the kinds that it has', () => {
    expect(appliedPrice(PRICE, 'list', 'gpt-4o-mini')).toEqual({
      source: 'list',
      model: 'gpt-4o-mini',
      input: 150_000_000,
      output: 600_000_000,
      cachedInput: 75_000_000,
    });
  });

  it('is another one for another model, though the price is the same', () => {
    const first = appliedPrice(PRICE, 'list', 'one');

    expect(appliedPrice(PRICE, 'list', 'one')).toBe(first);
    expect(appliedPrice(PRICE, 'agreed', 'two')).toMatchObject({ source: 'agreed', model: 'two' });
  });

  it('charges the same as the price itself, read back from the spool', () => {
    const usage = {
      input_tokens: 1_000,
      output_tokens: 200,
      cached_input_tokens: 400,
      cache_write_tokens: 100,
    };
    const read = JSON.parse(JSON.stringify(appliedPrice(PRICE, 'list', 'm'))) as ReturnType<
      typeof appliedPrice
    >;

    expect(new TokenizingUsageCounter().costOf(usage, read)).toBe(costOf(usage, PRICE));
  });
});
