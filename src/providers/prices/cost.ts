import type { Usage } from '../../common/contracts/request-log.js';
import type { Price, Rates } from './price.js';

const TOKENS_PER_PRICE = 1_000_000;
const HALF = TOKENS_PER_PRICE / 2;

/**
 * What a usage costs, in whole nano-dollars.
 *
 * The sum over all kinds of tokens is exact and is rounded once, at the end, half up. The result is never
 * negative and never above `Number.MAX_SAFE_INTEGER` (nine million dollars). Token counts that are not whole
 * numbers of zero or more count as zero. The price must satisfy `isPrice`.
 */
export function costOf(usage: Usage, price: Price): number {
  const parts = partsOf(usage, ratesFor(usage, price));
  let total = HALF;
  for (const [tokens, rate] of parts) total += tokens * rate;
  // A sum of whole products that stays below 2^53 was computed without rounding.
  if (total <= Number.MAX_SAFE_INTEGER) return (total - (total % TOKENS_PER_PRICE)) / TOKENS_PER_PRICE;
  return exactly(parts);
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
    [input.take(usage.cached_input_tokens), rates.cachedInput ?? rates.input],
    [input.take(usage.cache_write_tokens), rates.cacheWrite ?? rates.input],
    [input.take(usage.audio_input_tokens), rates.audioInput ?? rates.input],
    [input.tokens, rates.input],
    [output.take(usage.audio_output_tokens), rates.audioOutput ?? rates.output],
    [output.take(usage.reasoning_tokens), rates.reasoningOutput ?? rates.output],
    [output.tokens, rates.output],
  ];
}

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
