import { createLogger } from '../../common/observability/logger.js';
import { reportSparsely } from '../../common/observability/report-sparsely.js';
import type { AnswerStore } from '../ports.js';
import { type AnswerPlace } from '../ports.js';
import type { StoredAnswer } from '../types/stored-answer.js';
import { answerOf, bytesOf } from './answer-bytes.js';
import { cacheCounts } from './cache-metrics.js';
import { within } from './flights.js';

/** A store that takes longer is no help to a request that only wants to be faster. */
const FIND_WITHIN_MS = 250;

/** So long a store that failed is not asked again. */
const AWAY_MS = 5_000;

/** More look-ups at once than that, and the store is what is slow. */
const LOOKUPS_MAX = 64;

/** Bytes on their way to the store at most; what comes while they are is not shared. */
const PENDING_BYTES_MAX = 32 * 1024 * 1024;

const MISSING = Symbol('missing');

/** The answers of all processes. It is never waited for long, and what goes wrong there is a miss. */
export class SharedAnswers {
  private readonly report = reportSparsely(createLogger('cache'));
  private awayUntil = 0;
  private lookups = 0;
  private pendingBytes = 0;

  constructor(private readonly store: AnswerStore) {}

  /** Undefined where nobody can say. */
  async find(place: AnswerPlace): Promise<StoredAnswer | null | undefined> {
    if (Date.now() < this.awayUntil || this.lookups >= LOOKUPS_MAX) return undefined;
    this.lookups++;
    const asked = this.store
      .find(place)
      .then((bytes) => bytes ?? MISSING)
      .finally(() => this.lookups--);
    // One that fails after it was late fails for nobody.
    asked.catch(() => undefined);
    try {
      const found = await within(asked, FIND_WITHIN_MS);
      // Null is what is late, so a miss has a name of its own.
      if (found === null) return this.failed(new Error(`no answer within ${FIND_WITHIN_MS} ms`));
      return found === MISSING ? null : answerOf(found);
    } catch (error) {
      return this.failed(error);
    }
  }

  /** Never throws, and nobody waits. */
  keep(place: AnswerPlace, answer: StoredAnswer): void {
    if (Date.now() < this.awayUntil) return;
    const bytes = bytesOf(answer);
    if (this.pendingBytes + bytes.length > PENDING_BYTES_MAX) return;
    this.pendingBytes += bytes.length;
    this.store
      .keep(place, bytes, answer.expiresAt)
      .catch((error: unknown) => this.failed(error))
      .finally(() => (this.pendingBytes -= bytes.length));
  }

  private failed(error: unknown): undefined {
    cacheCounts.storeFailures++;
    this.awayUntil = Date.now() + AWAY_MS;
    this.report('The store of cached answers failed: requests go on without it.', error);
  }
}
