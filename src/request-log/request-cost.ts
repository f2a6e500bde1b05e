import type { AttemptRecord } from './record.js';

/**
 * The cost of a request: the sum of its attempts, nano-dollars. An attempt without usage produced nothing billable. Null when no attempt
 * has usage, or one has usage at an unknown price.
 */
export function costOfAttempts(attempts: readonly AttemptRecord[]): number | null {
  let sum: number | null = null;
  for (const { usage, cost_nano_usd } of attempts) {
    if (usage === null) continue;
    if (cost_nano_usd === null) return null;
    sum = (sum ?? 0) + cost_nano_usd;
  }
  return sum;
}
