import type { Charge } from '../../request-log/record.js';
import type { Measure } from '../../common/limits/limit.js';
import type { Pool } from './pool.js';
import type { WindowSlice } from './window-slices.js';

/** What an attempt really used. Null where it is unknown. */
export interface Actual {
  readonly costNanoUsd: number | null;
  readonly tokens: number | null;
  /** Text came without numbers and is counted when the record is stored; until then the reserve stays. */
  readonly isCountedLater: boolean;
}

/** What is wanted of one limit, and from its taking on what was taken. */
export interface Part {
  readonly pool: Pool;
  amount: number;
  /** Where in a window it was taken; null for other kinds and before. */
  slice: WindowSlice | null;
  /** It ends with the request, and not with the attempt. */
  readonly isForRequest: boolean;
}

const NOTHING: readonly Charge[] = [];
const SETTLED: readonly Part[] = [];

/**
 * What was reserved of each limit that applies: the parts that end with the request, or those that end with its attempt. Settled
 * exactly once: later calls do nothing.
 */
export class Hold {
  constructor(
    private parts: readonly Part[],
    private readonly isForRequest: boolean,
    private readonly holder: string,
  ) {}

  /** What the budgets are charged if nothing is ever known of the attempt: all that it reserved. */
  get reservation(): readonly Charge[] {
    let charges: Charge[] | null = null;
    for (const { isForRequest, pool, amount } of this.parts) {
      const { limit } = pool.counter;
      if (isForRequest === this.isForRequest && limit.kind === 'budget')
        (charges ??= []).push(this.chargeOf(pool, amount));
    }
    return charges ?? NOTHING;
  }

  /** Replaces the reserve by what was used. Answers what the budgets are charged for the record. */
  settle(actual: Actual): readonly Charge[] {
    const { parts, isForRequest } = this;
    this.parts = SETTLED;
    let charges: Charge[] | null = null;
    for (const part of parts) {
      if (part.isForRequest !== isForRequest) continue;
      const { pool, amount, slice } = part;
      const { limit } = pool.counter;
      const used = usedOf(limit.measure, amount, actual);
      pool.settle(amount, used, slice);
      if (limit.kind === 'budget') (charges ??= []).push(this.chargeOf(pool, used));
    }
    return charges ?? NOTHING;
  }

  private chargeOf({ counter: { key, limit } }: Pool, leased: number): Charge {
    const measure = limit.measure === 'tokens' ? 'tokens' : 'cost';
    return { counter: key, holder: this.holder, measure, leased };
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
