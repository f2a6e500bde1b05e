import type { GuardedRequest } from '../guardrails/guard-request.js';
import type { JudgedAnswer } from '../guardrails/judged-answer.js';
import type { ActiveTranslation } from '../translation/outgoing.js';
import type { StartedAttempt } from '../upstream/started-attempt.js';
import type { RequestContent } from '../types/content.js';
import type { PlannedTarget } from '../types/plan.js';
import type { Target } from '../types/target.js';

/** A response whose head has arrived, and how to read it. */
export interface Answer extends StartedAttempt {
  readonly status: number;
  readonly target: Target;
  readonly planned: PlannedTarget;
  /** The request as the target received it, in the client's dialect. */
  readonly content: RequestContent;
  /** Null: the client receives the response unchanged. */
  readonly translated: ActiveTranslation | null;
  /** Null when no guardrail applies to the response. */
  readonly guarded: GuardedRequest | null;
  /** The whole response with its verdict; null when it passes as it arrives. */
  readonly judged: JudgedAnswer | null;
}
