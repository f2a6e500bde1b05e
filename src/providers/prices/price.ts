import type { Price, Rates } from '../../common/contracts/price.js';

export type { Price, PriceTier, Rates, UnitPrices } from '../../common/contracts/price.js';

/** Whether every number of a price can be charged exactly: whole, not negative, and no larger than an exact integer. */
export function isPrice(price: Price): boolean {
  const { tiers = [], units = {}, isByUnitOnly = true, leastAudioInputMs = 0, ...base } = price;
  if (!isByUnitOnly || !isAmount(leastAudioInputMs) || !Object.values(units).every(isAmount)) return false;
  return isRates(base) && tiers.every((tier) => isAmount(tier.aboveInputTokens) && isRates(tier.rates));
}

const isRates = (rates: Rates): boolean =>
  isAmount(rates.input) &&
  isAmount(rates.output) &&
  Object.values(rates).every((rate) => rate === null || isAmount(rate));

const isAmount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
