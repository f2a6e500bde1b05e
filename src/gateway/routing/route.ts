import { leastOf } from '../../routing-config/cheapest.js';
import { balanceDecision, conditionDecision, outOfServiceDecision } from '../../routing-config/decisions.js';
import { tokenPriceOf } from '../../common/contracts/price.js';
import { AppError } from '../../common/errors/app-error.js';
import type { AttemptOutcome, TargetAnswer, UnansweredAttempt } from '../types/attempt-outcome.js';
import type { AttemptTrail } from '../types/attempt-trail.js';
import type { Conditional, Fallback, LoadBalance, Plan, WeightedPlan } from '../types/plan.js';
import type { Breakers } from './breakers.js';
import { movesOn } from './outcome.js';
import { type Costs, NO_COSTS, pick } from './pick.js';
import { race, type RaceResult } from './race.js';
import type { Routing, RoutingKnowledge, Step } from './routing.js';
import { tryTarget } from './try-target.js';

/** Follows a plan until a target's response is accepted. The outcome of the last target is always accepted. Never rejects. */
export async function route<Answer extends TargetAnswer>(
  plan: Plan,
  routing: Routing<Answer>,
  step: Step,
): Promise<AttemptOutcome<Answer>> {
  switch (plan.kind) {
    case 'target':
      return tryTarget(plan, routing, { ...step, signal: null, onSent: null, isHedge: false });
    case 'fallback':
      return fallBack(plan, routing, step);
    case 'loadbalance':
      return balance(plan, routing, step);
    case 'conditional': {
      const branch = choose(plan, routing);
      return branch ? route(branch, routing, step) : noTarget(step);
    }
  }
}

const noTarget = ({ previous: trail }: Step): UnansweredAttempt => ({
  kind: 'failed',
  error: new AppError('no_target'),
  failed: null,
  reportedStatus: null,
  trail,
});

async function fallBack<Answer extends TargetAnswer>(
  plan: Fallback,
  routing: Routing<Answer>,
  step: Step,
): Promise<AttemptOutcome<Answer>> {
  const targets = inService(plan.targets, routing, (target) => target);
  const raced = plan.hedge ? await raceOf(plan, targets, { routing, step }) : null;
  let left = targets.slice(raced?.tried ?? 0);
  let outcome = raced?.outcome ?? null;
  let { previous } = step;
  while (left.length > 0) {
    if (outcome) {
      if (!isReplaced(outcome, plan, routing)) return outcome;
      previous = await discarded(outcome, routing);
    }
    const [target, ...others] = left as [Plan, ...Plan[]];
    left = others;
    outcome = await route(target, routing, { previous, hold: others.length > 0 ? plan : step.hold });
  }
  return outcome as AttemptOutcome<Answer>;
}

/** Whether another target is tried: the rule says so, the client is connected, and the request can be sent again. */
function isReplaced<Answer extends TargetAnswer>(
  outcome: AttemptOutcome<Answer>,
  { onStatuses }: Fallback,
  { request }: Routing<Answer>,
): boolean {
  if (!movesOn(outcome, onStatuses)) return false;
  const isUnsent = outcome.kind === 'failed' && outcome.failed !== null && !outcome.failed.wasSent;
  return !request.isCancelled && (request.isRepeatable || isUnsent);
}

/** Ends a response that is replaced. Returns the trail for the next target. */
async function discarded<Answer extends TargetAnswer>(
  outcome: AttemptOutcome<Answer>,
  { attempts }: Routing<Answer>,
): Promise<AttemptTrail> {
  if (outcome.kind === 'answered') await attempts.discard(outcome);
  return outcome.trail;
}

interface TargetRun<Answer extends TargetAnswer> {
  readonly routing: Routing<Answer>;
  readonly step: Step;
}

function raceOf<Answer extends TargetAnswer>(
  plan: Fallback,
  [first, second]: readonly Plan[],
  { routing, step }: TargetRun<Answer>,
): Promise<RaceResult<Answer>> | null {
  const { hedge } = plan;
  if (!hedge || first?.kind !== 'target' || second?.kind !== 'target') return null;
  return routing.request.mayBeSentTwice ? race({ ...plan, hedge }, [first, second], { routing, step }) : null;
}

async function balance<Answer extends TargetAnswer>(
  plan: LoadBalance,
  routing: Routing<Answer>,
  step: Step,
): Promise<AttemptOutcome<Answer>> {
  const { request, loads, decisions } = routing;
  const targets = inService(plan.targets, routing, (target) => target.plan);
  const fit = targets === plan.targets ? plan : { ...plan, targets };
  const costs = fit.by === 'cost' ? await costsOf(fit.targets, routing) : NO_COSTS;
  const { target, by } = pick(fit, request.conditions, { loads, random: Math.random, costs });
  decisions.push(balanceDecision(plan.path, target.path, by));
  const run = (): Promise<AttemptOutcome<Answer>> => route(target.plan, routing, step);
  return isMeasured(plan) ? loads.measured(target, run, (then) => request.whenOver(then)) : run();
}

const isMeasured = ({ by }: LoadBalance): boolean => by === 'latency' || by === 'least_busy';

async function costsOf(targets: readonly WeightedPlan[], routing: ChoiceInput): Promise<Costs> {
  const costs = targets.map(async (target) => [target, await costOfPlan(target.plan, routing)] as const);
  return new Map(await Promise.all(costs));
}

/** The cost of a token at the plan's first choice; null if that has no known price. */
async function costOfPlan(plan: Plan, routing: ChoiceInput): Promise<number | null> {
  if (plan.kind === 'loadbalance') return leastOf([...(await costsOf(plan.targets, routing)).values()]);
  if (plan.kind !== 'target') {
    const first = firstOf(plan, routing);
    return first && costOfPlan(first, routing);
  }
  const price = await routing.request.priceOf(plan);
  return price && tokenPriceOf(price);
}

function firstOf(plan: Fallback | Conditional, routing: ChoiceInput): Plan | null {
  if (plan.kind === 'fallback')
    return plan.targets.find((target) => !isOut(target, routing)) ?? plan.targets[0] ?? null;
  return plan.branches.find(({ condition }) => condition(routing.request.conditions))?.plan ?? plan.otherwise;
}

/** The targets in service; all of them when there are none. */
function inService<T>(
  targets: readonly T[],
  routing: ChoiceInput,
  planOf: (target: T) => Plan,
): readonly T[] {
  if (!targets.some((target) => isOut(planOf(target), routing))) return targets;
  const fit = targets.filter((target) => !isOut(planOf(target), routing));
  routing.decisions.push(outOfServiceDecision(targets.length - fit.length, targets.length));
  return fit.length > 0 ? fit : targets;
}

function isOut(plan: Plan, routing: ChoiceInput): boolean {
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

/** The branch of the first condition that the request meets, else the default; null without one. */
function choose(
  { path, branches, otherwise }: Conditional,
  { request, decisions }: ChoiceInput,
): Plan | null {
  const held = branches.findIndex(({ condition }) => condition(request.conditions));
  const plan = branches[held]?.plan ?? otherwise;
  decisions.push(conditionDecision(path, held, plan ? plan.path : null));
  return plan;
}

/** Input of a choice among targets, regardless of their responses. */
interface ChoiceInput {
  readonly request: Pick<RoutingKnowledge, 'conditions' | 'priceOf'>;
  readonly breakers: Pick<Breakers, 'isOpen'>;
  readonly decisions: string[];
}
