import type { Usage } from '../../common/contracts/usage.js';
import { HOUR_MS, MILLION, rest, type Summands, THOUSAND, countOrZero } from './exact-sum.js';
import type { ImagePrice, Price, UnitPrices } from './price.js';

/** Selects the price of an image, in nano-dollars; null if none applies. */
export type ImagePriceOf = (usage: Usage, images: readonly ImagePrice[]) => number | null;

/** The price of the usage's own size and quality. A named size beats a named quality, and both beat a wildcard. */
export const exactImagePrice: ImagePriceOf = ({ image_size: size = null, image_quality = null }, images) => {
  const find = (ofSize: string | null, quality: string | null): ImagePrice | undefined =>
    images.find((price) => price.size === ofSize && price.quality === quality);
  const found =
    find(size, image_quality) ?? find(size, null) ?? find(null, image_quality) ?? find(null, null);
  return found?.amount ?? null;
};

/** The highest price that may apply if the size or the quality is unknown. */
export const highestImagePrice: ImagePriceOf = (usage, images) => {
  const { image_size: size = null, image_quality: quality = null } = usage;
  if (size !== null && quality !== null) return exactImagePrice(usage, images);
  const possible = images.filter(
    (price) => isPossible(price.size, size) && isPossible(price.quality, quality),
  );
  return possible.length === 0 ? null : Math.max(...possible.map(({ amount }) => amount));
};

const isPossible = (priced: string | null, used: string | null): boolean =>
  priced === null || used === null || priced === used;

/** Whether every used unit has a price, or is media that is charged by its output tokens. */
export const areUnitsCovered = (usage: Usage, price: Price, imagePriceOf: ImagePriceOf): boolean =>
  areSearchesCovered(usage, price) &&
  areDocumentsCovered(usage, price) &&
  (isMediaByTokens(usage, price) || isMediaCovered(usage, price.units ?? {}, imagePriceOf));

function areSearchesCovered(usage: Usage, { units = {} }: Price): boolean {
  const { thousandRequests } = units;
  return (
    has(usage.web_searches, units.thousandWebSearches ?? thousandRequests) &&
    has(usage.file_searches, units.thousandFileSearches) &&
    has(usage.citation_tokens, units.millionCitationTokens ?? thousandRequests) &&
    has(usage.search_units, units.thousandSearchUnits ?? thousandRequests)
  );
}

const areDocumentsCovered = (usage: Usage, { units = {} }: Price): boolean =>
  has(usage.audio_input_ms, units.audioInputHour) &&
  has(rest(usage.document_pages, usage.annotated_pages), units.thousandDocumentPages) &&
  has(usage.annotated_pages, units.thousandAnnotatedPages);

/**
 * Speech may be billed by its input characters or by its duration, so a price of either covers both. A price per request covers everything.
 */
function isMediaCovered(usage: Usage, units: UnitPrices, imagePriceOf: ImagePriceOf): boolean {
  if (units.thousandRequests !== undefined) return true;
  const isSpeech = Boolean(usage.input_characters) || Boolean(usage.audio_output_ms);
  return (
    (!isSpeech || isSpeechCovered(usage, units)) &&
    has(usage.video_output_ms, units.videoOutputSecond) &&
    (!usage.image_count || imagePriceOf(usage, units.images ?? []) !== null)
  );
}

/** Every speech unit with a price must be in the usage, and at least one unit must have a price. */
function isSpeechCovered(
  usage: Usage,
  { millionInputCharacters: text, audioOutputHour: audio }: UnitPrices,
): boolean {
  if (text === undefined && audio === undefined) return false;
  return (
    (text === undefined || usage.input_characters !== undefined) &&
    (audio === undefined || usage.audio_output_ms !== undefined)
  );
}

/** Whether nothing was used, or it has a price. */
export const has = (count: unknown, price: unknown): boolean => !count || typeof price === 'number';

/** Output tokens are the media itself in another unit: charging both would charge it twice. */
const isMediaByTokens = ({ output_tokens }: Usage, { isByUnitOnly }: Price): boolean =>
  !isByUnitOnly && countOrZero(output_tokens) > 0;

/** Whether the usage has units that include the tokens reported beside them. */
export const hasBillableUnits = (usage: Usage): boolean =>
  Boolean(
    usage.audio_input_ms ||
    usage.document_pages ||
    usage.search_units ||
    usage.input_characters ||
    usage.audio_output_ms ||
    usage.video_output_ms ||
    usage.image_count,
  );

/** If true, only the exact sum may be used, because only it supports hours. */
export const isByTheHour = ({ audio_input_ms, audio_output_ms }: Usage, { units }: Price): boolean =>
  Boolean((audio_input_ms && units?.audioInputHour) || (audio_output_ms && units?.audioOutputHour));

export function addUnits(usage: Usage, price: Price, imagePriceOf: ImagePriceOf, sum: Summands): void {
  const { units } = price;
  if (!units) return;
  const annotated = countOrZero(usage.annotated_pages);
  sum.add(1, units.thousandRequests ?? 0, THOUSAND);
  sum.add(countOrZero(usage.web_searches), units.thousandWebSearches ?? 0, THOUSAND);
  sum.add(countOrZero(usage.file_searches), units.thousandFileSearches ?? 0, THOUSAND);
  sum.add(countOrZero(usage.citation_tokens), units.millionCitationTokens ?? 0, MILLION);
  sum.add(rest(usage.document_pages, annotated), units.thousandDocumentPages ?? 0, THOUSAND);
  sum.add(annotated, units.thousandAnnotatedPages ?? 0, THOUSAND);
  sum.add(countOrZero(usage.search_units), units.thousandSearchUnits ?? 0, THOUSAND);
  addHours(chargedAudio(usage, price), units.audioInputHour, sum);
  if (!isMediaByTokens(usage, price)) addMedia(usage, units, imagePriceOf, sum);
}

function addMedia(usage: Usage, units: UnitPrices, imagePriceOf: ImagePriceOf, sum: Summands): void {
  sum.add(countOrZero(usage.input_characters), units.millionInputCharacters ?? 0, MILLION);
  addHours(countOrZero(usage.audio_output_ms), units.audioOutputHour, sum);
  sum.add(countOrZero(usage.video_output_ms), units.videoOutputSecond ?? 0, THOUSAND);
  const images = countOrZero(usage.image_count);
  if (images > 0) sum.add(images, imagePriceOf(usage, units.images ?? []) ?? 0, 1);
}

function addHours(milliseconds: number, hour: number | undefined, sum: Summands): void {
  if (hour) sum.add(milliseconds, hour, HOUR_MS);
}

/** Milliseconds. */
function chargedAudio({ audio_input_ms }: Usage, { leastAudioInputMs = 0 }: Price): number {
  const used = countOrZero(audio_input_ms);
  return used === 0 ? 0 : Math.max(used, leastAudioInputMs);
}
