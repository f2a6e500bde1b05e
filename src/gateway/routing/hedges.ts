import type { HedgePlan } from '../types/plan.js';

/** Times to the first byte that are remembered of a first target, and how many of them it takes to rely on them. */
const SAMPLES = 200;
const SAMPLES_MIN = 20;
const PERCENTILE = 0.95;
/** The percentile is worked out again after so many further ones. */
const RENEW_EVERY = 10;
/** A process that saved up may ask twice so many times in a row. */
const BURST = 10;

/**
 * When this process may ask a second target beside the first one.
 *
 * Share and spend are two buckets: each request puts its share in, each second question takes a whole one out. So over any
 * stretch of time no more than the share (and a burst of ten) is asked twice, however slow the first target is.
 * https://research.google/pubs/the-tail-at-scale/
 */
export class Hedges {
  private readonly histories = new WeakMap<HedgePlan, History>();

  /**
   * A request begins. Answers for how long its first target is waited for, milliseconds; null where too little is known to
   * say. `estimate` is what the request may cost, nano-dollars; null when it is unknown.
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

  /** Whether a second question of that estimate may be asked now; then it has been taken out. What it costs must be known. */
  take(plan: HedgePlan, estimate: number | null): boolean {
    const history = this.historyOf(plan);
    if (estimate === null || history.questions < 1 || history.money < estimate) return false;
    history.questions -= 1;
    history.money -= estimate;
    return true;
  }

  /** How long a first target took to its first byte, or to the moment at which nobody waited any longer. */
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
