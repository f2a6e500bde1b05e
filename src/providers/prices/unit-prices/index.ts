import { exactNanoDollars } from '../decimal.js';
import type { ImagePrice, Price, UnitPrices } from '../price.js';
import type { PriceSchedule } from '../schedule.js';
import { AUDIO_PRICES } from './audio.js';
import { IMAGE_PRICES } from './images.js';
import { each, LITELLM, type PlainUnitPriceRow, type UnitPriceRow } from './row.js';

export type { UnitPriceRow } from './row.js';

const COHERE = { provider: 'cohere', source: 'https://cohere.com/pricing' };
const SEARCH_PRICES: readonly PlainUnitPriceRow[] = [
  ...each({ ...COHERE, checked: '2025-06-30' }, 'thousandSearchUnits', {
    'rerank-v3.5': '2',
    'rerank-english-v3.0': '2',
    'rerank-multilingual-v3.0': '2',
  }),
  ...each({ ...COHERE, checked: LITELLM }, 'thousandSearchUnits', {
    'rerank-v4.0-fast': '2',
    'rerank-v4.0-pro': '2.5',
  }),
];

const VEO = 'https://cloud.google.com/gemini-enterprise-agent-platform/generative-ai/pricing#veo';

/** Models with the same price per second at every resolution, with or without audio. */
const VIDEO_PRICES: readonly PlainUnitPriceRow[] = [
  ...each(
    { provider: 'openai', source: 'https://developers.openai.com/api/docs/pricing', checked: LITELLM },
    'videoOutputSecond',
    { 'sora-2': '0.1' },
  ),
  ...['vertex-ai', 'vertex-ai-global'].flatMap((provider) =>
    each({ provider, source: VEO, checked: LITELLM }, 'videoOutputSecond', { 'veo-2.0-generate-001': '0.5' }),
  ),
  ...each(
    { provider: 'runway', source: 'https://docs.dev.runwayml.com/guides/pricing/', checked: LITELLM },
    'videoOutputSecond',
    { gen4_turbo: '0.05', 'gen4.5': '0.12' },
  ),
];

/** List prices that the price package lacks. */
export const UNIT_PRICES: readonly UnitPriceRow[] = [
  ...AUDIO_PRICES,
  ...IMAGE_PRICES,
  ...SEARCH_PRICES,
  ...VIDEO_PRICES,
];

const NO_TOKENS: Price = {
  input: 0,
  output: 0,
  cachedInput: null,
  cacheWrite: null,
  audioInput: null,
  audioOutput: null,
  isByUnitOnly: true,
};

/** Adds the unit prices of a model to its schedule. Prices of the schedule itself win. */
export function withUnitPrices(schedule: PriceSchedule, providerId: string, model: string): PriceSchedule {
  const rows = UNIT_PRICES.filter((row) => row.provider === providerId && matches(row.model, model));
  if (rows.length === 0) return schedule;
  const units = unitsOf(rows);
  if (schedule.length === 0) return [{ when: { kind: 'always' }, price: { ...NO_TOKENS, units } }];
  return schedule.map(({ when, price }) => ({
    when,
    price: { ...(price ?? NO_TOKENS), units: { ...units, ...price?.units } },
  }));
}

/** Models of a provider that the table names in full. */
export function unitPricedModels(providerId: string): ReadonlySet<string> {
  const rows = UNIT_PRICES.filter(({ provider, model }) => provider === providerId && !model.endsWith('*'));
  return new Set(rows.map(({ model }) => model));
}

const matches = (rule: string, model: string): boolean =>
  rule.endsWith('*') ? model.startsWith(rule.slice(0, -1)) : model === rule;

function unitsOf(rows: readonly UnitPriceRow[]): UnitPrices {
  const images: ImagePrice[] = [];
  const units: Record<string, number> = {};
  for (const row of rows) {
    const amount = exactNanoDollars(row.amount);
    if (row.unit === 'images') images.push({ size: row.size, quality: row.quality, amount });
    else units[row.unit] = amount;
  }
  return images.length > 0 ? { ...units, images } : units;
}
