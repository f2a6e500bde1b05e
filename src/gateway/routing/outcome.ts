import { AppError } from '../../common/errors/app-error.js';
import type { ErrorCode } from '../../common/errors/catalog.js';
import type { Target } from '../types/target.js';
import { FailedAttempt } from '../upstream/failed-attempt.js';
import { isListed } from '../types/failure-statuses.js';

/** A target's response, as far as routing needs it. */
export interface TargetAnswer {
  readonly status: number;
  readonly attempt?: {
    /** A cache hit: no provider was called. */
    readonly isReplayed: boolean;
    /** Milliseconds on the monotonic clock. */
    readonly startedAt: number;
    readonly firstByteAt: number | null;
  };
  /** The target of the response. */
  readonly target?: Pick<Target, 'usesCallersKey'>;
  /** The provider's row does not list the endpoint. */
  readonly isUnlisted?: boolean;
}

export type Outcome<Answer> =
  { readonly answer: Answer; readonly thrown: null } | { readonly answer: null; readonly thrown: unknown };

const TIMED_OUT = 408;
const TOO_MANY = 429;

/** Statuses of a rejected credential: it is wrong, its account has no funds, or it lacks a permission. */
const CREDENTIAL_REFUSED: ReadonlySet<number> = new Set([401, 402, 403]);

/** Statuses of a path that does not exist: https://www.rfc-editor.org/rfc/rfc9110#section-15.5.6 */
const NO_SUCH_PATH: ReadonlySet<number> = new Set([404, 405]);

/** Errors that concern one target when an attempt at it throws them: its virtual key, its limits. */
const OF_ONE_TARGET: ReadonlySet<ErrorCode> = new Set([
  'budget_exceeded',
  'concurrency_limited',
  'credential_missing',
  'model_not_allowed',
  'not_found',
  'price_unknown',
  'provider_not_allowed',
  'rate_limited',
  'usage_unknown',
]);

/**
 * Whether a fallback tries its next target. Without a list of statuses: if another target may succeed, so not for the caller's own
 * mistakes, such as a refused key of its own, nor for the gateway's own failures.
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

function isUnwelcome(
  { status, target, isUnlisted }: TargetAnswer,
  onStatuses: ReadonlySet<number> | null,
): boolean {
  if (onStatuses) return onStatuses.has(status);
  if (isUnlisted && NO_SUCH_PATH.has(status)) return true;
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
