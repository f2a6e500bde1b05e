import type { Charge } from '../../request-log/record.js';
import type { Measure } from '../../common/limits/limit.js';
import type { Pool } from './pool.js';
import type { WindowSlice } from './window-slices.js';

/** The real usage of an attempt. Null when it is unknown. */
export interface Actual {
  readonly costNanoUsd: number | null;
  readonly tokens: number | null;
  /** Text without reported usage is counted when the record is stored; until then the reservation stays. */
  readonly isCountedLater: boolean;
}

/** The amount to take from one limit, and later the amount taken. */
export interface ReservedAmount {
  readonly pool: Pool;
  amount: number;
  /** The slice of a window that it was taken from; null for other kinds and before. */
  slice: WindowSlice | null;
  /** It ends with the request, not with the attempt. */
  readonly isForRequest: boolean;
}

const NOTHING: readonly Charge[] = [];
const SETTLED: readonly ReservedAmount[] = [];

/**
 * The reservations of all limits that apply: those that end with the request, or those that end with the attempt. Settled exactly once:
 * later calls do nothing.
 */
export class Hold {
  constructor(
    private parts: readonly ReservedAmount[],
    private readonly isForRequest: boolean,
    private readonly holder: string,
  ) {}

  /** The budget charges if the attempt's result never becomes known: the whole reservation. */
  get reservation(): readonly Charge[] {
    let charges: Charge[] | null = null;
    for (const { isForRequest, pool, amount } of this.parts) {
      const { limit } = pool.counter;
      if (isForRequest === this.isForRequest && limit.kind === 'budget')
        (charges ??= []).push(this.chargeOf(pool, amount));
    }
    return charges ?? NOTHING;
  }

  /** Replaces the reservation with the real usage. Returns the budget charges for the record. */
  settle(actual: Actual): readonly Charge[] {
    const { parts } = this;
    this.parts = SETTLED;
    return this.charge(parts, ({ amount, pool }) => usedOf(pool.counter.limit.measure, amount, actual));
  }

  /** Returns all of the reservation: what it was for never began. */
  release(): void {
    const { parts } = this;
    this.parts = SETTLED;
    this.charge(parts, () => 0);
  }

  /** Charges usage beside the reservation, which stays. Returns the budget charges for the record. */
  chargeBeside(actual: Actual): readonly Charge[] {
    const beside = this.parts.map((part) => ({ ...part, amount: 0 }));
    return this.charge(beside, ({ pool }) => usedOf(pool.counter.limit.measure, 0, actual));
  }

  private charge(
    parts: readonly ReservedAmount[],
    usedIn: (part: ReservedAmount) => number,
  ): readonly Charge[] {
    let charges: Charge[] | null = null;
    for (const part of parts) {
      if (part.isForRequest !== this.isForRequest) continue;
      const { pool, amount, slice } = part;
      const used = usedIn(part);
      pool.settle(amount, used, slice);
      if (pool.counter.limit.kind === 'budget') (charges ??= []).push(this.chargeOf(pool, used));
    }
    return charges ?? NOTHING;
  }

  private chargeOf({ counter: { key, limit } }: Pool, leased: number): Charge {
    const measure = limit.measure === 'tokens' ? 'tokens' : 'cost';
    return { counter: key, holder: this.holder, measure, leased };
  }
}

/** The attempt produced nothing, or nothing that is billed. */
export const UNUSED: Actual = { costNanoUsd: null, tokens: null, isCountedLater: false };

/** A request always counts; a slot becomes free; tokens and money are the real amounts. */
function usedOf(measure: Measure, reserved: number, actual: Actual): number {
  if (measure === 'requests') return reserved;
  if (measure === 'concurrency') return 0;
  if (actual.isCountedLater) return reserved;
  return (measure === 'cost' ? actual.costNanoUsd : actual.tokens) ?? 0;
}
