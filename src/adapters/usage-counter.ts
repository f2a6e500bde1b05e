import type { Usage } from '../common/contracts/request-log.js';
import { countTokens } from '../common/tokens/count-tokens.js';
import { costOf } from '../providers/prices/cost.js';
import { GenaiPriceBook } from './genai-price-book.js';

/** Counts and prices what a provider did not report, for the background process. */
export class TokenizingUsageCounter {
  private readonly prices = new GenaiPriceBook();

  countTokens(text: string): number {
    return countTokens(text);
  }

  costOf(providerId: string, model: string, usage: Usage): number | null {
    const price = this.prices.find(providerId, model);
    return price ? costOf(usage, price) : null;
  }
}
