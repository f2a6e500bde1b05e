import type { RoutedRequest } from '../../common/contracts/routing-config/conditions.js';
import { sessionOf, shareOfSession } from '../../common/contracts/routing-config/sessions.js';
import type { LoadBalance, Weighted } from '../types/plan.js';

export interface Picked {
  readonly target: Weighted;
  readonly by: 'session' | 'weight';
}

/** The target of a load balance for one request. `random` is in [0, 1). */
export function pick(balance: LoadBalance, request: RoutedRequest, random: () => number = Math.random): Picked {
  const { targets, stickyBy } = balance;
  const session = stickyBy && sessionOf(stickyBy, request);
  return session === null
    ? { target: pickByWeight(targets, random()), by: 'weight' }
    : { target: shareOfSession(targets, session), by: 'session' };
}

function pickByWeight(targets: readonly Weighted[], random: number): Weighted {
  const total = targets.reduce((sum, { weight }) => sum + weight, 0);
  let left = random * total;
  for (const target of targets) {
    left -= target.weight;
    if (left < 0) return target;
  }
  return targets.at(-1) as Weighted;
}
