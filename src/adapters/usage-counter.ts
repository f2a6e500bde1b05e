import type { AppliedPrice } from '../common/contracts/price.js';
import type { Usage } from '../common/contracts/usage.js';
import { countTokens } from '../common/tokens/count-tokens.js';
import { costOf } from '../providers/prices/cost.js';

/** Null: these kinds cost as much as the kind that they are part of. */
const UNNAMED = { cachedInput: null, cacheWrite: null, audioInput: null, audioOutput: null } as const;

/** Counts and prices what a provider did not report, for the background process. */
export class TokenizingUsageCounter {
  countTokens(text: string): number {
    return countTokens(text);
  }

  costOf(usage: Usage, price: AppliedPrice): number | null {
    return costOf(usage, { ...UNNAMED, ...price });
  }
}
