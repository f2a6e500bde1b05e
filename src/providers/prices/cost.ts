import type { Usage } from '../../common/contracts/request-log.js';
import type { Price, Rates, UnitPrices } from './price.js';

const TOKENS_PER_PRICE = 1_000_000;
const HALF = TOKENS_PER_PRICE / 2;
const PER_THOUSAND = 1_000;
const MS_PER_HOUR = 3_600_000;

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
  const sum = new Sum();
  addParts(usage, price, rates, sum);
  // A sum of whole products that stays below 2^53 was computed without rounding.
  if (sum.total <= Number.MAX_SAFE_INTEGER)
    return (sum.total - (sum.total % TOKENS_PER_PRICE)) / TOKENS_PER_PRICE;
  const exact = new ExactSum();
  addParts(usage, price, rates, exact);
  return exact.nanoDollars;
}

/** Adds up so many, at so much for a million of them. */
interface Parts {
  add(count: number, rate: number): void;
}

/** In plain numbers, because nearly every request is small and each of them is priced. */
class Sum implements Parts {
  total = HALF;

  add(count: number, rate: number): void {
    this.total += count * rate;
  }
}

class ExactSum implements Parts {
  private total = BigInt(HALF);

  add(count: number, rate: number): void {
    this.total += BigInt(count) * BigInt(rate);
  }

  get nanoDollars(): number {
    const nano = this.total / BigInt(TOKENS_PER_PRICE);
    return nano > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(nano);
  }
}

/** Whether all that was used has a price of its own, or is part of something that has. */
function isCovered(usage: Usage, price: Price, rates: Rates): boolean {
  if (price.isByUnitOnly && isTokensOnly(usage)) return false;
  return has(usage.cache_write_1h_tokens, rates.cacheWrite1h) && areUnitsCovered(usage, price.units);
}

function areUnitsCovered(usage: Usage, units: UnitPrices = {}): boolean {
  const { thousandRequests } = units;
  return (
    has(usage.web_searches, units.thousandWebSearches ?? thousandRequests) &&
    has(usage.file_searches, units.thousandFileSearches) &&
    has(usage.citation_tokens, units.millionCitationTokens ?? thousandRequests) &&
    has(usage.audio_input_ms, units.audioInputHour) &&
    has(rest(usage.document_pages, usage.annotated_pages), units.thousandDocumentPages) &&
    has(usage.annotated_pages, units.thousandAnnotatedPages) &&
    !hasNewUnits(usage)
  );
}

const hasNewUnits = ({ input_characters, audio_output_ms, image_count }: Usage): boolean =>
  [input_characters, audio_output_ms, image_count].some(Boolean);

/** Where sound or pages are charged, tokens that are told beside them are part of their price. */
const isTokensOnly = ({ input_tokens, output_tokens, audio_input_ms, document_pages }: Usage): boolean =>
  input_tokens + output_tokens > 0 && !audio_input_ms && !document_pages;

/** Nothing was used, or it has a price. */
const has = (count: unknown, price: unknown): boolean => !count || typeof price === 'number';

function addParts(usage: Usage, price: Price, rates: Rates, sum: Parts): void {
  addInput(usage, rates, sum);
  addOutput(usage, rates, sum);
  if (!price.units) return;
  addUnits(usage, price.units, sum);
  const hour = price.units.audioInputHour ?? 0;
  const audio = Math.round((chargedSound(usage, price) * hour) / MS_PER_HOUR);
  sum.add(1, audio * TOKENS_PER_PRICE);
}

function addUnits(usage: Usage, units: UnitPrices, sum: Parts): void {
  const annotated = whole(usage.annotated_pages);
  sum.add(1, (units.thousandRequests ?? 0) * PER_THOUSAND);
  sum.add(whole(usage.web_searches), (units.thousandWebSearches ?? 0) * PER_THOUSAND);
  sum.add(whole(usage.file_searches), (units.thousandFileSearches ?? 0) * PER_THOUSAND);
  sum.add(whole(usage.citation_tokens), units.millionCitationTokens ?? 0);
  sum.add(rest(usage.document_pages, annotated), (units.thousandDocumentPages ?? 0) * PER_THOUSAND);
  sum.add(annotated, (units.thousandAnnotatedPages ?? 0) * PER_THOUSAND);
}

/** Milliseconds. */
function chargedSound({ audio_input_ms }: Usage, { leastAudioInputMs = 0 }: Price): number {
  const heard = whole(audio_input_ms);
  return heard === 0 ? 0 : Math.max(heard, leastAudioInputMs);
}

function ratesFor(usage: Usage, price: Price): Rates {
  let rates: Rates = price;
  for (const tier of price.tiers ?? []) if (usage.input_tokens > tier.aboveInputTokens) rates = tier.rates;
  return rates;
}

/**
 * Splits the total into kinds that do not overlap, so that no token is charged twice. Where finer counts add
 * up to more than their total (cached audio is reported as both), the ones named first are believed.
 */
function addInput(usage: Usage, rates: Rates, sum: Parts): void {
  const input = new Remainder(usage.input_tokens);
  const { cached_audio_input_tokens: cachedAudio, cached_image_input_tokens: cachedImage } = usage;
  addCached(usage, rates, input, sum);
  sum.add(input.take(rest(usage.audio_input_tokens, cachedAudio)), rates.audioInput ?? rates.input);
  sum.add(input.take(rest(usage.image_input_tokens, cachedImage)), rates.imageInput ?? rates.input);
  sum.add(input.take(usage.video_input_tokens), rates.videoInput ?? rates.input);
  sum.add(input.tokens, rates.input);
}

/** What came from the cache, by what it is, and what went there, by how long it is kept. */
function addCached(usage: Usage, rates: Rates, input: Remainder, sum: Parts): void {
  const { cached_audio_input_tokens: audio, cached_image_input_tokens: image } = usage;
  const { cache_write_tokens: written, cache_write_1h_tokens: writtenForLong } = usage;
  const cached = rates.cachedInput ?? rates.input;
  sum.add(input.take(audio), rates.cachedAudioInput ?? cached);
  sum.add(input.take(image), rates.cachedImageInput ?? cached);
  sum.add(input.take(rest(rest(usage.cached_input_tokens, audio), image)), cached);
  sum.add(input.take(writtenForLong), rates.cacheWrite1h ?? rates.input);
  sum.add(input.take(rest(written, writtenForLong)), rates.cacheWrite ?? rates.input);
}

function addOutput(usage: Usage, rates: Rates, sum: Parts): void {
  const output = new Remainder(usage.output_tokens);
  sum.add(output.take(usage.audio_output_tokens), rates.audioOutput ?? rates.output);
  sum.add(output.take(usage.image_output_tokens), rates.imageOutput ?? rates.output);
  sum.add(output.take(usage.video_output_tokens), rates.videoOutput ?? rates.output);
  sum.add(output.take(usage.reasoning_tokens), rates.reasoningOutput ?? rates.output);
  sum.add(output.tokens, rates.output);
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
