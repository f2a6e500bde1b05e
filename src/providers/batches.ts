import type { Json } from './endpoint.js';

/** Where a provider stores a batch and its output. Paths are below its base URL. */
export interface Batches {
  /** The path of a batch, whose id is the client's. */
  pathOf(id: string): string;
  /** The path of a batch's output, according to the batch; null while there is none. */
  outputOf(batch: Json, id: string): string | null;
}

/** A file whose id the provider reported, as one path segment that cannot be read as "..". */
export function fileContentPath(id: unknown): string | null {
  const isId = typeof id === 'string' && /^(?=.*[A-Za-z0-9])[A-Za-z0-9._-]{1,200}$/.test(id);
  return isId ? `/files/${id}/content` : null;
}
