import { AppError } from '../../common/errors/app-error.js';
import type { ErrorCode } from '../../common/errors/catalog.js';
import type { Target } from '../types/target.js';
import { FailedAttempt } from '../upstream/failed-attempt.js';
import { isListed } from '../types/failure-statuses.js';

/** What a target answered, as far as routes look at it. */
export interface TargetAnswer {
  readonly status: number;
  readonly attempt?: {
    /** The cache gave the answer: no provider was asked. */
    readonly isReplayed: boolean;
    /** Milliseconds of the process's clock. */
    readonly startedAt: number;
    readonly firstByteAt: number | null;
  };
  /** Where it comes from. */
  readonly target?: Pick<Target, 'usesCallersKey'>;
}

export type Outcome<Answer> =
  { readonly answer: Answer; readonly thrown: null } | { readonly answer: null; readonly thrown: unknown };

const TIMED_OUT = 408;
const TOO_MANY = 429;

/** How providers refuse a credential: it is wrong, its account has no money, or it may not do this. */
const CREDENTIAL_REFUSED: ReadonlySet<number> = new Set([401, 402, 403]);

/** Refusals that are about one target when they come from the attempt at it: its virtual key, its limits. */
const OF_ONE_TARGET: ReadonlySet<ErrorCode> = new Set([
  'budget_exceeded',
  'concurrency_limited',
  'credential_missing',
  'model_not_allowed',
  'not_found',
  'price_unknown',
  'provider_not_allowed',
  'rate_limited',
]);

/**
 * Whether a fallback tries its next target. Without a list of statuses: where another target may do better, so not for
 * what the caller did wrong, a refused key of its own included, nor for the gateway's own failures.
 */
export function movesOn(outcome: Outcome<TargetAnswer>, onStatuses: ReadonlySet<number> | null): boolean {
  if (outcome.answer) return isUnwelcome(outcome.answer, onStatuses);
  const failed = failedAttemptOf(outcome);
  const error = failed ? failed.error : outcome.thrown;
  if (onStatuses && failed?.reportedStatus) return onStatuses.has(failed.reportedStatus);
  if (!(error instanceof AppError) || error.code === 'internal_error') return false;
  if (onStatuses) return isListed(error, onStatuses);
  return error.spec.elsewhere === true || OF_ONE_TARGET.has(error.code);
}

function isUnwelcome({ status, target }: TargetAnswer, onStatuses: ReadonlySet<number> | null): boolean {
  if (onStatuses) return onStatuses.has(status);
  if (CREDENTIAL_REFUSED.has(status)) return target !== undefined && !target.usesCallersKey;
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

export function failedAttemptOf(outcome: Outcome<unknown>): FailedAttempt | null {
  return outcome.thrown instanceof FailedAttempt ? outcome.thrown : null;
}
