import type { HedgePlan } from '../types/plan.js';

/** How many times to the first byte are kept of a first target, and how many are needed to rely on them. */
const SAMPLES = 200;
const SAMPLES_MIN = 20;
const PERCENTILE = 0.95;
/** The percentile is recomputed after this many new times. */
const RENEW_EVERY = 10;
/** Maximum hedged requests in a row, after a quiet period. */
const BURST = 10;

/**
 * Decides when this process may try a second target beside the first one.
 *
 * Share and spend are two token buckets: each request adds its share, each hedged attempt removes a whole one. Over any period, no more
 * than the share (plus a burst of ten) is hedged, however slow the first target is. https://research.google/pubs/the-tail-at-scale/
 */
export class Hedges {
  private readonly histories = new WeakMap<HedgePlan, History>();

  /**
   * A request begins. Returns how long to wait for its first target, in milliseconds; null if too little is known. `estimate` is the
   * maximum cost of the request in nano-dollars; null when it is unknown.
   */
  began(plan: HedgePlan, estimate: number | null): number | null {
    const history = this.historyOf(plan);
    history.questions = Math.min(history.questions + plan.share, BURST);
    if (estimate !== null) {
      history.largest = Math.max(history.largest, estimate);
      history.money = Math.min(history.money + plan.spend * estimate, BURST * history.largest);
    }
    return history.usualMs ?? plan.afterMs;
  }

  /** Whether a hedged attempt of that estimated cost may start now; if so, it is deducted. Its cost must be known. */
  take(plan: HedgePlan, estimate: number | null): boolean {
    const history = this.historyOf(plan);
    if (estimate === null || history.questions < 1 || history.money < estimate) return false;
    history.questions -= 1;
    history.money -= estimate;
    return true;
  }

  /** Records how long a first target took to its first byte, or until it was no longer waited for. */
  measured(plan: HedgePlan, ms: number): void {
    const history = this.historyOf(plan);
    history.times[history.count % SAMPLES] = ms;
    history.count += 1;
    if (history.count >= SAMPLES_MIN && history.count % RENEW_EVERY === 0)
      history.usualMs = percentileOf(history.times);
  }

  private historyOf(plan: HedgePlan): History {
    let history = this.histories.get(plan);
    if (!history)
      this.histories.set(
        plan,
        (history = { times: [], count: 0, usualMs: null, questions: 0, money: 0, largest: 0 }),
      );
    return history;
  }
}

interface History {
  readonly times: number[];
  count: number;
  usualMs: number | null;
  questions: number;
  money: number;
  largest: number;
}

function percentileOf(times: readonly number[]): number {
  const sorted = times.toSorted((one, other) => one - other);
  return sorted[Math.ceil(PERCENTILE * sorted.length) - 1] ?? 0;
}
