import { sameModelIn } from '../../common/text/model-name.js';
import type { Usage } from '../../common/contracts/usage.js';
import { costOf } from '../../providers/prices/cost.js';
import type { Estimate } from '../types/estimate.js';
import type { PriceBook } from '../ports.js';
import type { OwnPrices, Target } from '../types/target.js';
import type { AppliedPrice, Price } from '../../common/contracts/price.js';

/** Prices are few and live long: each is written out once. */
const written = new WeakMap<Price, AppliedPrice>();

/** A price as the record shows it: its source, its model, and the rates it has. */
export function appliedPrice(price: Price, source: AppliedPrice['source'], model: string): AppliedPrice {
  const known = written.get(price);
  if (known?.source === source && known.model === model) return known;
  const named = Object.entries(price).filter(([, value]) => value !== null);
  const applied = { source, model, ...Object.fromEntries(named) } as AppliedPrice;
  written.set(price, applied);
  return applied;
}

/** The subject of a price: a model at a target. */
export interface ModelAtTarget {
  readonly target: Target;
  readonly model: string | null;
}

/** A price, and where it was found. */
interface FoundPrice {
  readonly price: Price;
  readonly source: AppliedPrice['source'];
  readonly model: string;
}

/**
 * Prices the model of the response, or else the requested one. A price of the virtual key overrides any list price, whichever of the two
 * names it has.
 */
export function priceFor(
  book: PriceBook,
  responseModel: string | null,
  { target, model }: ModelAtTarget,
): FoundPrice | null {
  const own = target.virtualKey?.prices;
  return (
    (own && (foundIn(own, responseModel, target) ?? foundIn(own, model, target))) ??
    listed(book, target, responseModel) ??
    listed(book, target, model)
  );
}

function foundIn(own: OwnPrices, model: string | null, { provider }: Target): FoundPrice | null {
  const price = model === null ? null : ownPrice(own, model, provider.id);
  return price ? { price, source: 'agreed', model: model as string } : null;
}

/** The own price of a model, whatever its spelling. */
export function ownPrice(own: OwnPrices, model: string, providerId: string): Price | null {
  const name = own.has(model) ? model : sameModelIn(own, model, providerId);
  return (name !== null && own.get(name)) || null;
}

function listed(book: PriceBook, { provider }: Target, model: string | null): FoundPrice | null {
  const price = model === null ? null : book.find(provider.id, model);
  return price && { price, source: 'list', model: model as string };
}

/** The current price of a model at a target; null when it is unknown. */
export function priceOfTarget(
  book: PriceBook,
  { virtualKey, provider }: Target,
  model: string | null,
): Price | null {
  if (model === null) return null;
  const own = virtualKey?.prices && ownPrice(virtualKey.prices, model, provider.id);
  return own ?? book.find(provider.id, model);
}

/** The cost of an attempt in nano-dollars, and the price behind it. */
export interface Bill {
  readonly cost: number | null;
  readonly price: AppliedPrice | null;
}

/** Usage that its price does not cover (a search, a longer cache) is charged the reservation instead of nothing. */
export const coveredCost = (usage: Usage, price: Price, reserved: Estimate | null): number | null =>
  costOf(usage, price) ?? (reserved && reserved.costNanoUsd);

export const UNBILLED: Bill = { cost: null, price: null };
