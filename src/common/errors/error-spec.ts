/**
 * An error as the caller sees it.
 *
 * `type` groups codes the way OpenAI's clients expect. `{name}` in a message is filled from the thrown details; messages are safe to show.
 * `elsewhere` marks errors that another target or another attempt might not have. `doNotRetry` adds `x-should-retry: false`, which the
 * official SDKs obey.
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
