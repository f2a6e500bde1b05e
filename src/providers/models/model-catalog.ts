import type { ModelEntry } from './model-entry.js';

/** The models that can be requested, at every provider of the catalogue. */
export abstract class ModelCatalog {
  /** Prepares the catalogue without blocking the event loop; null when it is ready. The other methods work without it, in one step. */
  abstract prepare(): Promise<void> | null;
  /** Every model, by provider in the order of the catalogue, then by name. Cheap after the first call. */
  abstract all(): readonly ModelEntry[];
  /** The response that lists them all, as bytes. */
  abstract listed(): Buffer;
}
