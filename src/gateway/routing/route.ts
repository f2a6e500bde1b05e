import { leastOf } from '../../routing-config/cheapest.js';
import { balanceDecision, conditionDecision, outOfServiceDecision } from '../../routing-config/decisions.js';
import { tokenPriceOf } from '../../common/contracts/price.js';
import { AppError } from '../../common/errors/app-error.js';
import type { Conditional, Fallback, HoldRule, LoadBalance, Plan, WeightedPlan } from '../types/plan.js';
import type { Breakers } from './breakers.js';
import { type TargetAnswer, failedAttemptOf, movesOn, settle, unwrap } from './outcome.js';
import { type Costs, NO_COSTS, pick } from './pick.js';
import { race, type RaceResult } from './race.js';
import type { RoutableRequest, Routing } from './routable-request.js';
import { tryTarget } from './try-target.js';

/**
 * Follows a plan until a target's response is accepted. The outcome of the last target is always accepted. `hold`: how long a response of
 * one of several targets is held for its first useful token.
 */
export function route<Answer extends TargetAnswer>(
  plan: Plan,
  routing: Routing<Answer>,
  hold: HoldRule | null = null,
): Promise<Answer> {
  switch (plan.kind) {
    case 'target':
      return tryTarget(plan, routing, hold);
    case 'fallback':
      return fallBack(plan, routing, hold);
    case 'loadbalance':
      return balance(plan, routing, hold);
    case 'conditional':
      return branch(plan, routing, hold);
  }
}

async function branch<Answer extends TargetAnswer>(
  plan: Conditional,
  routing: Routing<Answer>,
  hold: HoldRule | null,
): Promise<Answer> {
  return route(choose(plan, routing), routing, hold);
}

async function fallBack<Answer extends TargetAnswer>(
  plan: Fallback,
  routing: Routing<Answer>,
  hold: HoldRule | null,
): Promise<Answer> {
  const { request } = routing;
  let targets = inService(plan.targets, routing, (target) => target);
  const last = targets.at(-1) as Plan;
  const raced = plan.hedge ? await raceOf(plan, targets, routing) : null;
  if (raced) {
    const { outcome, tried } = raced;
    targets = targets.slice(tried);
    const mayGoOn = targets.length > 0 && request.mayGoOn(failedAttemptOf(outcome));
    if (!mayGoOn || !movesOn(outcome, plan.onStatuses)) return unwrap(outcome);
    await request.giveUp(outcome);
  }
  for (const target of targets.slice(0, -1)) {
    const outcome = await settle(route(target, routing, plan));
    if (!movesOn(outcome, plan.onStatuses) || !request.mayGoOn(failedAttemptOf(outcome)))
      return unwrap(outcome);
    await request.giveUp(outcome);
  }
  return route(last, routing, hold);
}

function raceOf<Answer extends TargetAnswer>(
  plan: Fallback,
  [first, second]: readonly Plan[],
  routing: Routing<Answer>,
): Promise<RaceResult<Answer>> | null {
  const { hedge } = plan;
  if (!hedge || first?.kind !== 'target' || second?.kind !== 'target') return null;
  return routing.request.mayBeSentTwice ? race({ ...plan, hedge }, [first, second], routing) : null;
}

async function balance<Answer extends TargetAnswer>(
  plan: LoadBalance,
  routing: Routing<Answer>,
  hold: HoldRule | null,
): Promise<Answer> {
  const { request, loads } = routing;
  const targets = inService(plan.targets, routing, (target) => target.plan);
  const fit = targets === plan.targets ? plan : { ...plan, targets };
  const go = (costs: Costs): Promise<Answer> => {
    const { target, by } = pick(fit, request.conditions, { loads, random: Math.random, costs });
    request.decided(balanceDecision(plan.path, target.path, by));
    const run = (): Promise<Answer> => route(target.plan, routing, hold);
    return isMeasured(plan) ? loads.measured(target, run, (then) => request.whenOver(then)) : run();
  };
  return fit.by === 'cost' ? costsOf(fit.targets, routing).then(go) : go(NO_COSTS);
}

const isMeasured = ({ by }: LoadBalance): boolean => by === 'latency' || by === 'least_busy';

async function costsOf(targets: readonly WeightedPlan[], routing: ChoiceWalk): Promise<Costs> {
  const costs = targets.map(async (target) => [target, await costOfPlan(target.plan, routing)] as const);
  return new Map(await Promise.all(costs));
}

/** The cost of a token at the plan's first choice; null if that has no known price. */
async function costOfPlan(plan: Plan, routing: ChoiceWalk): Promise<number | null> {
  if (plan.kind === 'loadbalance') return leastOf([...(await costsOf(plan.targets, routing)).values()]);
  if (plan.kind !== 'target') {
    const first = firstOf(plan, routing);
    return first && costOfPlan(first, routing);
  }
  const price = await routing.request.priceOf(plan);
  return price && tokenPriceOf(price);
}

function firstOf(plan: Fallback | Conditional, routing: ChoiceWalk): Plan | null {
  if (plan.kind === 'fallback')
    return plan.targets.find((target) => !isOut(target, routing)) ?? plan.targets[0] ?? null;
  return plan.branches.find(({ condition }) => condition(routing.request.conditions))?.plan ?? plan.otherwise;
}

/** The targets in service; all of them when there are none. */
function inService<T>(targets: readonly T[], routing: ChoiceWalk, planOf: (target: T) => Plan): readonly T[] {
  if (!targets.some((target) => isOut(planOf(target), routing))) return targets;
  const fit = targets.filter((target) => !isOut(planOf(target), routing));
  routing.request.decided(outOfServiceDecision(targets.length - fit.length, targets.length));
  return fit.length > 0 ? fit : targets;
}

function isOut(plan: Plan, routing: ChoiceWalk): boolean {
  switch (plan.kind) {
    case 'target':
      return routing.breakers.isOpen(plan);
    case 'fallback':
      return plan.targets.every((target) => isOut(target, routing));
    case 'loadbalance':
      return plan.targets.every((target) => isOut(target.plan, routing));
    case 'conditional':
      return false;
  }
}

function choose({ path, branches, otherwise }: Conditional, { request }: ChoiceWalk): Plan {
  const held = branches.findIndex(({ condition }) => condition(request.conditions));
  const plan = branches[held]?.plan ?? otherwise;
  request.decided(conditionDecision(path, held, plan ? plan.path : null));
  if (!plan) throw new AppError('no_target');
  return plan;
}

/** Input of a choice among targets, regardless of their responses. */
interface ChoiceWalk {
  readonly request: Pick<RoutableRequest<TargetAnswer>, 'conditions' | 'decided' | 'priceOf'>;
  readonly breakers: Pick<Breakers, 'isOpen'>;
}
