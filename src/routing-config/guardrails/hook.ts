import type { CheckId } from './check-parameters.js';

/** A score that is attached to a trace when a guardrail passed or failed. Kept as data. */
export interface HookFeedback {
  readonly value?: number;
  readonly weight?: number;
  readonly metadata?: unknown;
}

/** One check of a guardrail, its parameters read and complete. */
export interface CheckSpec {
  readonly id: CheckId;
  readonly name: string | null;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly isEnabled: boolean;
}

/** A guardrail or mutator as it was read: from a config, long or short, or from the store. */
export interface HookSpec {
  readonly id: string;
  readonly type: 'guardrail' | 'mutator';
  readonly checks: readonly CheckSpec[];
  /** A failure refuses the request, or keeps the answer from the client. */
  readonly deny: boolean;
  /** The checks run beside the request and never influence it. */
  readonly isAsync: boolean;
  /** The checks run one after another, each on what the one before left. */
  readonly isSequential: boolean;
  /** A check that could not be made counts as failed; otherwise it counts as passed. */
  readonly failOnError: boolean;
  readonly onSuccess: HookFeedback | null;
  readonly onFail: HookFeedback | null;
}
