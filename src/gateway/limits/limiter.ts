import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { AppError } from '../../common/errors/app-error.js';
import { LimitStore } from '../ports.js';
import { areThere, Demands, type LeasesByKind, type Wanted } from './demands.js';
import { Hold, type Part } from './hold.js';
import { Leases } from './leases.js';
import { limitCounts } from './limit-metrics.js';

export type { Wanted };

/** `request` ends with the request, `attempt` with the attempt. */
export interface Reserved {
  /** Null where nothing is counted per request. */
  readonly request: Hold | null;
  readonly attempt: Hold;
}

/** More rounds than any request needs: in each, the store has granted what was lacking and somebody else was faster. */
const ROUNDS_MAX = 50;

/** Says whether a request may go on, and remembers what it reserved. */
@Injectable()
export class Limiter implements OnApplicationShutdown {
  private readonly leases: LeasesByKind;
  private readonly holder: string;

  constructor(store: LimitStore) {
    const rates = new Leases(store);
    this.leases = { rates, budgets: store.budgets === store ? rates : new Leases(store.budgets) };
    this.holder = store.holder;
  }

  /**
   * Takes what the attempt may use from every limit that applies, in one step, or refuses and takes nothing. Returns
   * without a promise where the leases of this process suffice. Ask only for what has limits at all.
   *
   * Rejects with `budget_exceeded`, `price_unknown`, `rate_limited`, `concurrency_limited` or `limits_unavailable`.
   */
  reserve(wanted: Wanted): Reserved | Promise<Reserved> {
    try {
      const { parts } = new Demands(wanted, this.leases);
      const now = performance.now();
      return areThere(parts, now) ? this.taken(parts, now) : this.wait(parts);
    } catch (error) {
      throw counted(error);
    }
  }

  /** Gives back what is leased. */
  async onApplicationShutdown(): Promise<void> {
    const { rates, budgets } = this.leases;
    await Promise.all([...new Set([rates, budgets])].map((leases) => leases.onApplicationShutdown()));
  }

  private async wait(parts: readonly Part[]): Promise<Reserved> {
    try {
      for (let round = 0; round < ROUNDS_MAX; round++) {
        const lacking = parts.filter(({ pool, amount }) => !pool.has(amount, performance.now()));
        await Promise.all(lacking.map(({ pool, amount }) => pool.fill(amount)));
        const now = performance.now();
        if (areThere(parts, now)) return this.taken(parts, now);
      }
    } catch (error) {
      throw counted(error);
    }
    throw new AppError('overloaded');
  }

  private taken(parts: readonly Part[], now: number): Reserved {
    let isForRequest = false;
    for (const part of parts) {
      part.amount = part.pool.take(part.amount, now);
      isForRequest ||= part.isForRequest;
    }
    const { holder } = this;
    return {
      request: isForRequest ? new Hold(parts, true, holder) : null,
      attempt: new Hold(parts, false, holder),
    };
  }
}

function counted(error: unknown): unknown {
  limitCounts.refused += 1;
  return error;
}
