import type { Principal } from './principal.js';

/** A key as the directory knows it. */
export interface KnownKey {
  readonly principal: Principal;
  /** Milliseconds since the epoch, or null when the secret presented does not expire. */
  readonly expiresAt: number | null;
}

/**
 * Finds who a presented API key belongs to, from memory where possible.
 *
 * Answers null for a key that is unknown or revoked, and rejects with
 * `auth_unavailable` when the store is away and the key is not known.
 */
export abstract class ApiKeyDirectory {
  /** `secret` is a well-formed key. Returns without a promise when the answer is in memory. */
  abstract find(secret: string): KnownKey | null | Promise<KnownKey | null>;
}
