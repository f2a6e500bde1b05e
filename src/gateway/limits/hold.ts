import type { Charge } from '../../request-log/record.js';
import type { Measure } from '../../common/limits/limit.js';
import type { Actual, LimitHold } from '../types/limit-reservation.js';
import type { Pool } from './pool.js';
import type { WindowSlice } from './window-slices.js';

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

/** The reservations from the pools of this process. */
export class Hold implements LimitHold {
  constructor(
    private parts: readonly ReservedAmount[],
    private readonly isForRequest: boolean,
    private readonly holder: string,
  ) {}

  get reservation(): readonly Charge[] {
    let charges: Charge[] | null = null;
    for (const { isForRequest, pool, amount } of this.parts) {
      const { limit } = pool.counter;
      if (isForRequest === this.isForRequest && limit.kind === 'budget')
        (charges ??= []).push(this.chargeOf(pool, amount));
    }
    return charges ?? NOTHING;
  }

  settle(actual: Actual): readonly Charge[] {
    const { parts } = this;
    this.parts = SETTLED;
    return this.charge(parts, ({ amount, pool }) => usedOf(pool.counter.limit.measure, amount, actual));
  }

  release(): void {
    const { parts } = this;
    this.parts = SETTLED;
    this.charge(parts, () => 0);
  }

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

/** A request always counts; a slot becomes free; tokens and money are the real amounts. */
function usedOf(measure: Measure, reserved: number, actual: Actual): number {
  if (measure === 'requests') return reserved;
  if (measure === 'concurrency') return 0;
  if (actual.isCountedLater) return reserved;
  return (measure === 'cost' ? actual.costNanoUsd : actual.tokens) ?? 0;
}
