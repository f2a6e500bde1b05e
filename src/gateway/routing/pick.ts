import type { RoutedRequest } from '../../routing-config/conditions.js';
import { cheapest } from '../../routing-config/cheapest.js';
import type { BalanceRule } from '../../routing-config/document.js';
import { stickySession, shareOfSession } from '../../routing-config/sessions.js';
import type { LoadBalance, WeightedPlan } from '../types/plan.js';
import type { Loads } from './loads.js';

export interface PickedTarget {
  readonly target: WeightedPlan;
  readonly by: 'session' | BalanceRule;
}

/** Input of a choice besides the request. */
export interface Chances {
  readonly loads: Loads;
  /** In [0, 1). */
  readonly random: () => number;
  /** The cost of a token at each target, if targets are chosen by it. */
  readonly costs: Costs;
}

export type Costs = ReadonlyMap<WeightedPlan, number | null>;
export const NO_COSTS: Costs = new Map();

/** The target of a load balance for one request. A sticky session overrides everything else. */
export function pick(
  balance: LoadBalance,
  request: RoutedRequest,
  { loads, random, costs }: Chances,
): PickedTarget {
  const { targets, stickyBy, by } = balance;
  const session = stickyBy && stickySession(stickyBy, request);
  if (session !== null) return { target: shareOfSession(targets, session), by: 'session' };
  switch (by) {
    case 'weight':
      return { target: pickByWeight(targets, random()), by };
    case 'latency':
      return { target: loads.fastest(targets, random), by };
    case 'least_busy':
      return { target: loads.leastBusy(targets, random()), by };
    case 'cost': {
      const least = cheapest(targets, (target) => costs.get(target) ?? null);
      return { target: pickByWeight(least, random()), by };
    }
  }
}

function pickByWeight(targets: readonly WeightedPlan[], random: number): WeightedPlan {
  const total = targets.reduce((sum, { weight }) => sum + weight, 0);
  let left = random * total;
  for (const target of targets) {
    left -= target.weight;
    if (left < 0) return target;
  }
  return targets.at(-1) as WeightedPlan;
}
