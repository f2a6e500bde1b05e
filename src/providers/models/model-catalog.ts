import type { ModelEntry } from './model-entry.js';

/** The models that can be asked for, at every provider of the catalogue. */
export abstract class ModelCatalog {
  /** Makes it ready without holding up the event loop; null when it is ready. The rest works without, in one go. */
  abstract prepare(): Promise<void> | null;
  /** Every model, by provider in the order of the catalogue, then by name. Cheap but for the first time. */
  abstract all(): readonly ModelEntry[];
  /** The answer that lists them all, as bytes. */
  abstract listed(): Buffer;
}
