import type { Translated } from '../translating/outgoing.js';
import type { Attempt } from '../upstream/attempt.js';
import type { PlannedTarget } from './plan.js';
import type { Target } from './target.js';

/** An answer whose head has come, and how it is to be read. */
export interface Answer {
  readonly status: number;
  readonly attempt: Attempt;
  readonly target: Target;
  readonly planned: PlannedTarget;
  /** Null: the answer is the client's as it is. */
  readonly translated: Translated | null;
}
