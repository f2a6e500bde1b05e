import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Usage } from '../../common/contracts/usage.js';
import { costOf, highestCostOf } from './cost.js';
import { isPrice, type Price, type UnitPrices } from './price.js';

const NO_TOKENS = { input_tokens: 0, output_tokens: 0 };
const TOKENS: Price = {
  input: 5_000_000_000,
  output: 40_000_000_000,
  cachedInput: null,
  cacheWrite: null,
  audioInput: null,
  audioOutput: null,
};
const byUnit = (units: UnitPrices): Price => ({ ...TOKENS, input: 0, output: 0, units, isByUnitOnly: true });
const used = (units: Partial<Usage>): Usage => ({ ...NO_TOKENS, ...units });

const IMAGES = byUnit({
  images: [
    { size: '1024x1024', quality: 'standard', amount: 40_000_000 },
    { size: '1024x1024', quality: 'hd', amount: 80_000_000 },
    { size: '1792x1024', quality: null, amount: 120_000_000 },
    { size: null, quality: 'draft', amount: 7 },
  ],
});
const images = (image_count: number, image_size?: string | null, image_quality?: string | null): Usage =>
  used({
    image_count,
    ...(image_size === undefined ? {} : { image_size }),
    ...(image_quality === undefined ? {} : { image_quality }),
  });

describe('media that is charged by units', () => {
  it.each<[string, Partial<Usage>, UnitPrices, number]>([
    ['characters', { input_characters: 4_096 }, { millionInputCharacters: 15_000_000_000 }, 61_440_000],
    ['generated audio', { audio_output_ms: 90_000 }, { audioOutputHour: 900_000_000 }, 22_500_000],
    ['generated video', { video_output_ms: 4_000 }, { videoOutputSecond: 100_000_000 }, 400_000_000],
    ['search units', { search_units: 3 }, { thousandSearchUnits: 2_000_000_000 }, 6_000_000],
  ])('charges %s, and has no cost for them without a price', (_, usage, units, cost) => {
    expect(costOf(used(usage), byUnit(units))).toBe(cost);
    expect(costOf(used(usage), byUnit({}))).toBeNull();
    expect(costOf(used(usage), TOKENS)).toBeNull();
  });

  it('does not charge the tokens that are reported beside units where only units have a price', () => {
    const usage = { input_tokens: 100, output_tokens: 0, input_characters: 1_000_000 };

    expect(costOf(usage, byUnit({ millionInputCharacters: 15_000_000_000 }))).toBe(15_000_000_000);
  });

  it('charges media by its output tokens where the price has them, and by units where the usage lacks them', () => {
    const price = { ...TOKENS, units: { images: [{ size: null, quality: 'low', amount: 11_000_000 }] } };
    const one = images(1, '1024x1024', 'low');

    expect(costOf({ ...one, input_tokens: 10, output_tokens: 272 }, price)).toBe(50_000 + 10_880_000);
    expect(costOf({ ...one, input_tokens: 10, output_tokens: 272 }, TOKENS)).toBe(50_000 + 10_880_000);
    expect(costOf({ ...one, input_tokens: 10 }, price)).toBe(50_000 + 11_000_000);
    expect(costOf({ ...one, input_tokens: 10 }, TOKENS)).toBeNull();
  });

  it('charges speech by characters or by duration, whichever has a price, and needs that one', () => {
    const speech = used({ input_characters: 1_000_000, audio_output_ms: 3_600_000 });

    expect(costOf(speech, byUnit({ millionInputCharacters: 15 }))).toBe(15);
    expect(costOf(speech, byUnit({ audioOutputHour: 9 }))).toBe(9);
    expect(costOf(used({ input_characters: 1 }), byUnit({ audioOutputHour: 9 }))).toBeNull();
    expect(costOf(used({ audio_output_ms: 1 }), byUnit({ millionInputCharacters: 15 }))).toBeNull();
  });
});

