import { expect, it } from 'vitest';
import { AppliedPriceDto } from './applied-price.dto.js';

it('a price is shown in dollars, by the names of the API, with what long requests and units cost', () => {
  const shown = AppliedPriceDto.from({
    source: 'list',
    model: 'gemini-2.5-pro',
    input: 1_250_000_000,
    output: 10_000_000_000,
    cacheWrite1h: 2_000_000_000,
    tiers: [
      {
        aboveInputTokens: 200_000,
        rates: {
          input: 2_500_000_000,
          output: 15_000_000_000,
          cachedInput: null,
          cacheWrite: null,
          audioInput: null,
          audioOutput: null,
        },
      },
    ],
    units: { thousandWebSearches: 35_000_000_000 },
  });

  expect(shown).toEqual({
    source: 'list',
    model: 'gemini-2.5-pro',
    usd_per_million_tokens: { input: 1.25, output: 10, cache_write_1h: 2 },
    tiers: [{ above_input_tokens: 200_000, usd_per_million_tokens: { input: 2.5, output: 15 } }],
    units: { thousand_web_searches: 35 },
  });
});

it('a price of images is shown by size and quality', () => {
  const shown = AppliedPriceDto.from({
    source: 'list',
    model: 'dall-e-3',
    input: 0,
    output: 0,
    units: { images: [{ size: '1024x1024', quality: 'hd', amount: 80_000_000 }] },
    isByUnitOnly: true,
  });

  expect(shown).toEqual({
    source: 'list',
    model: 'dall-e-3',
    usd_per_million_tokens: {},
    images: [{ size: '1024x1024', quality: 'hd', usd: 0.08 }],
  });
});

it('a price of units alone names no price of tokens, and has the minimum charge', () => {
  const shown = AppliedPriceDto.from({
    source: 'list',
    model: 'whisper-large-v3',
    input: 0,
    output: 0,
    units: { audioInputHour: 111_000_000 },
    isByUnitOnly: true,
    leastAudioInputMs: 10_000,
  });

  expect(shown).toEqual({
    source: 'list',
    model: 'whisper-large-v3',
    usd_per_million_tokens: {},
    units: { audio_input_hour: 0.111 },
    least_audio_seconds: 10,
  });
});
