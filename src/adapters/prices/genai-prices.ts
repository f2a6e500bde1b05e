import type { ConditionalPrice, ModelInfo, ModelPrice } from '@pydantic/genai-prices';
import { nanoDollars } from '../../providers/prices/decimal.js';
import {
  isPrice,
  type Price,
  type PriceTier,
  type Rates,
  type UnitPrices,
} from '../../providers/prices/price.js';
import type { PriceSchedule, PriceWindow } from '../../providers/prices/schedule.js';

type PriceEntry = ModelPrice[string];

/** The data's key for each of our rates. */
const KEYS = {
  input: 'input_mtok',
  output: 'output_mtok',
  cachedInput: 'cache_read_mtok',
  cacheWrite: 'cache_write_mtok',
  audioInput: 'input_audio_mtok',
  audioOutput: 'output_audio_mtok',
  reasoningOutput: 'output_reasoning_mtok',
  cacheWrite1h: 'cache_write_1h_mtok',
  cachedAudioInput: 'cache_audio_read_mtok',
  cachedImageInput: 'cache_image_read_mtok',
  imageInput: 'input_image_mtok',
  videoInput: 'input_video_mtok',
  imageOutput: 'output_image_mtok',
  videoOutput: 'output_video_mtok',
} as const satisfies Record<keyof Rates, string>;

/** Kinds that few models price separately; omitted for the others. */
const RARE = [
  'cacheWrite1h',
  'cachedAudioInput',
  'cachedImageInput',
  'imageInput',
  'videoInput',
  'imageOutput',
  'videoOutput',
] as const satisfies readonly (keyof Rates)[];

/** The data's keys for unit prices. */
const UNIT_KEYS = {
  thousandRequests: 'requests_kcount',
  thousandWebSearches: 'web_searches_kcount',
  thousandFileSearches: 'storage_searches_kcount',
  millionCitationTokens: 'output_citation_mtok',
  audioInputHour: 'input_audio_hours',
  thousandDocumentPages: 'input_document_kpages',
  thousandAnnotatedPages: 'input_annotated_document_kpages',
} as const satisfies Partial<Record<keyof UnitPrices, string>>;

/** Converts an entry of the price data to our schedule of integer prices. */
export function scheduleOf(model: ModelInfo): PriceSchedule {
  const listed: ConditionalPrice[] = Array.isArray(model.prices) ? model.prices : [{ prices: model.prices }];
  return listed.map(({ constraint, prices }) => ({ when: whenOf(constraint), price: priceOf(prices) }));
}

/**
 * Null when the data lists no price by the token, the hour or the page: an empty list means that no price was entered, not that the model
 * is free. A model with only an input price (an embedding) has no output tokens.
 */
function priceOf(listed: ModelPrice): Price | null {
  const units = unitsOf(listed);
  if (listed[KEYS.input] === undefined) return isUnitAlone(units) ? byUnitOnly(units) : null;
  const thresholds = [...new Set(Object.values(KEYS).flatMap((key) => startsOf(listed[key])))];
  const tiers = thresholds
    .sort((a, b) => a - b)
    .map((start): PriceTier => ({ aboveInputTokens: start, rates: ratesAbove(listed, start) }));
  const price: Price = {
    ...ratesAbove(listed, null),
    ...(tiers.length > 0 ? { tiers } : {}),
    ...(Object.keys(units).length > 0 ? { units } : {}),
  };
  return isPrice(price) ? price : null;
}

/** For a transcription or document model, the price by the hour or the page is the whole price. */
const isUnitAlone = ({ audioInputHour, thousandDocumentPages }: UnitPrices): boolean =>
  audioInputHour !== undefined || thousandDocumentPages !== undefined;

function unitsOf(listed: ModelPrice): UnitPrices {
  const found = Object.entries(UNIT_KEYS).flatMap(([unit, key]) => {
    const value = listed[key];
    return value === undefined ? [] : [[unit, nanoOrNaN(amountAbove(value, null))] as const];
  });
  return Object.fromEntries(found);
}

function byUnitOnly(units: UnitPrices): Price | null {
  const free = {
    input: 0,
    output: 0,
    cachedInput: null,
    cacheWrite: null,
    audioInput: null,
    audioOutput: null,
  };
  const price: Price = { ...free, units, isByUnitOnly: true };
  return isPrice(price) ? price : null;
}

/** The rates of a request whose input is longer than `start`; null for a request below every threshold. */
function ratesAbove(listed: ModelPrice, start: number | null): Rates {
  const rate = (kind: keyof Rates): number | null => {
    const value = listed[KEYS[kind]];
    return value === undefined ? null : nanoOrNaN(amountAbove(value, start));
  };
  return {
    input: rate('input') ?? Number.NaN,
    output: rate('output') ?? 0,
    cachedInput: rate('cachedInput'),
    cacheWrite: rate('cacheWrite'),
    audioInput: rate('audioInput'),
    audioOutput: rate('audioOutput'),
    reasoningOutput: rate('reasoningOutput'),
    ...Object.fromEntries(
      RARE.flatMap((kind) => (listed[KEYS[kind]] === undefined ? [] : [[kind, rate(kind)]])),
    ),
  };
}

/** NaN makes the whole price unusable, as it should: an unreadable rate must not become a free one. */
const nanoOrNaN = (dollars: number): number => nanoDollars(dollars) ?? Number.NaN;

function amountAbove(value: NonNullable<PriceEntry>, start: number | null): number {
  if (typeof value === 'number') return value;
  if (start === null) return value.base;
  const reached = value.tiers.filter((tier) => tier.start <= start).sort((a, b) => a.start - b.start);
  return reached.at(-1)?.price ?? value.base;
}

const startsOf = (value: PriceEntry): readonly number[] =>
  typeof value === 'object' ? value.tiers.map((tier) => tier.start) : [];

function whenOf(constraint: ConditionalPrice['constraint']): PriceWindow {
  switch (constraint?.type) {
    case undefined:
      return { kind: 'always' };
    case 'start_date':
      return { kind: 'from', startsAt: Date.parse(constraint.start_date) };
    case 'time_of_date':
      return { kind: 'daily', opensAt: timeOf(constraint.start_time), closesAt: timeOf(constraint.end_time) };
  }
}

/** Milliseconds after midnight UTC of `16:30:00Z` or `16:30:00+08:00`. */
const timeOf = (time: string): number => Date.parse(`1970-01-02T${time}`) % 86_400_000;
