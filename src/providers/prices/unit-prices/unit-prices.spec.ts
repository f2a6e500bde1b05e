import { describe, expect, it } from 'vitest';
import { GenaiPriceBook } from '../../../adapters/prices/genai-price-book.js';
import { GenaiModelCatalog } from '../../../adapters/prices/genai-model-catalog.js';
import type { Usage } from '../../../common/contracts/usage.js';
import { providers } from '../../catalog/registry.js';
import { costOf } from '../cost.js';
import { isPrice } from '../price.js';
import { UNIT_PRICES, type UnitPriceRow } from './index.js';

const book = new GenaiPriceBook();
const nameOf = ({ model }: UnitPriceRow): string => (model.endsWith('*') ? `${model.slice(0, -1)}x` : model);
const titleOf = (row: UnitPriceRow): string =>
  [row.provider, row.model, row.unit, ...(row.unit === 'images' ? [row.size, row.quality] : [])].join(' ');
const rows = UNIT_PRICES.map((row) => [titleOf(row), row] as const);

/** The usage that one price of a row pays for. */
function bought(row: UnitPriceRow): Partial<Usage> {
  switch (row.unit) {
    case 'images':
      return { image_count: 1, image_size: row.size ?? 'any', image_quality: row.quality ?? 'any' };
    case 'millionInputCharacters':
      return { input_characters: 1_000_000 };
    case 'audioInputHour':
      return { audio_input_ms: 3_600_000 };
    case 'videoOutputSecond':
      return { video_output_ms: 1_000 };
    case 'thousandSearchUnits':
      return { search_units: 1_000 };
    default:
      throw new Error(`Add what a row of ${row.unit} buys.`);
  }
}

describe('the table of unit prices', () => {
  it('has each row once, and each provider of it in the catalogue', () => {
    const titles = rows.map(([title]) => title);

    expect(new Set(titles).size).toBe(titles.length);
    expect(UNIT_PRICES.filter(({ provider }) => !providers.has(provider))).toEqual([]);
  });

  it.each(rows)('%s names a page, a day that is past, and an exact amount', (_, row) => {
    const day = new Date(`${row.checked}T00:00:00Z`);

    expect(new URL(row.source).protocol).toBe('https:');
    expect(day.toISOString().slice(0, 10)).toBe(row.checked);
    expect(day.getTime()).toBeLessThan(Date.now());
    expect(row.amount).toMatch(/^(0|[1-9]\d*)(\.\d{0,8}[1-9])?$/);
    expect(Number(row.amount)).toBeGreaterThan(0);
  });

  it.each(rows)('%s is what the price book charges for one unit', (_, row) => {
    const price = book.find(row.provider, nameOf(row));
    const usage = { input_tokens: 0, output_tokens: 0, ...bought(row) };

    expect(price && isPrice(price)).toBe(true);
    expect(price && costOf(usage, price)).toBe(Math.round(Number(row.amount) * 1e9));
  });

  it('has no price for a size that the provider does not list, and none for another model', () => {
    const price = book.find('openai', 'dall-e-3');
    const usage = { input_tokens: 0, output_tokens: 0, image_count: 1, image_quality: 'hd' };

    expect(price && costOf({ ...usage, image_size: '512x512' }, price)).toBeNull();
    expect(book.find('openai', 'tts-1-unheard-of')?.units?.millionInputCharacters).toBeUndefined();
    expect(book.find('deepgram', 'aura-1-x')).toBeNull();
  });

  it('has each name that it spells out in the list of models, priced by its unit', () => {
    const listed = new Map(new GenaiModelCatalog().all().map((it) => [`${it.provider} ${it.id}`, it]));

    for (const { provider, model } of UNIT_PRICES.filter((row) => !row.model.endsWith('*')))
      expect(listed.get(`${provider} ${model}`)?.pricing?.units, `${provider} ${model}`).toBeDefined();
  });

  it('is in the list of models, with exact decimals', () => {
    const all = new GenaiModelCatalog().all();
    const find = (provider: string, id: string) => all.find((it) => it.provider === provider && it.id === id);

    expect(find('elevenlabs', 'eleven_v3')).toMatchObject({
      pricing: { units: { million_input_characters: '80' } },
      endpoints: ['speech'],
    });
    expect(find('elevenlabs', 'scribe_v2')?.endpoints).toEqual(['transcriptions']);
    expect(find('deepgram', 'nova-3')).toMatchObject({
      pricing: { units: { audio_input_hour: '0.258' } },
      endpoints: ['transcriptions'],
    });
    expect(find('recraft-ai', 'recraftv3')?.endpoints).toEqual(['image-generations']);
    expect(find('runway', 'gen4_turbo')).toMatchObject({
      pricing: { units: { video_output_second: '0.05' } },
      endpoints: [],
    });

    expect(find('openai', 'tts-1-hd')).toMatchObject({
      pricing: { units: { million_input_characters: '30' } },
      endpoints: ['speech'],
    });
    expect(find('stability-ai', 'stable-image-core')).toMatchObject({
      pricing: { units: { images: [{ size: null, quality: null, price: '0.03' }] } },
    });
    expect(find('cohere', 'rerank-v3.5')?.pricing).toEqual({ units: { thousand_search_units: '2' } });
  });
});
