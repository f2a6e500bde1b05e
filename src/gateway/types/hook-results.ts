import type { HookFeedback, HookSpec } from '../../routing-config/guardrails/hook.js';

/** Result of one check, for the log and the client. */
export interface CheckResult {
  readonly id: string;
  readonly verdict: boolean;
  /** Milliseconds. */
  readonly execution_time: number;
  readonly transformed: boolean;
  readonly data: Readonly<Record<string, unknown>> | null;
  readonly error: { readonly name: string; readonly message: string } | null;
  readonly created_at: string;
}

/** Result of one guardrail. */
export interface HookResult {
  readonly id: string;
  readonly type: HookSpec['type'];
  readonly verdict: boolean;
  readonly deny: boolean;
  readonly async: boolean;
  readonly transformed: boolean;
  readonly checks: readonly CheckResult[];
  readonly feedback: HookFeedback | null;
  /** Milliseconds. */
  readonly execution_time: number;
  readonly created_at: string;
}

/** Results of an exchange's guardrails: on the request, and on the response. */
export interface HookResults {
  readonly before_request_hooks: HookResult[];
  readonly after_request_hooks: HookResult[];
}
