import { expect, it, vi } from 'vitest';
import type { Settings } from '../../common/settings/settings.js';
import { modelCatalog, priceBook } from '../factories.js';

const error = vi.hoisted(() => vi.fn());
vi.mock('../../common/observability/logger.js', async (original) => ({
  ...(await original<object>()),
  createLogger: () => ({ error, warn: vi.fn(), info: vi.fn() }),
}));

it('a process reports a price file that is missing once, for its prices and its list of models', () => {
  const settings = { pricesFile: '/nowhere/prices.json' } as Settings;
  priceBook(settings);
  modelCatalog(settings);

  expect(error.mock.calls).toMatchObject([[{ file: '/nowhere/prices.json' }, expect.any(String)]]);
});
