import type { StoredAnswer } from '../types/stored-answer.js';

/** An answer for a request. */
export interface FoundAnswer {
  readonly answer: StoredAnswer;
  /** How like the question is that it answered, 0 to 1; null where it is the very same. */
  readonly score: number | null;
}
