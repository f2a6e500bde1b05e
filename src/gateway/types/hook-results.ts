import type { HookFeedback, HookSpec } from '../../routing-config/guardrails/hook.js';

/** What one check said, as the log and the client get it. */
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

/** What one guardrail said. */
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

/** What the guardrails of an exchange said: before it was sent, and of the answer. */
export interface HookResults {
  readonly before_request_hooks: HookResult[];
  readonly after_request_hooks: HookResult[];
}
