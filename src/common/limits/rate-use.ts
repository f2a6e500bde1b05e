import { RATE_WINDOWS_MS, type RateRule } from './rules.js';

/**
 * Reads what is used of rate limits and concurrency limits at this moment. It includes what gateway processes have taken in
 * advance, so it may be above what requests used, by a thirty-second of what is free at most for each process.
 */
export abstract class RateUse {
  /** By the id of the rule, for every rule. */
  abstract read(rules: readonly RateRule[]): Promise<ReadonlyMap<string, number>>;
}

/** The window of a rate in milliseconds; 0 for concurrency, which has none. */
export const windowOf = ({ unit }: RateRule): number => (unit === null ? 0 : RATE_WINDOWS_MS[unit]);
