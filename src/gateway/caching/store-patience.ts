import { createLogger } from '../../common/observability/logger.js';
import { reportSparsely } from '../../common/observability/report-sparsely.js';
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

/** How long a store is waited for: never long. A failure there fails no request. */
export class StorePatience {
  private readonly report = reportSparsely(createLogger('cache'));
  private awayUntil = 0;
  private lookups = 0;
  private pendingBytes = 0;

  /** `failure` is what the log says. */
  constructor(private readonly failure: string) {}

  /** Undefined where it is unknown. Never rejects. */
  async ask<T>(question: () => Promise<T>): Promise<T | undefined> {
    if (Date.now() < this.awayUntil || this.lookups >= LOOKUPS_MAX) return undefined;
    this.lookups++;
    const asked = question()
      .then((answer) => ({ answer }))
      .finally(() => this.lookups--);
    // A failure after the deadline is ignored.
    asked.catch(() => undefined);
    try {
      const found = await within(asked, FIND_WITHIN_MS);
      return found ? found.answer : this.failed(new Error(`no response within ${FIND_WITHIN_MS} ms`));
    } catch (error) {
      return this.failed(error);
    }
  }

  /** Never throws, and nobody waits. `message` is made when there is room for it. */
  tell(bytes: number, message: () => Promise<void>): void {
    if (Date.now() < this.awayUntil || this.pendingBytes + bytes > PENDING_BYTES_MAX) return;
    this.pendingBytes += bytes;
    message()
      .catch((error: unknown) => this.failed(error))
      .finally(() => (this.pendingBytes -= bytes));
  }

  private failed(error: unknown): undefined {
    cacheCounts.storeFailures++;
    this.awayUntil = Date.now() + AWAY_MS;
    this.report(this.failure, error);
  }
}
