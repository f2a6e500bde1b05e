/** One guardrail that ran for a request, without what it found in the texts. */
export interface GuardrailRun {
  readonly id: string;
  readonly stage: 'request' | 'response';
  /** What it does when a check fails: refuses the request, or only reports. */
  readonly deny: boolean;
  readonly async: boolean;
  readonly verdict: boolean;
  readonly transformed: boolean;
  /** Checks without a passing verdict, by their id. */
  readonly failedChecks: readonly string[];
  /** When it began, ISO 8601. */
  readonly createdAt: string;
  readonly durationMs: number;
}

interface StoredHookResult {
  readonly id: string;
  readonly verdict: boolean;
  readonly deny: boolean;
  readonly async: boolean;
  readonly transformed: boolean;
  readonly checks: readonly { readonly id: string; readonly verdict: boolean }[];
  readonly execution_time: number;
  readonly created_at: string;
}

/** The column `hook_results` of `request_logs`. */
export interface StoredHookResults {
  readonly before_request_hooks?: readonly StoredHookResult[];
  readonly after_request_hooks?: readonly StoredHookResult[];
}

export function guardrailRunsIn({
  before_request_hooks: before = [],
  after_request_hooks: after = [],
}: StoredHookResults): GuardrailRun[] {
  return [...before.map((hook) => runOf(hook, 'request')), ...after.map((hook) => runOf(hook, 'response'))];
}

const runOf = (hook: StoredHookResult, stage: GuardrailRun['stage']): GuardrailRun => ({
  id: hook.id,
  stage,
  deny: hook.deny,
  async: hook.async,
  verdict: hook.verdict,
  transformed: hook.transformed,
  failedChecks: hook.checks.filter(({ verdict }) => !verdict).map(({ id }) => id),
  createdAt: hook.created_at,
  durationMs: hook.execution_time,
});
