import { leastOf } from '../../routing-config/cheapest.js';
import { balanceDecision, conditionDecision, outOfServiceDecision } from '../../routing-config/decisions.js';
import { tokenPriceOf } from '../../common/contracts/price.js';
import { AppError } from '../../common/errors/app-error.js';
import type { Conditional, Fallback, HoldRule, LoadBalance, Plan, Weighted } from '../types/plan.js';
import { type Answered, failedAttemptOf, movesOn, type Outcome, unwrap } from './outcome.js';
import { type Costs, NO_COSTS, pick } from './pick.js';
import { race, type Raced } from './race.js';
import type { Walk } from './walk.js';

/** Walks a plan until a target gives an answer that stands. The last one's outcome stands, whatever it is. */
export function route<Answer extends Answered>(
  plan: Plan,
  walk: Walk<Answer>,
  hold: HoldRule | null = null,
): Promise<Answer> {
  switch (plan.kind) {
    case 'target':
      return walk.attempt(plan, hold);
    case 'fallback':
      return fallBack(plan, walk, hold);
    case 'loadbalance':
      return balance(plan, walk, hold);
    case 'conditional':
      return branch(plan, walk, hold);
  }
}

async function branch<Answer extends Answered>(
  plan: Conditional,
  walk: Walk<Answer>,
  hold: HoldRule | null,
): Promise<Answer> {
  return route(choose(plan, walk), walk, hold);
}

async function fallBack<Answer extends Answered>(
  plan: Fallback,
  walk: Walk<Answer>,
  hold: HoldRule | null,
): Promise<Answer> {
  let targets = inService(plan.targets, walk, (target) => target);
  const last = targets.at(-1) as Plan;
  const raced = plan.hedge ? await raceOf(plan, targets, walk) : null;
  if (raced) {
    const { outcome, tried } = raced;
    targets = targets.slice(tried);
    const mayGoOn = targets.length > 0 && walk.mayGoOn(failedAttemptOf(outcome));
    if (!mayGoOn || !movesOn(outcome, plan.onStatuses)) return unwrap(outcome);
    await walk.giveUp(outcome);
  }
  for (let at = 0; at < targets.length - 1; at++) {
    const outcome = await outcomeOf(targets[at] as Plan, walk, plan);
    if (!movesOn(outcome, plan.onStatuses) || !walk.mayGoOn(failedAttemptOf(outcome))) return unwrap(outcome);
    await walk.giveUp(outcome);
  }
  return route(last, walk, hold);
}

async function outcomeOf<Answer extends Answered>(
  plan: Plan,
  walk: Walk<Answer>,
  hold: HoldRule | null,
): Promise<Outcome<Answer>> {
  try {
    return { answer: await route(plan, walk, hold), thrown: null };
  } catch (thrown) {
    return { answer: null, thrown };
  }
}

function raceOf<Answer extends Answered>(
  plan: Fallback,
  [first, second]: readonly Plan[],
  walk: Walk<Answer>,
): Promise<Raced<Answer>> | null {
  const { hedge } = plan;
  if (!hedge || first?.kind !== 'target' || second?.kind !== 'target') return null;
  const racing = walk.racing();
  return racing && race({ ...plan, hedge }, [first, second], { walk, racing });
}

async function balance<Answer extends Answered>(
  plan: LoadBalance,
  walk: Walk<Answer>,
  hold: HoldRule | null,
): Promise<Answer> {
  const targets = inService(plan.targets, walk, (target) => target.plan);
  const fit = targets === plan.targets ? plan : { ...plan, targets };
  const go = (costs: Costs): Promise<Answer> => {
    const chances = { loads: walk.loads, random: Math.random, costs };
    const { target, by } = pick(fit, walk.request, chances);
    walk.decided(balanceDecision(plan.path, target.path, by));
    const run = (): Promise<Answer> => route(target.plan, walk, hold);
    return isMeasured(plan) ? walk.loads.measured(target, run, (then) => walk.whenOver(then)) : run();
  };
  return fit.by === 'cost' ? costsOf(fit.targets, walk).then(go) : go(NO_COSTS);
}

const isMeasured = ({ by }: LoadBalance): boolean => by === 'latency' || by === 'least_busy';

async function costsOf(targets: readonly Weighted[], walk: Walk<Answered>): Promise<Costs> {
  const costs = targets.map(async (target) => [target, await costOfPlan(target.plan, walk)] as const);
  return new Map(await Promise.all(costs));
}

/** What a token costs where the plan would go first; null when it is unknown. */
async function costOfPlan(plan: Plan, walk: Walk<Answered>): Promise<number | null> {
  if (plan.kind === 'loadbalance') return leastOf([...(await costsOf(plan.targets, walk)).values()]);
  if (plan.kind !== 'target') {
    const first = firstOf(plan, walk);
    return first && costOfPlan(first, walk);
  }
  const price = await walk.priceOf(plan);
  return price && tokenPriceOf(price);
}

function firstOf(plan: Fallback | Conditional, walk: Walk<Answered>): Plan | null {
  if (plan.kind === 'fallback')
    return plan.targets.find((target) => !isOut(target, walk)) ?? plan.targets[0] ?? null;
  return plan.branches.find(({ condition }) => condition(walk.request))?.plan ?? plan.otherwise;
}

/** What choosing needs of a walk. */
type Choosing = Pick<Walk<Answered>, 'request' | 'isOpen' | 'decided'>;

/** Those that are not out of service; all of them when none is left. */
function inService<T>(targets: readonly T[], walk: Choosing, planOf: (target: T) => Plan): readonly T[] {
  if (!targets.some((target) => isOut(planOf(target), walk))) return targets;
  const fit = targets.filter((target) => !isOut(planOf(target), walk));
  walk.decided(outOfServiceDecision(targets.length - fit.length, targets.length));
  return fit.length > 0 ? fit : targets;
}

function isOut(plan: Plan, walk: Choosing): boolean {
  switch (plan.kind) {
    case 'target':
      return walk.isOpen(plan);
    case 'fallback':
      return plan.targets.every((target) => isOut(target, walk));
    case 'loadbalance':
      return plan.targets.every((target) => isOut(target.plan, walk));
    case 'conditional':
      return false;
  }
}

function choose({ path, branches, otherwise }: Conditional, walk: Choosing): Plan {
  const held = branches.findIndex(({ condition }) => condition(walk.request));
  const plan = branches[held]?.plan ?? otherwise;
  walk.decided(conditionDecision(path, held, plan ? plan.path : null));
  if (!plan) throw new AppError('no_target');
  return plan;
}
