import type { AppliedPrice } from '../common/contracts/price.js';
import type { Usage } from '../common/contracts/usage.js';
import { countTokens } from '../common/tokens/count-tokens.js';
import { costOf } from '../providers/prices/cost.js';

/** A price says of these kinds that they cost what the kind costs that they are part of. */
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
