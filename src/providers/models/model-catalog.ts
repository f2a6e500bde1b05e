import type { ModelEntry } from './model-entry.js';

/** The models that can be asked for, at every provider of the catalogue. */
export abstract class ModelCatalog {
  /** Every model, by provider in the order of the catalogue, then by name. Cheap but for the first time. */
  abstract all(): readonly ModelEntry[];
  /** The answer that lists them all, as bytes. */
  abstract listed(): Buffer;
}
