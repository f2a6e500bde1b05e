import type { StoredAnswer } from '../types/stored-answer.js';

/** A cached response for a request. */
export interface FoundAnswer {
  readonly answer: StoredAnswer;
  /** Similarity of the request that it belongs to, 0 to 1; null when that request is equal. */
  readonly score: number | null;
}
