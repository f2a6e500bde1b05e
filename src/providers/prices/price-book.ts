import type { Price } from './price.js';

/** The list prices of providers. */
export abstract class PriceBook {
  /** The price in force for a model, or null when it is unknown. Cheap enough to ask per request. */
  abstract find(providerId: string, model: string): Price | null;
}
