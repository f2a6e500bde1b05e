import { LRUCache } from 'lru-cache';

/** Failures from one address within a second before it gets a 429. */
const FAILURES_PER_SECOND = 50;
const WINDOW_MS = 1_000;
const ADDRESSES_MAX = 10_000;

interface Window {
  readonly startedAt: number;
  failures: number;
}

/**
 * Counts failed identifications by address, so that guessing is slow and causes no further work. Only failures are limited: a valid key
 * from a busy address continues to work.
 */
export class FailedAttempts {
  private readonly windows = new LRUCache<string, Window>({ max: ADDRESSES_MAX });

  /** Records a failure; true when the address has had too many of them. */
  record(address: string, now: number): boolean {
    const window = this.windows.get(address);
    if (window && now - window.startedAt < WINDOW_MS) return ++window.failures > FAILURES_PER_SECOND;
    this.windows.set(address, { startedAt: now, failures: 1 });
    return false;
  }
}
