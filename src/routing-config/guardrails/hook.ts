import type { CheckId } from './check-parameters.js';

/** A score that is added to a trace when a guardrail passed or failed. Kept as data. */
export interface HookFeedback {
  readonly value?: number;
  readonly weight?: number;
  readonly metadata?: unknown;
}

/** One check of a guardrail with its parsed parameters. */
export interface CheckSpec {
  readonly id: CheckId;
  readonly name: string | null;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly isEnabled: boolean;
}

/** A parsed guardrail or mutator: from a config, in long or short form, or from the store. */
export interface HookSpec {
  readonly id: string;
  readonly type: 'guardrail' | 'mutator';
  readonly checks: readonly CheckSpec[];
  /** A failure refuses the request, or withholds the response from the client. */
  readonly deny: boolean;
  /** The checks run in parallel to the request and never affect it. */
  readonly isAsync: boolean;
  /** The checks run one after another, each on the previous one's output. */
  readonly isSequential: boolean;
  /** A check that could not run counts as failed; otherwise as passed. */
  readonly failOnError: boolean;
  readonly onSuccess: HookFeedback | null;
  readonly onFail: HookFeedback | null;
}
