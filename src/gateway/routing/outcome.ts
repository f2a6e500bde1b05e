import { AppError } from '../../common/errors/app-error.js';
import type { ErrorCode } from '../../common/errors/catalog.js';
import type {
  AnsweredAttempt,
  AttemptOutcome,
  OutcomeTry,
  TargetAnswer,
  UnansweredAttempt,
} from '../types/attempt-outcome.js';
import { isListed } from '../types/failure-statuses.js';

const TIMED_OUT = 408;
const TOO_MANY = 429;

/** Statuses of a rejected credential: it is wrong, its account has no funds, or it lacks a permission. */
const CREDENTIAL_REFUSED: ReadonlySet<number> = new Set([401, 402, 403]);

/** Statuses of a path that does not exist: https://www.rfc-editor.org/rfc/rfc9110#section-15.5.6 */
const NO_SUCH_PATH: ReadonlySet<number> = new Set([404, 405]);

/** Errors that concern one target when an attempt at it ends with them: its virtual key, its limits. */
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
export function movesOn(
  outcome: AttemptOutcome<TargetAnswer>,
  onStatuses: ReadonlySet<number> | null,
): boolean {
  if (outcome.kind === 'answered') return isUnwelcome(outcome, onStatuses);
  return mayBeReplaced(outcome, onStatuses);
}

/** Whether another target may succeed after such a failure. */
export function mayBeReplaced(
  { error, reportedStatus }: Pick<UnansweredAttempt, 'error' | 'reportedStatus'>,
  onStatuses: ReadonlySet<number> | null,
): boolean {
  if (onStatuses && reportedStatus !== null) return onStatuses.has(reportedStatus);
  if (!(error instanceof AppError) || error.code === 'internal_error') return false;
  if (onStatuses) return isListed(error, onStatuses);
  return error.spec.elsewhere === true || OF_ONE_TARGET.has(error.code);
}

function isUnwelcome(
  { answer: { status }, trail: { target, isUnlisted } }: AnsweredAttempt<TargetAnswer>,
  onStatuses: ReadonlySet<number> | null,
): boolean {
  if (onStatuses) return onStatuses.has(status);
  if (isUnlisted && NO_SUCH_PATH.has(status)) return true;
  if (CREDENTIAL_REFUSED.has(status)) return target !== null && !target.usesCallersKey;
  return status >= 500 || status === TIMED_OUT || status === TOO_MANY;
}

/** The last try of an attempt; null if nothing was tried. */
export function tryOf(outcome: AttemptOutcome<TargetAnswer>): OutcomeTry | null {
  return outcome.kind === 'failed' ? outcome.failed : (outcome.answer.attempt ?? null);
}
