import type { AppliedPrice } from '../../common/contracts/price.js';
import type { Usage } from '../../common/contracts/usage.js';

/** Tells the rollup that a batch is there. May fail: batches whose announcement is lost are found by a sweep. */
export interface BatchAnnouncer {
  announce(batchId: string): Promise<void>;
}

/** What is needed where a provider said nothing about usage. */
export interface UsageCounter {
  countTokens(text: string): number;
  /** Nano-dollars; null where the price does not name all that was used. */
  costOf(usage: Usage, price: AppliedPrice): number | null;
}
