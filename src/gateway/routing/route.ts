import type { IncomingHttpHeaders } from 'node:http';
import type { RequestFacts } from '../../common/contracts/routing-config/conditions.js';
import { AppError } from '../../common/errors/app-error.js';
import type { ErrorCode } from '../../common/errors/catalog.js';
import type { Conditional, Fallback, Plan, PlannedTarget } from '../types/plan.js';
import { FailedAttempt } from '../upstream/retry.js';
import { isListed } from './failure-statuses.js';
import { pick } from './pick.js';

/** What choices are made by. */
export interface RoutedRequest extends RequestFacts {
  readonly headers: IncomingHttpHeaders;
}

/** What a target answered, as far as routes look at it. */
export interface Answered {
  readonly status: number;
}

/** One request on its way through a plan. */
export interface Walk<Answer extends Answered> {
  readonly request: RoutedRequest;
  /** Tries one target, as often as it may be tried. Rejects with the FailedAttempt, or with what refused the target. */
  attempt(target: PlannedTarget): Promise<Answer>;
  /** Whether another target may be tried after this one: the client is there, and the request can be sent again. */
  mayGoOn(failed: FailedAttempt | null): boolean;
  /** Puts an answer or a failure away, because another target is tried. */
  giveUp(outcome: Outcome<Answer>): Promise<void>;
}

export type Outcome<Answer> =
  { readonly answer: Answer; readonly thrown: null } | { readonly answer: null; readonly thrown: unknown };

/** Walks a plan until a target gives an answer that stands. The last one's outcome stands, whatever it is. */
export async function route<Answer extends Answered>(plan: Plan, walk: Walk<Answer>): Promise<Answer> {
  switch (plan.kind) {
    case 'target':
      return walk.attempt(plan);
    case 'fallback':
      return fallBack(plan, walk);
    case 'loadbalance':
      return route(pick(plan, walk.request), walk);
    case 'conditional':
      return route(choose(plan, walk.request), walk);
  }
}

async function fallBack<Answer extends Answered>(plan: Fallback, walk: Walk<Answer>): Promise<Answer> {
  const [last, ...before] = [...plan.targets].reverse();
  for (const target of before.reverse()) {
    const outcome = await settle(route(target, walk));
    if (!movesOn(outcome, plan.onStatuses) || !walk.mayGoOn(failedAttemptOf(outcome))) return unwrap(outcome);
    await walk.giveUp(outcome);
  }
  return route(last as Plan, walk);
}

function choose({ branches, otherwise }: Conditional, request: RoutedRequest): Plan {
  const plan = branches.find(({ condition }) => condition(request))?.plan ?? otherwise;
  if (!plan) throw new AppError('no_target');
  return plan;
}

const TIMED_OUT = 408;
const TOO_MANY = 429;

/** Refusals that are about one target, whatever their status: its credential, its limits, what it can do. */
const OF_ONE_TARGET: ReadonlySet<ErrorCode> = new Set([
  'budget_exceeded',
  'credential_unusable',
  'endpoint_unsupported',
  'model_not_allowed',
  'not_found',
  'parameter_unsupported',
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

function settle<Answer>(pending: Promise<Answer>): Promise<Outcome<Answer>> {
  return pending.then(
    (answer) => ({ answer, thrown: null }),
    (thrown: unknown) => ({ answer: null, thrown }),
  );
}

function unwrap<Answer>({ answer, thrown }: Outcome<Answer>): Answer {
  if (answer !== null) return answer;
  throw thrown;
}

function failedAttemptOf(outcome: Outcome<unknown>): FailedAttempt | null {
  return outcome.thrown instanceof FailedAttempt ? outcome.thrown : null;
}
