import type { AttemptRecord } from './record.js';

/**
 * What a request cost: the sum of its attempts, nano-dollars. An attempt without usage produced nothing that is billed. Null
 * when none has usage, and when one has some at an unknown price.
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
