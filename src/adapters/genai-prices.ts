import type { ConditionalPrice, ModelInfo, ModelPrice } from '@pydantic/genai-prices';
import { nanoDollars } from '../providers/prices/decimal.js';
import { isPrice, type Price, type PriceTier, type Rates } from '../providers/prices/price.js';
import type { PriceSchedule, When } from '../providers/prices/schedule.js';

type Listed = ModelPrice[string];

/** Where each of our rates stands in the data. Kinds that are not listed here are not charged by the token. */
const KEYS = {
  input: 'input_mtok',
  output: 'output_mtok',
  cachedInput: 'cache_read_mtok',
  cacheWrite: 'cache_write_mtok',
  audioInput: 'input_audio_mtok',
  audioOutput: 'output_audio_mtok',
  reasoningOutput: 'output_reasoning_mtok',
} as const satisfies Record<keyof Rates, string>;

/** Turns an entry of the price data into our schedule of integer prices. */
export function scheduleOf(model: ModelInfo): PriceSchedule {
  const listed: ConditionalPrice[] = Array.isArray(model.prices) ? model.prices : [{ prices: model.prices }];
  return listed.map(({ constraint, prices }) => ({ when: whenOf(constraint), price: priceOf(prices) }));
}

/**
 * Null when the data lists no price by the token: an empty list says that nobody entered a price, not that the
 * model is free. A model with a price for input alone (an embedding) puts out no tokens.
 */
function priceOf(listed: ModelPrice): Price | null {
  if (listed[KEYS.input] === undefined) return null;
  const thresholds = [...new Set(Object.values(KEYS).flatMap((key) => startsOf(listed[key])))];
  const tiers = thresholds
    .sort((a, b) => a - b)
    .map((start): PriceTier => ({ aboveInputTokens: start, rates: ratesAbove(listed, start) }));
  const price: Price = tiers.length > 0 ? { ...ratesAbove(listed, null), tiers } : ratesAbove(listed, null);
  return isPrice(price) ? price : null;
}

/** The rates of a request whose input is longer than `start`; null for one below every threshold. */
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
  };
}

/** NaN makes the whole price unusable, which is right: a rate that cannot be read must not become a free one. */
const nanoOrNaN = (dollars: number): number => nanoDollars(dollars) ?? Number.NaN;

function amountAbove(value: NonNullable<Listed>, start: number | null): number {
  if (typeof value === 'number') return value;
  if (start === null) return value.base;
  const reached = value.tiers.filter((tier) => tier.start <= start).sort((a, b) => a.start - b.start);
  return reached.at(-1)?.price ?? value.base;
}

const startsOf = (value: Listed): readonly number[] =>
  typeof value === 'object' ? value.tiers.map((tier) => tier.start) : [];

function whenOf(constraint: ConditionalPrice['constraint']): When {
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
