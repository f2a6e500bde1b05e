import type { Usage } from '../../common/contracts/request-log.js';
import type { Price, Rates, UnitPrices } from './price.js';

const TOKENS_PER_PRICE = 1_000_000;
const HALF = TOKENS_PER_PRICE / 2;

/**
 * What a usage costs, in whole nano-dollars; null where it has something that the price does not name.
 *
 * The sum over all kinds of tokens is exact and is rounded once, at the end, half up. The result is never
 * negative and never above `Number.MAX_SAFE_INTEGER` (nine million dollars). Token counts that are not whole
 * numbers of zero or more count as zero. The price must satisfy `isPrice`.
 */
export function costOf(usage: Usage, price: Price): number | null {
  const rates = ratesFor(usage, price);
  if (!isCovered(usage, price, rates)) return null;
  const parts = [...partsOf(usage, rates), ...unitsOf(usage, price.units ?? {})];
  let total = HALF;
  for (const [tokens, rate] of parts) total += tokens * rate;
  // A sum of whole products that stays below 2^53 was computed without rounding.
  if (total <= Number.MAX_SAFE_INTEGER) return (total - (total % TOKENS_PER_PRICE)) / TOKENS_PER_PRICE;
  return exactly(parts);
}

/** Whether all that was used has a price of its own, or is part of something that has. */
function isCovered(usage: Usage, { units = {}, isByUnitOnly }: Price, rates: Rates): boolean {
  if (isByUnitOnly && usage.input_tokens + usage.output_tokens > 0) return false;
  const { thousandRequests } = units;
  const used: readonly (readonly [count: unknown, price: unknown])[] = [
    [usage.cache_write_1h_tokens, rates.cacheWrite1h],
    [usage.web_searches, units.thousandWebSearches ?? thousandRequests],
    [usage.file_searches, units.thousandFileSearches],
    [usage.citation_tokens, units.millionCitationTokens ?? thousandRequests],
    [usage.audio_input_ms, units.audioInputHour],
  ];
  return used.every(([count, price]) => !count || typeof price === 'number');
}

const PER_THOUSAND = 1_000;
const MS_PER_HOUR = 3_600_000;

/** Units as parts: so many, at so much for a million of them. */
function unitsOf(usage: Usage, units: UnitPrices): readonly Part[] {
  return [
    [1, (units.thousandRequests ?? 0) * PER_THOUSAND],
    [whole(usage.web_searches), (units.thousandWebSearches ?? 0) * PER_THOUSAND],
    [whole(usage.file_searches), (units.thousandFileSearches ?? 0) * PER_THOUSAND],
    [whole(usage.citation_tokens), units.millionCitationTokens ?? 0],
    [
      1,
      Math.round((whole(usage.audio_input_ms) * (units.audioInputHour ?? 0)) / MS_PER_HOUR) *
        TOKENS_PER_PRICE,
    ],
  ];
}

type Part = readonly [tokens: number, rate: number];

function exactly(parts: readonly Part[]): number {
  let total = BigInt(HALF);
  for (const [tokens, rate] of parts) total += BigInt(tokens) * BigInt(rate);
  const nano = total / BigInt(TOKENS_PER_PRICE);
  return nano > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(nano);
}

function ratesFor(usage: Usage, price: Price): Rates {
  let rates: Rates = price;
  for (const tier of price.tiers ?? []) if (usage.input_tokens > tier.aboveInputTokens) rates = tier.rates;
  return rates;
}

/**
 * Splits the totals into kinds that do not overlap, so that no token is charged twice. Where finer counts add
 * up to more than their total (cached audio is reported as both), the ones named first are believed.
 */
function partsOf(usage: Usage, rates: Rates): readonly Part[] {
  const input = new Remainder(usage.input_tokens);
  const output = new Remainder(usage.output_tokens);
  return [
    ...cachedParts(usage, rates, input),
    [
      input.take(rest(usage.audio_input_tokens, usage.cached_audio_input_tokens)),
      rates.audioInput ?? rates.input,
    ],
    [
      input.take(rest(usage.image_input_tokens, usage.cached_image_input_tokens)),
      rates.imageInput ?? rates.input,
    ],
    [input.take(usage.video_input_tokens), rates.videoInput ?? rates.input],
    [input.tokens, rates.input],
    [output.take(usage.audio_output_tokens), rates.audioOutput ?? rates.output],
    [output.take(usage.image_output_tokens), rates.imageOutput ?? rates.output],
    [output.take(usage.video_output_tokens), rates.videoOutput ?? rates.output],
    [output.take(usage.reasoning_tokens), rates.reasoningOutput ?? rates.output],
    [output.tokens, rates.output],
  ];
}

/** What came from the cache, by what it is, and what went there, by how long it is kept. */
function cachedParts(usage: Usage, rates: Rates, input: Remainder): readonly Part[] {
  const { cached_audio_input_tokens: audio, cached_image_input_tokens: image } = usage;
  const cached = rates.cachedInput ?? rates.input;
  return [
    [input.take(audio), rates.cachedAudioInput ?? cached],
    [input.take(image), rates.cachedImageInput ?? cached],
    [input.take(rest(rest(usage.cached_input_tokens, audio), image)), cached],
    [input.take(usage.cache_write_1h_tokens), rates.cacheWrite1h ?? rates.input],
    [
      input.take(rest(usage.cache_write_tokens, usage.cache_write_1h_tokens)),
      rates.cacheWrite ?? rates.input,
    ],
  ];
}

/** What a count has besides a part of it. */
const rest = (total: unknown, part: unknown): number => Math.max(0, whole(total) - whole(part));

/** The tokens of a total that no finer kind has claimed yet. */
class Remainder {
  tokens: number;

  constructor(total: unknown) {
    this.tokens = whole(total);
  }

  take(wanted: unknown): number {
    const taken = Math.min(whole(wanted), this.tokens);
    this.tokens -= taken;
    return taken;
  }
}

const whole = (value: unknown): number =>
  Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : 0;
