import { RATE_WINDOWS_MS, type RateRule } from './rules.js';

/**
 * Reads the current use of rate and concurrency limits. It includes what gateway processes have leased in advance, so it may exceed the
 * actual use, by at most a thirty-second of the free amount per process.
 */
export abstract class RateUse {
  /** By rule id, for every rule. */
  abstract read(rules: readonly RateRule[]): Promise<ReadonlyMap<string, number>>;
}

/** The window of a rate in milliseconds; 0 for concurrency, which has none. */
export const windowOf = ({ unit }: RateRule): number => (unit === null ? 0 : RATE_WINDOWS_MS[unit]);
