import type { GuardedRequest } from '../guardrails/guard-request.js';
import type { JudgedAnswer } from '../guardrails/judge-answer.js';
import type { ActiveTranslation } from '../translation/outgoing.js';
import type { Attempt } from '../upstream/attempt.js';
import type { Content } from '../types/content.js';
import type { PlannedTarget } from '../types/plan.js';
import type { Target } from '../types/target.js';

/** An answer whose head has come, and how it is to be read. */
export interface Answer {
  readonly status: number;
  readonly attempt: Attempt;
  readonly target: Target;
  readonly planned: PlannedTarget;
  /** The request that it answers, as the target got it, in the client's dialect. */
  readonly content: Content;
  /** Null: the answer is the client's as it is. */
  readonly translated: ActiveTranslation | null;
  /** Null where no guardrail has to do with the answer. */
  readonly guarded: GuardedRequest | null;
  /** The answer as a whole with the verdict on it; null where it goes on as it comes. */
  readonly judged: JudgedAnswer | null;
}
