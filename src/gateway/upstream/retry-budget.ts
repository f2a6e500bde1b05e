import type { Target } from '../types/target.js';

/** Share of a target's requests under way that may be waiting for, or be in, a further try. */
const SHARE = 0.2;
/** So many always may. */
const AT_LEAST = 3;

/**
 * How many further tries a target bears: when it is down, they would be most of what it gets, and keep it down
 * (https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/cluster/v3/circuit_breaker.proto). Counted per process.
 */
export class RetryBudgets {
  private readonly targets = new Map<string, Counts>();

  /** One request to a target that may be tried more than once. It must leave. */
  enter({ origin, virtualKey }: Target): RetryBudget {
    const key = virtualKey ? `${virtualKey.id} ${origin}` : origin;
    let counts = this.targets.get(key);
    if (!counts) this.targets.set(key, (counts = { active: 0, retrying: 0 }));
    counts.active += 1;
    return new RetryBudget(counts, () => {
      if (counts.active === 0) this.targets.delete(key);
    });
  }
}

interface Counts {
  active: number;
  retrying: number;
}

/** One request's part in the budget of its target. */
export class RetryBudget {
  private isRetrying = false;

  constructor(
    private readonly counts: Counts,
    private readonly onLeft: () => void,
  ) {}

  /** Whether a further try is within the budget; it counts until the next one is asked for, or the request leaves. */
  take(): boolean {
    this.giveBack();
    if (this.counts.retrying >= Math.max(AT_LEAST, SHARE * this.counts.active)) return false;
    this.counts.retrying += 1;
    this.isRetrying = true;
    return true;
  }

  leave(): void {
    this.giveBack();
    this.counts.active -= 1;
    this.onLeft();
  }

  private giveBack(): void {
    if (this.isRetrying) this.counts.retrying -= 1;
    this.isRetrying = false;
  }
}
