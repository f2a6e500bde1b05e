import type { AppliedPrice } from '../../common/contracts/price.js';
import type { Usage } from '../../common/contracts/usage.js';

/** Announces a stored batch for counting. May fail: a sweep finds batches whose announcement was lost. */
export interface BatchQueue {
  enqueue(batchId: string): Promise<void>;
}

/** Counts and prices usage that a provider did not report. */
export interface UsageCounter {
  countTokens(text: string): number;
  /** Nano-dollars; null when the price does not cover everything that was used. */
  costOf(usage: Usage, price: AppliedPrice): number | null;
}
