/**
 * What the caller reads of a refusal.
 *
 * `type` groups codes the way OpenAI's clients expect. `{name}` in a message is
 * filled from the details that the thrower gives; messages are safe to show.
 * `elsewhere` marks refusals that another target or another try might not share.
 * `doNotRetry` adds `x-should-retry: false`, which the official SDKs obey.
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
