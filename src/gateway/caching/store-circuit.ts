import { createLogger } from '../../common/observability/logger.js';
import { reportSparsely } from '../../common/observability/report-sparsely.js';
import { cacheCounts } from './cache-metrics.js';
import { within } from './in-flight-requests.js';

/** A slower store is of no use to a request that the cache should speed up. */
const FIND_WITHIN_MS = 250;

/** How long a store that failed is not used. */
const AWAY_MS = 5_000;

/** More concurrent look-ups mean that the store is slow. */
const LOOKUPS_MAX = 64;

/** Maximum bytes on their way to the store; beyond that, responses are not shared. */
const PENDING_BYTES_MAX = 32 * 1024 * 1024;

/** Limits the wait for a store. Its failures fail no request. */
export class StoreCircuit {
  private readonly report = reportSparsely(createLogger('cache'));
  private unavailableUntil = 0;
  private lookups = 0;
  private pendingBytes = 0;

  /** `failure` is the log message. */
  constructor(private readonly failure: string) {}

  /** Undefined when it is unknown. Never rejects. */
  async ask<T>(question: () => Promise<T>): Promise<T | undefined> {
    if (Date.now() < this.unavailableUntil || this.lookups >= LOOKUPS_MAX) return undefined;
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

  /** Never throws and returns at once. `message` is called only if its bytes are within the limit. */
  tell(bytes: number, message: () => Promise<void>): void {
    if (Date.now() < this.unavailableUntil || this.pendingBytes + bytes > PENDING_BYTES_MAX) return;
    this.pendingBytes += bytes;
    message()
      .catch((error: unknown) => this.failed(error))
      .finally(() => (this.pendingBytes -= bytes));
  }

  private failed(error: unknown): undefined {
    cacheCounts.storeFailures++;
    this.unavailableUntil = Date.now() + AWAY_MS;
    this.report(this.failure, error);
  }
}
