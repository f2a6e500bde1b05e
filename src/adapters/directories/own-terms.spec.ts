import { describe, expect, it } from 'vitest';
import type { Price } from '../../common/contracts/price.js';
import { type KeyOverrides, ownTermsOf } from './key-overrides.js';

const NOTHING: KeyOverrides = {
  allows_all_models: null,
  models: null,
  prices: null,
  organization_prices: null,
};
const price = (input: number): Price => ({
  input,
  output: 0,
  cachedInput: null,
  cacheWrite: null,
  audioInput: null,
  audioOutput: null,
});
const model = (slug: string, is_enabled: boolean, own: Price | null = null) => ({
  slug,
  is_enabled,
  price: own,
});

describe('ownTermsOf', () => {
  it('is nothing where nothing was agreed on', () => {
    expect(ownTermsOf(NOTHING)).toEqual({});
    expect(ownTermsOf({ ...NOTHING, allows_all_models: true, models: [model('a', true)] })).toEqual({});
  });

  it('names the exceptions where all models are allowed, and the only ones where they are not', () => {
    const models = [model('on', true), model('off', false)];

    expect(ownTermsOf({ ...NOTHING, allows_all_models: true, models }).models).toEqual({
      names: new Set(['off']),
      areAllowed: false,
    });
    expect(ownTermsOf({ ...NOTHING, allows_all_models: false, models }).models).toEqual({
      names: new Set(['on']),
      areAllowed: true,
    });
  });

  it('allows nothing where not all are allowed and none is named', () => {
    expect(ownTermsOf({ ...NOTHING, allows_all_models: false }).models).toEqual({
      names: new Set(),
      areAllowed: true,
    });
  });

  it('lets the nearer price win, and a price without sense count for nothing', () => {
    const { prices } = ownTermsOf({
      allows_all_models: true,
      organization_prices: { a: price(1), b: price(1), c: price(1), d: price(-1) },
      models: [model('b', true, price(2)), model('c', true, price(2)), model('e', true)],
      prices: { c: price(3) },
    });

    expect([...(prices ?? [])].map(([name, { input }]) => [name, input])).toEqual([
      ['a', 1],
      ['b', 2],
      ['c', 3],
    ]);
  });
});
