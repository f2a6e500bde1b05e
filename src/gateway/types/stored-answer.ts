/**
 * A provider's response in the cache: the head, and the body in its original chunks. Shared by the requests that it serves, and never
 * changed.
 */
export interface StoredResponse {
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly chunks: readonly Buffer[];
  /** When it ended, in milliseconds since the epoch. */
  readonly storedAt: number;
  readonly expiresAt: number;
}

/** A cached response for a request. */
export interface FoundAnswer {
  readonly answer: StoredResponse;
  /** Similarity of the request that it belongs to, 0 to 1; null when that request is equal. */
  readonly score: number | null;
}
