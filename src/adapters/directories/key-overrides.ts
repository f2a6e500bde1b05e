import type { Price } from '../../common/contracts/price.js';
import type { VirtualKeySnapshot } from '../../gateway/ports.js';
import { isPrice } from '../../providers/prices/price.js';

interface ModelTerms {
  readonly slug: string;
  readonly is_enabled: boolean;
  readonly price: Price | null;
}

/** Models and prices that differ from the catalogue, as stored; null if there are none. */
export interface KeyOverrides {
  /** Whether models that the integration does not list may be used; null without an integration. */
  readonly allows_all_models: boolean | null;
  readonly models: readonly ModelTerms[] | null;
  readonly prices: Readonly<Record<string, Price>> | null;
  readonly organization_prices: Readonly<Record<string, Price>> | null;
}

/** The models that may be used and their prices. Empty when none are set, which is the usual case. */
export function ownTermsOf(terms: KeyOverrides): Pick<VirtualKeySnapshot, 'models' | 'prices'> {
  const models = allowedModels(terms);
  const prices = ownPrices(terms);
  return { ...(models ? { models } : {}), ...(prices.size > 0 ? { prices } : {}) };
}

function allowedModels({ allows_all_models: allowsAll, models }: KeyOverrides): VirtualKeySnapshot['models'] {
  if (allowsAll === null) return undefined;
  const named = (models ?? []).filter((model) => model.is_enabled !== allowsAll).map(({ slug }) => slug);
  return allowsAll && named.length === 0 ? undefined : { names: new Set(named), areAllowed: !allowsAll };
}

/** The most specific price wins: the virtual key's, then the integration's, then the organization's. */
function ownPrices({ prices, models, organization_prices: general }: KeyOverrides): Map<string, Price> {
  const shared = (models ?? []).map(({ slug, price }) => [slug, price] as const);
  const entries = [...Object.entries(general ?? {}), ...shared, ...Object.entries(prices ?? {})];
  return new Map(entries.filter((entry): entry is [string, Price] => entry[1] !== null && isPrice(entry[1])));
}
