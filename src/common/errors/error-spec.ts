/**
 * An error as the caller sees it.
 *
 * `type` groups codes the way OpenAI's clients expect. `{name}` in a message is filled from the thrown details; messages are safe to show.
 * `elsewhere` marks errors that another target or another attempt might not have. `doNotRetry` adds `x-should-retry: false`, which the
 * official SDKs and Claude Code obey, to an error whose status does not imply it.
 */
export interface ErrorSpec {
  readonly status: number;
  readonly type: ErrorType;
  readonly message: string;
  readonly elsewhere?: true;
  readonly doNotRetry?: true;
}

type ErrorType =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'permission_error'
  | 'not_found_error'
  | 'conflict_error'
  | 'budget_error'
  | 'rate_limit_error'
  | 'timeout_error'
  | 'upstream_error'
  | 'hooks_failed'
  | 'server_error';

/** Statuses of refusals that stay the same until somebody changes a key, a budget, a permission or the request. */
const FINAL_STATUSES: ReadonlySet<number> = new Set([401, 402, 403, 446]);

/** Whether the same request gets the same error again, so that clients should not send it again. */
export const isFinal = ({ status, doNotRetry }: ErrorSpec): boolean =>
  doNotRetry === true || FINAL_STATUSES.has(status);
