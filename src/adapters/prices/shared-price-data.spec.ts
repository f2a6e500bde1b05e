import { afterEach, expect, it, vi } from 'vitest';
import type { Settings } from '../../common/settings/settings.js';
import { modelCatalog, priceBook } from '../factories.js';
import { PriceData } from './price-data.js';

afterEach(() => {
  vi.restoreAllMocks();
});

it('the prices and the list of models of a process share one reading of the price file', () => {
  const of = vi.spyOn(PriceData, 'of');
  const settings = { pricesFile: '/nowhere/prices.json' } as Settings;

  priceBook(settings);
  modelCatalog(settings);

  const [first, second] = of.mock.results;
  expect(of.mock.calls).toEqual([['/nowhere/prices.json'], ['/nowhere/prices.json']]);
  expect(second?.value).toBe(first?.value);
  expect(first?.value).toBeInstanceOf(PriceData);
});
