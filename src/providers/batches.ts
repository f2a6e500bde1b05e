import type { Json } from './endpoint.js';

/** Where a provider keeps a batch and its answers. Paths are below its base URL. */
export interface Batches {
  /** The batch of an id, as the client sent it. */
  pathOf(id: string): string;
  /** The answers of a batch, by what the batch says of itself; null while there are none. */
  outputOf(batch: Json, id: string): string | null;
}

/** A file whose id the provider reported: one segment that no reader could take for "up". */
export function fileContent(id: unknown): string | null {
  const isId = typeof id === 'string' && /^(?=.*[A-Za-z0-9])[A-Za-z0-9._-]{1,200}$/.test(id);
  return isId ? `/files/${id}/content` : null;
}
