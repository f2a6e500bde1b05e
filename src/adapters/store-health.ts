const EVIDENCE_MS = 5_000;
const PROBE_EVERY_MS = 1_000;

/**
 * The last failure of a store, so that not every request has to wait to find that it is unavailable. Only a failure within the last five
 * seconds counts: after that, the store is tried first.
 */
export class StoreHealth {
  private failedAt = -Infinity;
  private probedAt = -Infinity;

  isUnavailable(now: number): boolean {
    return now - this.failedAt < EVIDENCE_MS;
  }

  /** True once a second: the caller that gets it should try the store in the background. */
  takeProbe(now: number): boolean {
    if (now - this.probedAt < PROBE_EVERY_MS) return false;
    this.probedAt = now;
    return true;
  }

  failed(now: number): void {
    this.failedAt = now;
    this.probedAt = now;
  }

  answered(): void {
    this.failedAt = -Infinity;
  }
}