describe('the price of an image', () => {
  it.each([
    ['its size and quality', '1024x1024', 'hd', 160_000_000],
    ['its size, at any quality', '1792x1024', 'standard', 240_000_000],
    ['its size before its quality', '1792x1024', 'draft', 240_000_000],
    ['its quality, at any size', '512x512', 'draft', 14],
    ['nothing where no price matches', '512x512', 'standard', null],
    ['nothing where the quality is unknown', '1024x1024', null, null],
  ])('is selected by %s', (_, size, quality, cost) => {
    expect(costOf(images(2, size, quality), IMAGES)).toBe(cost);
  });

  it('is bounded by the highest price that the known facts allow', () => {
    expect(highestCostOf(images(2), IMAGES)).toBe(240_000_000);
    expect(highestCostOf(images(2, '1024x1024'), IMAGES)).toBe(160_000_000);
    expect(highestCostOf(images(2, null, 'standard'), IMAGES)).toBe(240_000_000);
    expect(highestCostOf(images(2, '1024x1024', 'standard'), IMAGES)).toBe(80_000_000);
    expect(highestCostOf(images(1, '512x512', 'standard'), IMAGES)).toBeNull();
    expect(highestCostOf(images(1), byUnit({ images: [] }))).toBeNull();
  });
});

describe('isPrice', () => {
  const image = { size: '1x1', quality: null, amount: 1 };

  it.each([
    ['a unit price that is not whole', { audioOutputHour: 0.5 }],
    ['an image price below zero', { images: [{ ...image, amount: -1 }] }],
    ['a size that is no text', { images: [{ ...image, size: 5 }] }],
    ['an empty quality', { images: [{ ...image, quality: '' }] }],
    ['two prices of one image', { images: [image, image] }],
  ])('refuses %s', (_, units) => {
    expect(isPrice(byUnit(units as unknown as UnitPrices))).toBe(false);
  });

  it('accepts every kind of unit', () => {
    const all = byUnit({
      images: [image, { ...image, quality: 'hd' }],
      audioOutputHour: 1,
      videoOutputSecond: 1,
      millionInputCharacters: 1,
      thousandSearchUnits: 1,
    });

    expect(isPrice(all)).toBe(true);
  });
});

/** Each unit, its price and how many milli-units, millionths or milliseconds one price covers: independent of the code. */
const KINDS = [
  ['web_searches', 'thousandWebSearches', 1_000n],
  ['file_searches', 'thousandFileSearches', 1_000n],
  ['citation_tokens', 'millionCitationTokens', 1_000_000n],
  ['audio_input_ms', 'audioInputHour', 3_600_000n],
  ['document_pages', 'thousandDocumentPages', 1_000n],
  ['search_units', 'thousandSearchUnits', 1_000n],
  ['input_characters', 'millionInputCharacters', 1_000_000n],
  ['audio_output_ms', 'audioOutputHour', 3_600_000n],
  ['video_output_ms', 'videoOutputSecond', 1_000n],
] as const;
const DENOMINATOR = 3_600_000n * 1_000_000n;

describe('a random usage', () => {
  const seed = Date.now() % 2 ** 31;
  const count = fc.oneof(fc.nat(5_000), fc.nat(100_000_000), fc.maxSafeNat());
  const price = fc.oneof(fc.nat(100_000_000_000), fc.maxSafeNat());
  const amounts = fc.array(fc.tuple(count, price), { minLength: KINDS.length, maxLength: KINDS.length });

  it(`costs what plain fractions say, rounded once (seed ${seed})`, () => {
    fc.assert(
      fc.property(amounts, count, price, fc.nat(20), price, (units, input, inputRate, imageCount, image) => {
        const usage: Usage = {
          input_tokens: input,
          output_tokens: 0,
          image_count: imageCount,
          image_size: 'a',
          ...Object.fromEntries(KINDS.map(([kind], at) => [kind, units[at]?.[0]])),
        };
        const charged: Price = {
          ...TOKENS,
          input: inputRate,
          units: {
            ...Object.fromEntries(KINDS.map(([, unit], at) => [unit, units[at]?.[1]])),
            images: [{ size: 'a', quality: null, amount: image }],
          },
        };
        let fraction =
          (BigInt(input) * BigInt(inputRate) * DENOMINATOR) / 1_000_000n +
          BigInt(imageCount) * BigInt(image) * DENOMINATOR;
        KINDS.forEach(([, , per], at) => {
          const [used = 0, rate = 0] = units[at] ?? [];
          fraction += BigInt(used) * BigInt(rate) * (DENOMINATOR / per);
        });
        const exact = (2n * fraction + DENOMINATOR) / (2n * DENOMINATOR);
        const most = BigInt(Number.MAX_SAFE_INTEGER);

        expect(BigInt(costOf(usage, charged) ?? -1)).toBe(exact > most ? most : exact);
      }),
      { seed, numRuns: 2_000 },
    );
  });
});
