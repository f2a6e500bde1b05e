import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Usage } from '../../common/contracts/usage.js';
import { costOf } from './cost.js';
import { isPrice, type Price } from './price.js';

const price: Price = {
  input: 150_000_000,
  output: 600_000_000,
  cachedInput: 75_000_000,
  cacheWrite: 187_500_000,
  audioInput: 10_000_000_000,
  audioOutput: 20_000_000_000,
};
const bare: Price = { ...price, cachedInput: null, cacheWrite: null, audioInput: null, audioOutput: null };
const MAX = Number.MAX_SAFE_INTEGER;

describe('costOf', () => {
  it('charges input and output by the million', () => {
    expect(costOf({ input_tokens: 1_000_000, output_tokens: 1_000_000 }, price)).toBe(750_000_000);
    expect(costOf({ input_tokens: 1, output_tokens: 0 }, price)).toBe(150);
    expect(costOf({ input_tokens: 0, output_tokens: 0 }, price)).toBe(0);
  });

  it('charges each kind of token once, at its own rate', () => {
    const usage: Usage = {
      input_tokens: 1000,
      output_tokens: 500,
      cached_input_tokens: 600,
      cache_write_tokens: 100,
      audio_input_tokens: 50,
      audio_output_tokens: 20,
      reasoning_tokens: 300,
    };

    expect(costOf(usage, price)).toBe(
      600 * 75 + 100 * 187.5 + 50 * 10_000 + 250 * 150 + 20 * 20_000 + 480 * 600,
    );
  });

  it('charges a kind without a rate as the kind it is part of', () => {
    const plain = { input_tokens: 1000, output_tokens: 500 };

    expect(costOf({ ...plain, cached_input_tokens: 600, reasoning_tokens: 400 }, bare)).toBe(
      costOf(plain, bare),
    );
  });

  it('charges reasoning apart only where it has a rate of its own', () => {
    const usage = { input_tokens: 0, output_tokens: 100, reasoning_tokens: 40 };

    expect(costOf(usage, { ...bare, reasoningOutput: 1_000_000_000 })).toBe(60 * 600 + 40 * 1000);
  });

  it('charges a long request wholly at the rates of its tier', () => {
    const tiered: Price = {
      ...bare,
      tiers: [{ aboveInputTokens: 1000, rates: { ...bare, input: 300_000_000 } }],
    };

    expect(costOf({ input_tokens: 1000, output_tokens: 0 }, tiered)).toBe(150_000);
    expect(costOf({ input_tokens: 1001, output_tokens: 0 }, tiered)).toBe(300_300);
  });

  it('rounds once, at the end, half up', () => {
    const rate = (input: number, output: number): Price => ({ ...bare, input, output });

    expect(costOf({ input_tokens: 1, output_tokens: 0 }, rate(499_999, 0))).toBe(0);
    expect(costOf({ input_tokens: 1, output_tokens: 0 }, rate(500_000, 0))).toBe(1);
    expect(costOf({ input_tokens: 1, output_tokens: 1 }, rate(300_000, 300_000))).toBe(1);
  });

  it('is exact where a product passes 2^53', () => {
    const usage = { input_tokens: 7_000_003, output_tokens: 3 };

    expect(costOf(usage, { ...bare, input: 600_000_000_001, output: 7 })).toBe(
      Number((7_000_003n * 600_000_000_001n + 21n + 500_000n) / 1_000_000n),
    );
  });

  it('stays at the largest exact integer instead of passing it', () => {
    expect(costOf({ input_tokens: MAX, output_tokens: MAX }, { ...bare, input: MAX, output: MAX })).toBe(MAX);
  });

  it.each([-1, 1.5, 1e18, 1e30, Number.NaN, Number.POSITIVE_INFINITY, '12', null, undefined])(
    'counts %s tokens as none',
    (tokens) => {
      const usage = {
        input_tokens: tokens,
        output_tokens: tokens,
        cached_input_tokens: tokens,
      } as unknown as Usage;

      expect(costOf(usage, price)).toBe(0);
    },
  );

  it('equals exact arithmetic for every usage and price', () => {
    const tokens = fc.oneof(fc.nat(2_000_000), fc.maxSafeNat());
    const rate = fc.oneof(fc.nat(2_000_000_000), fc.maxSafeNat());
    fc.assert(
      fc.property(tokens, tokens, rate, rate, (input, output, inputRate, outputRate) => {
        const exact =
          (BigInt(input) * BigInt(inputRate) + BigInt(output) * BigInt(outputRate) + 500_000n) / 1_000_000n;
        const cost = costOf(
          { input_tokens: input, output_tokens: output },
          { ...bare, input: inputRate, output: outputRate },
        );

        expect(BigInt(cost ?? -1)).toBe(exact > BigInt(MAX) ? BigInt(MAX) : exact);
      }),
    );
  });

  it.each([
    ['writes to the cache for an hour', { cache_write_tokens: 5, cache_write_1h_tokens: 5 }],
    ['a search', { web_searches: 1 }],
    ['a search of files', { file_searches: 1 }],
    ['pages that were cited', { citation_tokens: 1 }],
    ['sound that is charged by the second', { audio_input_ms: 1 }],
    ['pages of a document', { document_pages: 1 }],
  ])('is unknown, not low, where %s has no price', (_, usage) => {
    expect(costOf({ input_tokens: 10, output_tokens: 10, ...usage }, bare)).toBeNull();
  });

  it('is unknown for tokens where only units have a price', () => {
    const hourly: Price = {
      ...bare,
      input: 0,
      output: 0,
      units: { audioInputHour: 360_000_000 },
      isByUnitOnly: true,
    };
    expect(costOf({ input_tokens: 0, output_tokens: 0, audio_input_ms: 5_000 }, hourly)).toBe(500_000);
    expect(costOf({ input_tokens: 1, output_tokens: 0 }, hourly)).toBeNull();
  });

  const pages: Price = {
    ...bare,
    input: 0,
    output: 0,
    units: { thousandDocumentPages: 4_000_000_000, thousandAnnotatedPages: 5_000_000_000 },
    isByUnitOnly: true,
  };
  const read = (document_pages: number, annotated_pages?: number): Usage => ({
    input_tokens: 0,
    output_tokens: 0,
    document_pages,
    ...(annotated_pages === undefined ? {} : { annotated_pages }),
  });

  it('charges a page once: as one that was annotated, or as one that was not', () => {
    expect(costOf(read(3), pages)).toBe(12_000_000);
    expect(costOf(read(3, 3), pages)).toBe(15_000_000);
    expect(costOf(read(3, 1), pages)).toBe(8_000_000 + 5_000_000);
    expect(costOf(read(0), pages)).toBe(0);
  });

  it('is unknown for annotated pages where only plain ones have a price', () => {
    const plain = { ...pages, units: { thousandDocumentPages: 1_000_000_000 } };

    expect(costOf(read(3), plain)).toBe(3_000_000);
    expect(costOf(read(3, 3), plain)).toBeNull();
  });

  it('charges audio, and not the tokens reported beside it, when only audio has a price', () => {
    const hourly: Price = { ...pages, units: { audioInputHour: 180_000_000 } };
    const usage = { input_tokens: 4, output_tokens: 635, audio_input_ms: 60_000 };

    expect(costOf(usage, hourly)).toBe(3_000_000);
    expect(costOf(usage, { ...bare, units: hourly.units ?? {} })).toBe(3_000_000 + 4 * 150 + 635 * 600);
  });

  it('charges short sound as the least that is charged, and no sound as none', () => {
    const least: Price = { ...pages, units: { audioInputHour: 360_000_000 }, leastAudioInputMs: 10_000 };
    const heard = (audio_input_ms: number) =>
      costOf({ input_tokens: 0, output_tokens: 0, audio_input_ms }, least);

    expect([0, 1, 9_999, 10_000, 20_000].map(heard)).toEqual([0, 1_000_000, 1_000_000, 1_000_000, 2_000_000]);
  });

  it('charges units beside tokens', () => {
    const units = { thousandRequests: 5_000_000_000, millionCitationTokens: 2_000_000_000 };
    const usage = { input_tokens: 0, output_tokens: 0, citation_tokens: 100, web_searches: 3 };
    expect(costOf(usage, { ...bare, units })).toBe(5_000_000 + 200_000);
  });

  it('is never more than every token at the dearest rate, however the kinds overlap', () => {
    const tokens = fc.nat(1_000_000);
    fc.assert(
      fc.property(
        tokens,
        tokens,
        tokens,
        tokens,
        tokens,
        (input_tokens, output_tokens, cached, write, audio) => {
          const usage = {
            input_tokens,
            output_tokens,
            cached_input_tokens: cached,
            cache_write_tokens: write,
            audio_input_tokens: audio,
            audio_output_tokens: audio,
          };

          expect(costOf(usage, price)).toBeLessThanOrEqual(input_tokens * 10_000 + output_tokens * 20_000);
        },
      ),
    );
  });
});

describe('isPrice', () => {
  it.each([-1, 0.5, 1e30, Number.NaN, '5', undefined])('refuses a rate of %s', (rate) => {
    expect(isPrice({ ...price, input: rate } as unknown as Price)).toBe(false);
    expect(
      isPrice({
        ...price,
        tiers: [{ aboveInputTokens: 0, rates: { ...price, output: rate } }],
      } as unknown as Price),
    ).toBe(false);
  });

  it('takes a price of nothing and a price with tiers', () => {
    expect(isPrice({ ...bare, input: 0, output: 0 })).toBe(true);
    expect(isPrice({ ...price, tiers: [{ aboveInputTokens: 200_000, rates: price }] })).toBe(true);
  });
});
