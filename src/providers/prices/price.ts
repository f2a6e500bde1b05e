import type { ImagePrice, Price, Rates, UnitPrices } from '../../common/contracts/price.js';

export type { ImagePrice, Price, PriceTier, Rates, UnitPrices } from '../../common/contracts/price.js';

/** Whether every number of a price can be charged exactly: whole, not negative, and no larger than an exact integer. */
export function isPrice(price: Price): boolean {
  const { tiers = [], units = {}, isByUnitOnly = true, leastAudioInputMs = 0, ...base } = price;
  if (!isByUnitOnly || !isAmount(leastAudioInputMs) || !isUnits(units)) return false;
  return isRates(base) && tiers.every((tier) => isAmount(tier.aboveInputTokens) && isRates(tier.rates));
}

function isUnits({ images = [], ...units }: UnitPrices): boolean {
  const keys = new Set(images.map(({ size, quality }) => JSON.stringify([size, quality])));
  return keys.size === images.length && images.every(isImagePrice) && Object.values(units).every(isAmount);
}

const isImagePrice = ({ size, quality, amount }: ImagePrice): boolean =>
  isTextOrNull(size) && isTextOrNull(quality) && isAmount(amount);

const isTextOrNull = (value: unknown): boolean =>
  value === null || (typeof value === 'string' && value !== '');

const isRates = (rates: Rates): boolean =>
  isAmount(rates.input) &&
  isAmount(rates.output) &&
  Object.values(rates).every((rate) => rate === null || isAmount(rate));

const isAmount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
