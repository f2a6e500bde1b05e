import type { Usage } from '../../common/contracts/usage.js';
import { ExactSum, MILLION, PlainSum, rest, type Summands, countOrZero } from './exact-sum.js';
import type { Price, Rates } from './price.js';
import {
  addUnits,
  areUnitsCovered,
  exactImagePrice,
  has,
  hasBillableUnits,
  highestImagePrice,
  type ImagePriceOf,
  isByTheHour,
} from './unit-cost.js';

/**
 * The cost of a usage, in whole nano-dollars; null if it has a kind that the price does not cover.
 *
 * The sum over all tokens and units is exact and is rounded once, at the end, half up. The result is never negative and never above
 * `Number.MAX_SAFE_INTEGER` (nine million dollars). Counts that are not whole numbers of zero or more count as zero. The price must satisfy
 * `isPrice`.
 */
export const costOf = (usage: Usage, price: Price): number | null => costBy(usage, price, exactImagePrice);

/**
 * The maximum cost of a usage, for a reservation: like `costOf`, but images of unknown size or quality have the highest price that may
 * apply to them. Null if `costOf` is null for another reason.
 */
export const highestCostOf = (usage: Usage, price: Price): number | null =>
  costBy(usage, price, highestImagePrice);

function costBy(usage: Usage, price: Price, imagePriceOf: ImagePriceOf): number | null {
  const rates = ratesFor(usage, price);
  if (!isCovered(usage, price, rates) || !areUnitsCovered(usage, price, imagePriceOf)) return null;
  const addParts = (sum: Summands): void => {
    addInput(usage, rates, sum);
    addOutput(usage, rates, sum);
    addUnits(usage, price, imagePriceOf, sum);
  };
  if (!isByTheHour(usage, price)) {
    const plain = new PlainSum();
    addParts(plain);
    if (plain.nanoDollars !== null) return plain.nanoDollars;
  }
  const exact = new ExactSum();
  addParts(exact);
  return exact.nanoDollars;
}

/** Whether all used tokens have a price of their own, or are part of a kind that has one. */
const isCovered = (usage: Usage, price: Price, rates: Rates): boolean =>
  has(usage.cache_write_1h_tokens, rates.cacheWrite1h) &&
  !(price.isByUnitOnly && usage.input_tokens + usage.output_tokens > 0 && !hasBillableUnits(usage));

function ratesFor(usage: Usage, price: Price): Rates {
  let rates: Rates = price;
  for (const tier of price.tiers ?? []) if (usage.input_tokens > tier.aboveInputTokens) rates = tier.rates;
  return rates;
}

/**
 * Splits the total into kinds that do not overlap, so that no token is charged twice. If finer counts exceed their total (cached audio is
 * reported as both), the first ones take precedence.
 */
function addInput(usage: Usage, rates: Rates, sum: Summands): void {
  const input = new Remainder(usage.input_tokens);
  const { cached_audio_input_tokens: cachedAudio, cached_image_input_tokens: cachedImage } = usage;
  addCached(usage, rates, input, sum);
  sum.add(input.take(rest(usage.audio_input_tokens, cachedAudio)), rates.audioInput ?? rates.input, MILLION);
  sum.add(input.take(rest(usage.image_input_tokens, cachedImage)), rates.imageInput ?? rates.input, MILLION);
  sum.add(input.take(usage.video_input_tokens), rates.videoInput ?? rates.input, MILLION);
  sum.add(input.tokens, rates.input, MILLION);
}

/** Cache reads by modality, and cache writes by how long they are kept. */
function addCached(usage: Usage, rates: Rates, input: Remainder, sum: Summands): void {
  const { cached_audio_input_tokens: audio, cached_image_input_tokens: image } = usage;
  const { cache_write_tokens: written, cache_write_1h_tokens: writtenForLong } = usage;
  const cached = rates.cachedInput ?? rates.input;
  sum.add(input.take(audio), rates.cachedAudioInput ?? cached, MILLION);
  sum.add(input.take(image), rates.cachedImageInput ?? cached, MILLION);
  sum.add(input.take(rest(rest(usage.cached_input_tokens, audio), image)), cached, MILLION);
  sum.add(input.take(writtenForLong), rates.cacheWrite1h ?? rates.input, MILLION);
  sum.add(input.take(rest(written, writtenForLong)), rates.cacheWrite ?? rates.input, MILLION);
}

function addOutput(usage: Usage, rates: Rates, sum: Summands): void {
  const output = new Remainder(usage.output_tokens);
  sum.add(output.take(usage.audio_output_tokens), rates.audioOutput ?? rates.output, MILLION);
  sum.add(output.take(usage.image_output_tokens), rates.imageOutput ?? rates.output, MILLION);
  sum.add(output.take(usage.video_output_tokens), rates.videoOutput ?? rates.output, MILLION);
  sum.add(output.take(usage.reasoning_tokens), rates.reasoningOutput ?? rates.output, MILLION);
  sum.add(output.tokens, rates.output, MILLION);
}

/** The tokens of a total that no finer kind has used yet. */
class Remainder {
  tokens: number;

  constructor(total: unknown) {
    this.tokens = countOrZero(total);
  }

  take(count: unknown): number {
    const taken = Math.min(countOrZero(count), this.tokens);
    this.tokens -= taken;
    return taken;
  }
}
