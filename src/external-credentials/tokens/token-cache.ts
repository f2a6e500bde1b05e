import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { AppError } from '../../common/errors/app-error.js';

/** A value from a token service, and when it expires: milliseconds since the epoch. */
export interface Token<Value> {
  readonly value: Value;
  readonly expiresAt: number;
}

interface TokenCacheEntry<Value> {
  token: (Token<Value> & { readonly refreshAt: number }) | null;
  /** The one running request. */
  pending: Promise<Value> | null;
  failure: { readonly error: AppError; readonly until: number } | null;
}

/** How long before it expires a token is replaced. */
const REFRESH_BEFORE_MS = 5 * 60_000;
/** A token is not used in its last moments: it could expire on the way. */
const UNUSED_BEFORE_END_MS = 10_000;
/** How long a failure is cached, so that a wrong credential does not cause a flood of calls to the token service. */
const FAILURE_MS = 5_000;
const ENTRIES_MAX = 2_000;

/**
 * Tokens by the id of their credential. A token close to its expiry is replaced in the background, while requests use the old one; only the
 * first request of a credential waits. There is never more than one running call per credential.
 */
export class TokenCache<Value> {
  private readonly entries = new LRUCache<string, TokenCacheEntry<Value>>({ max: ENTRIES_MAX });

  constructor(private readonly now: () => number = Date.now) {}

  /** `fetch` must reject with an AppError; its failure is cached for a few seconds and thrown again. */
  get(id: string, fetch: () => Promise<Token<Value>>): Value | Promise<Value> {
    const entry = this.entryOf(id);
    const now = this.now();
    const { token } = entry;
    if (token && now < token.refreshAt) return token.value;
    const isBlocked = entry.failure !== null && now < entry.failure.until;
    if (token && now < token.expiresAt - UNUSED_BEFORE_END_MS) {
      if (!entry.pending && !isBlocked) this.start(entry, fetch).catch(() => undefined);
      return token.value;
    }
    if (entry.pending) return entry.pending;
    if (isBlocked) throw (entry.failure as { error: AppError }).error;
    return this.start(entry, fetch);
  }

  /** Drops the token, so that the next `get` fetches another one. */
  forget(id: string): void {
    this.entries.delete(id);
  }

  private start(entry: TokenCacheEntry<Value>, fetch: () => Promise<Token<Value>>): Promise<Value> {
    entry.pending = this.refresh(entry, fetch);
    return entry.pending;
  }

  private async refresh(entry: TokenCacheEntry<Value>, fetch: () => Promise<Token<Value>>): Promise<Value> {
    try {
      const token = await Promise.resolve().then(fetch);
      entry.token = { ...token, refreshAt: this.refreshAt(token.expiresAt) };
      entry.failure = null;
      return token.value;
    } catch (thrown) {
      const error = AppError.from(thrown);
      entry.failure = { error, until: this.now() + FAILURE_MS };
      throw error;
    } finally {
      entry.pending = null;
    }
  }

  /** Five minutes before it expires, or halfway through the life of a token with less than ten. */
  private refreshAt(expiresAt: number): number {
    const now = this.now();
    return Math.max(expiresAt - REFRESH_BEFORE_MS, now + (expiresAt - now) / 2);
  }

  private entryOf(id: string): TokenCacheEntry<Value> {
    const known = this.entries.get(id);
    if (known) return known;
    const entry = { token: null, pending: null, failure: null };
    this.entries.set(id, entry);
    return entry;
  }
}

/** An id that distinguishes credentials without storing them: a different secret gives a different token. */
export function credentialId(...parts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:${part}`);
  return hash.digest('base64');
}
