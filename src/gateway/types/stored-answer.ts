/**
 * A provider's answer as the cache keeps it: the head, and the body in the pieces in which it came. Shared by the requests
 * that it answers, and never changed.
 */
export interface StoredAnswer {
  /** Names and values in turn. */
  readonly headers: readonly string[];
  readonly chunks: readonly Buffer[];
  /** When it ended, milliseconds since the epoch. */
  readonly storedAt: number;
  readonly expiresAt: number;
}
