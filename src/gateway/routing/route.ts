import type { RoutedRequest } from '../../common/contracts/routing-config/conditions.js';
import { AppError } from '../../common/errors/app-error.js';
import type { ErrorCode } from '../../common/errors/catalog.js';
import type { Conditional, Fallback, LoadBalance, Plan, PlannedTarget } from '../types/plan.js';
import { FailedAttempt } from '../upstream/retry.js';
import { isListed } from './failure-statuses.js';
import { pick } from './pick.js';

/** What a target answered, as far as routes look at it. */
export interface Answered {
  readonly status: number;
}

/** One request on its way through a plan. */
export interface Walk<Answer extends Answered> {
  readonly request: RoutedRequest;
  /**
   * Tries one target, as often as it may be tried. Rejects with the FailedAttempt, or with what refused the target. With
   * `holdMs` an answer that breaks before its first useful token is a failed attempt, too.
   */
  attempt(target: PlannedTarget, holdMs: number): Promise<Answer>;
  /** Notes a choice and its reason, for the log. */
  decided(decision: string): void;
  /** The target is out of service, so that others are asked while there are any. */
  isOpen(target: PlannedTarget): boolean;
  /** Whether another target may be tried after this one: the client is there, and the request can be sent again. */
  mayGoOn(failed: FailedAttempt | null): boolean;
  /** Puts an answer or a failure away, because another target is tried. */
  giveUp(outcome: Outcome<Answer>): Promise<void>;
}

export type Outcome<Answer> =
  { readonly answer: Answer; readonly thrown: null } | { readonly answer: null; readonly thrown: unknown };

/** Walks a plan until a target gives an answer that stands. The last one's outcome stands, whatever it is. */
export async function route<Answer extends Answered>(
  plan: Plan,
  walk: Walk<Answer>,
  holdMs = 0,
): Promise<Answer> {
  switch (plan.kind) {
    case 'target':
      return walk.attempt(plan, holdMs);
    case 'fallback':
      return fallBack(plan, walk, holdMs);
    case 'loadbalance':
      return route(balance(plan, walk), walk, holdMs);
    case 'conditional':
      return route(choose(plan, walk), walk, holdMs);
  }
}

/** What an answer that breaks before its first token counts as. */
const BROKEN = { answer: null, thrown: new AppError('upstream_error') } as const;

async function fallBack<Answer extends Answered>(
  plan: Fallback,
  walk: Walk<Answer>,
  holdMs: number,
): Promise<Answer> {
  const targets = inService(plan.targets, walk, (target) => target);
  const last = targets.at(-1) as Plan;
  // A broken stream that moves nobody on is better heard than held.
  const ownHoldMs = movesOn(BROKEN, plan.onStatuses) ? plan.holdMs : holdMs;
  for (const target of targets.slice(0, -1)) {
    const outcome = await settle(route(target, walk, ownHoldMs));
    if (!movesOn(outcome, plan.onStatuses) || !walk.mayGoOn(failedAttemptOf(outcome))) return unwrap(outcome);
    await walk.giveUp(outcome);
  }
  return route(last, walk, holdMs);
}

function balance(plan: LoadBalance, walk: Choosing): Plan {
  const targets = inService(plan.targets, walk, (target) => target.plan);
  const { target, by } = pick(targets === plan.targets ? plan : { ...plan, targets }, walk.request);
  walk.decided(`${plan.path}: ${target.path} by ${by}`);
  return target.plan;
}

/** What choosing needs of a walk. */
type Choosing = Pick<Walk<Answered>, 'request' | 'isOpen' | 'decided'>;

/** Those that are not out of service; all of them when none is left. */
function inService<T>(targets: readonly T[], walk: Choosing, planOf: (target: T) => Plan): readonly T[] {
  const fit = targets.filter((target) => !isOut(planOf(target), walk));
  if (fit.length === targets.length) return targets;
  walk.decided(`${targets.length - fit.length} of ${targets.length} targets are out of service`);
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
  walk.decided(`${path}: ${held < 0 ? 'default' : `conditions[${held}]`}`);
  if (!plan) throw new AppError('no_target');
  return plan;
}

const TIMED_OUT = 408;
const TOO_MANY = 429;

/** Refusals that are about one target when they come from the attempt at it: its virtual key, its limits. */
const OF_ONE_TARGET: ReadonlySet<ErrorCode> = new Set([
  'budget_exceeded',
  'model_not_allowed',
  'not_found',
  'provider_not_allowed',
  'rate_limited',
]);

/**
 * Whether a fallback tries its next target. Without a list of statuses: where another target may do better, so not for
 * what the caller did wrong, nor for the gateway's own failures.
 */
export function movesOn(outcome: Outcome<Answered>, onStatuses: ReadonlySet<number> | null): boolean {
  if (outcome.answer) return isUnwelcome(outcome.answer.status, onStatuses);
  const error = outcome.thrown instanceof FailedAttempt ? outcome.thrown.error : outcome.thrown;
  if (!(error instanceof AppError) || error.code === 'internal_error') return false;
  if (onStatuses) return isListed(error, onStatuses);
  return error.spec.elsewhere === true || OF_ONE_TARGET.has(error.code);
}

function isUnwelcome(status: number, onStatuses: ReadonlySet<number> | null): boolean {
  if (onStatuses) return onStatuses.has(status);
  return status >= 500 || status === TIMED_OUT || status === TOO_MANY;
}

export function settle<Answer>(pending: Promise<Answer>): Promise<Outcome<Answer>> {
  return pending.then(
    (answer) => ({ answer, thrown: null }),
    (thrown: unknown) => ({ answer: null, thrown }),
  );
}

export function unwrap<Answer>({ answer, thrown }: Outcome<Answer>): Answer {
  if (answer !== null) return answer;
  throw thrown;
}

function failedAttemptOf(outcome: Outcome<unknown>): FailedAttempt | null {
  return outcome.thrown instanceof FailedAttempt ? outcome.thrown : null;
}
