import type { Usage } from '../../common/contracts/usage.js';
import { costOf } from '../../providers/prices/cost.js';
import type { Estimate } from '../limits/estimate.js';
import type { PriceBook } from '../ports.js';
import type { OwnPrices, Target } from '../types/target.js';
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

/** What is priced: a model at a place. */
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
 * The model that answered is priced, or else the one that was requested. A price of the virtual key wins over any list
 * price, whichever of the two names it has.
 */
export function priceFor(
  book: PriceBook,
  responseModel: string | null,
  { target, model }: ModelAtTarget,
): FoundPrice | null {
  const own = target.virtualKey?.prices;
  return (
    (own && (foundIn(own, responseModel) ?? foundIn(own, model))) ??
    listed(book, target, responseModel) ??
    listed(book, target, model)
  );
}

function foundIn(own: OwnPrices, model: string | null): FoundPrice | null {
  const price = model === null ? undefined : own.get(model);
  return price ? { price, source: 'agreed', model: model as string } : null;
}

function listed(book: PriceBook, { provider }: Target, model: string | null): FoundPrice | null {
  const price = model === null ? null : book.find(provider.id, model);
  return price && { price, source: 'list', model: model as string };
}

/** What an attempt costs, nano-dollars, and by which price. */
export interface Bill {
  readonly cost: number | null;
  readonly price: AppliedPrice | null;
}

/** A use that its price does not cover (a search, a longer cache) is charged what was reserved, and not nothing. */
export const coveredCost = (usage: Usage, price: Price, reserved: Estimate | null): number | null =>
  costOf(usage, price) ?? (reserved && reserved.costNanoUsd);

export const UNBILLED: Bill = { cost: null, price: null };
