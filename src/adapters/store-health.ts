const EVIDENCE_MS = 5_000;
const PROBE_EVERY_MS = 1_000;

/**
 * What is known of a store that was found away, so that requests need not each wait to find it out again. Only a
 * failure of the last five seconds counts: a store without a call since then is called first.
 */
export class StoreHealth {
  private failedAt = -Infinity;
  private probedAt = -Infinity;

  isAway(now: number): boolean {
    return now - this.failedAt < EVIDENCE_MS;
  }

  /** True once a second: whoever gets it should ask the store, in the background. */
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
