import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { AppError } from '../../../common/errors/app-error.js';

/** Something that a token service gave out, and until when it counts: milliseconds since the epoch. */
export interface Token<Value> {
  readonly value: Value;
  readonly expiresAt: number;
}

interface Entry<Value> {
  token: (Token<Value> & { readonly refreshAt: number }) | null;
  /** The one request that is under way. */
  pending: Promise<Value> | null;
  failure: { readonly error: AppError; readonly until: number } | null;
}

/** How long before its end a token is replaced. */
const REFRESH_BEFORE_MS = 5 * 60_000;
/** A token is not used in its last moments: it could end on the way. */
const UNUSED_BEFORE_END_MS = 10_000;
/** How long a failure answers for the token service, so that a wrong credential does not become a flood of calls. */
const FAILURE_MS = 5_000;
const ENTRIES_MAX = 2_000;

/**
 * Tokens by what they were bought with. A token that nears its end is replaced beside the requests, which go on with
 * the old one; only the first request of a credential waits. There is never more than one call per credential under way.
 */
export class TokenCache<Value> {
  private readonly entries = new LRUCache<string, Entry<Value>>({ max: ENTRIES_MAX });

  constructor(private readonly now: () => number = Date.now) {}

  /** `fetch` must reject with an AppError; its failure is remembered for a few seconds and thrown again. */
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

  private start(entry: Entry<Value>, fetch: () => Promise<Token<Value>>): Promise<Value> {
    entry.pending = this.refresh(entry, fetch);
    return entry.pending;
  }

  private async refresh(entry: Entry<Value>, fetch: () => Promise<Token<Value>>): Promise<Value> {
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

  /** Five minutes before the end, or halfway through a token that lives for less than ten. */
  private refreshAt(expiresAt: number): number {
    const now = this.now();
    return Math.max(expiresAt - REFRESH_BEFORE_MS, now + (expiresAt - now) / 2);
  }

  private entryOf(id: string): Entry<Value> {
    const found = this.entries.get(id);
    if (found) return found;
    const entry = { token: null, pending: null, failure: null };
    this.entries.set(id, entry);
    return entry;
  }
}

/** An id that tells credentials apart without keeping them: whoever has not the very same secret gets another token. */
export function credentialId(...parts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:${part}`);
  return hash.digest('base64');
}
