import { type AnswerPlace, type AnswerStore } from '../ports.js';
import type { StoredAnswer } from '../types/stored-answer.js';
import { answerOf, bytesOf } from './answer-bytes.js';
import { StorePatience } from './store-patience.js';

/** The responses of all processes. Waits for the store are short, and a failure there is a miss. */
export class SharedAnswers {
  private readonly patience = new StorePatience('The cache store failed. Requests continue without it.');

  constructor(private readonly store: AnswerStore) {}

  /** Undefined when it is unknown. */
  find(place: AnswerPlace): Promise<StoredAnswer | null | undefined> {
    return this.patience.ask(async () => {
      const found = await this.store.find(place);
      return found && answerOf(found);
    });
  }

  /** Never throws and returns at once. */
  keep(place: AnswerPlace, answer: StoredAnswer): void {
    const bytes = bytesOf(answer);
    this.patience.tell(bytes.length, () => this.store.keep(place, bytes, answer.expiresAt));
  }
}
