import type { AppliedPrice, Price } from '../../common/contracts/price.js';

/** Prices live long and are few: each is written out once. */
const written = new WeakMap<Price, AppliedPrice>();

/** A price as the record tells it: where it is from, of which model, and what it names. */
export function appliedPrice(price: Price, source: AppliedPrice['source'], model: string): AppliedPrice {
  const known = written.get(price);
  if (known?.source === source && known.model === model) return known;
  const named = Object.entries(price).filter(([, value]) => value !== null);
  const applied = { source, model, ...Object.fromEntries(named) } as AppliedPrice;
  written.set(price, applied);
  return applied;
}
