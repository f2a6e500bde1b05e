import type { Price } from './price.js';

/** The list prices of providers. */
export abstract class PriceBook {
  /** The current price of a model, or null when it is unknown. Cheap enough to call per request. */
  abstract find(providerId: string, model: string): Price | null;
}
