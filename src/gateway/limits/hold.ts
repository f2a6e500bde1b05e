import type { Charge } from '../../common/contracts/request-log.js';
import type { Measure } from '../../common/limits/limit.js';
import type { Pool } from './pool.js';

/** What an attempt really used. Null where nobody knows it. */
export interface Actual {
  readonly costNanoUsd: number | null;
  readonly tokens: number | null;
  /** Text came without numbers and is counted when the record is stored; until then the reserve stays. */
  readonly isCountedLater: boolean;
}

export interface Taken {
  readonly pool: Pool;
  readonly amount: number;
}

const NOTHING: readonly Charge[] = [];

/** What was reserved of each limit that applies. Settled exactly once: later calls do nothing. */
export class Hold {
  constructor(
    private taken: readonly Taken[],
    private readonly holder: string,
  ) {}

  /** Replaces the reserve by what was used. Answers what the budgets are charged for the record. */
  settle(actual: Actual): readonly Charge[] {
    const { taken } = this;
    this.taken = [];
    let charges: Charge[] | null = null;
    for (const { pool, amount } of taken) {
      const { limit, key } = pool.counter;
      const used = usedOf(limit.measure, amount, actual);
      pool.settle(amount, used);
      if (limit.kind !== 'budget') continue;
      const measure = limit.measure === 'tokens' ? 'tokens' : 'cost';
      (charges ??= []).push({ counter: key, holder: this.holder, measure, leased: used });
    }
    return charges ?? NOTHING;
  }
}

/** Nothing came of the attempt, or nothing that is billed. */
export const UNUSED: Actual = { costNanoUsd: null, tokens: null, isCountedLater: false };

/** A request counts whatever became of it; a slot is free again; tokens and money are what they were in the end. */
function usedOf(measure: Measure, reserved: number, actual: Actual): number {
  if (measure === 'requests') return reserved;
  if (measure === 'concurrency') return 0;
  if (actual.isCountedLater) return reserved;
  return (measure === 'cost' ? actual.costNanoUsd : actual.tokens) ?? 0;
}
