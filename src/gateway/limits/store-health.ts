import { createLogger } from '../../common/observability/logger.js';
import { limitCounts } from './limit-metrics.js';

const log = createLogger('limits');

/**
 * The availability of a limit store for this process. Logs the start and the end of each outage.
 *
 * Only a call that wrote ends an outage. A store that refuses writes (a full Redis, a replica, a read-only database) still answers calls
 * that need none, and no limit holds meanwhile.
 */
export class LimitStoreHealth {
  /** When the outage began, in milliseconds since the epoch; null while the store is available. */
  unavailableSince: number | null = null;
  private passedBefore = 0;

  constructor(private readonly kind: 'rates' | 'budgets' | 'rates and budgets') {}

  failed(error: unknown): void {
    if (this.unavailableSince !== null) return;
    this.unavailableSince = Date.now();
    this.passedBefore = limitCounts.failedOpen;
    limitCounts.storesUnavailable += 1;
    log.warn({ err: error }, `The limit store is unavailable. ${this.consequence}.`);
  }

  wrote(): void {
    if (this.unavailableSince === null) return;
    const outage = {
      outage_seconds: Math.round((Date.now() - this.unavailableSince) / 1_000),
      requests_passed_unlimited: limitCounts.failedOpen - this.passedBefore,
    };
    this.unavailableSince = null;
    limitCounts.storesUnavailable -= 1;
    log.warn(outage, `The limit store is available again. All limits hold again.`);
  }

  /** For `/readyz?verbose`; null while the store is available. */
  get problem(): string | null {
    if (this.unavailableSince === null) return null;
    return `The limit store is unavailable. ${this.consequence} since ${new Date(this.unavailableSince).toISOString()}.`;
  }

  private get consequence(): string {
    switch (this.kind) {
      case 'rates':
        return RATES;
      case 'budgets':
        return BUDGETS;
      default:
        return `${BUDGETS} and ${RATES.toLowerCase()}`;
    }
  }
}

const RATES = 'Rates are not limited';
const BUDGETS = 'Budgets serve only what is already leased';
