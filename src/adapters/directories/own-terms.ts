import type { Price } from '../../common/contracts/price.js';
import type { VirtualKeySnapshot } from '../../gateway/ports.js';
import { isPrice } from '../../providers/prices/price.js';

interface ModelTerms {
  readonly slug: string;
  readonly is_enabled: boolean;
  readonly price: Price | null;
}

/** What was agreed on apart from the catalogue, as it is stored; null where nothing was. */
export interface OwnTerms {
  /** Whether models of which nothing is said may be used; null without an integration. */
  readonly allows_all_models: boolean | null;
  readonly models: readonly ModelTerms[] | null;
  readonly prices: Readonly<Record<string, Price>> | null;
  readonly organization_prices: Readonly<Record<string, Price>> | null;
}

/** Which models may be used and what they cost. Nothing at all where nothing was agreed on, which is the usual case. */
export function ownTermsOf(terms: OwnTerms): Pick<VirtualKeySnapshot, 'models' | 'prices'> {
  const models = allowedModels(terms);
  const prices = ownPrices(terms);
  return { ...(models ? { models } : {}), ...(prices.size > 0 ? { prices } : {}) };
}

function allowedModels({ allows_all_models: allowsAll, models }: OwnTerms): VirtualKeySnapshot['models'] {
  if (allowsAll === null) return undefined;
  const named = (models ?? []).filter((model) => model.is_enabled !== allowsAll).map(({ slug }) => slug);
  return allowsAll && named.length === 0 ? undefined : { names: new Set(named), areAllowed: !allowsAll };
}

/** The nearer wins: the virtual key's own, then the integration's, then the organization's. */
function ownPrices({ prices, models, organization_prices: general }: OwnTerms): Map<string, Price> {
  const shared = (models ?? []).map(({ slug, price }) => [slug, price] as const);
  const entries = [...Object.entries(general ?? {}), ...shared, ...Object.entries(prices ?? {})];
  return new Map(entries.filter((entry): entry is [string, Price] => entry[1] !== null && isPrice(entry[1])));
}
