import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { AppError } from '../../common/errors/app-error.js';
import type { Limit } from '../../common/limits/limit.js';
import { counterKey, periodAt } from '../../common/limits/period.js';
import { LimitStore } from '../ports.js';
import { type Applying, type LimitedRequest, limitsApplying } from './applying.js';
import type { Estimate } from './estimate.js';
import { Hold, type Taken } from './hold.js';
import { Leases } from './leases.js';
import { limitCounts } from './limit-metrics.js';
import type { Pool } from './pool.js';

/** What an attempt wants to use. */
export interface Wanted extends LimitedRequest {
  /** It begins a request, so that what is counted once per request is taken too. */
  readonly isFirst: boolean;
  readonly estimate: Estimate;
}

/** `request` ends with the request, `attempt` with the attempt. */
export interface Reserved {
  readonly request: Hold | null;
  readonly attempt: Hold;
}

interface Demand {
  readonly pool: Pool;
  readonly amount: number;
  readonly isForRequest: boolean;
}

/** More rounds than any request needs: in each, the store has granted what was lacking and somebody else was faster. */
const ROUNDS_MAX = 50;

/** Says whether a request may go on, and remembers what it reserved. */
@Injectable()
export class Limiter implements OnApplicationShutdown {
  private readonly leases: Leases;

  constructor(store: LimitStore) {
    this.leases = new Leases(store);
  }

  /**
   * Takes what the attempt may use from every limit that applies, in one step, or refuses and takes nothing. Returns
   * without a promise where the leases of this process suffice. Ask only for what has limits at all.
   *
   * Rejects with `budget_exceeded`, `price_unknown`, `rate_limited`, `concurrency_limited` or `limits_unavailable`.
   */
  reserve(wanted: Wanted): Reserved | Promise<Reserved> {
    try {
      const demands = this.demandsOf(wanted);
      const now = performance.now();
      return areThere(demands, now) ? this.taken(demands, now) : this.wait(demands);
    } catch (error) {
      throw counted(error);
    }
  }

  /** Gives back what is leased. */
  onApplicationShutdown(): Promise<void> {
    return this.leases.onApplicationShutdown();
  }

  private async wait(demands: readonly Demand[]): Promise<Reserved> {
    try {
      for (let round = 0; round < ROUNDS_MAX; round++) {
        const lacking = demands.filter(({ pool, amount }) => !pool.has(amount, performance.now()));
        await Promise.all(lacking.map(({ pool, amount }) => pool.fill(amount)));
        const now = performance.now();
        if (areThere(demands, now)) return this.taken(demands, now);
      }
    } catch (error) {
      throw counted(error);
    }
    throw new AppError('overloaded');
  }

  private taken(demands: readonly Demand[], now: number): Reserved {
    const ofRequest: Taken[] = [];
    const ofAttempt: Taken[] = [];
    for (const { pool, amount, isForRequest } of demands)
      (isForRequest ? ofRequest : ofAttempt).push({ pool, amount: pool.take(amount, now) });
    const { holder } = this.leases;
    return {
      request: ofRequest.length > 0 ? new Hold(ofRequest, holder) : null,
      attempt: new Hold(ofAttempt, holder),
    };
  }

  private demandsOf(wanted: Wanted): Demand[] {
    const moment = Date.now();
    const demands: Demand[] = [];
    for (const applying of limitsApplying(wanted)) {
      const isForRequest = applying.isCallers && isPerRequest(applying.limit);
      if (isForRequest && !wanted.isFirst) continue;
      const amount = amountOf(applying.limit, wanted);
      demands.push({ pool: this.poolOf(applying, moment), amount, isForRequest });
    }
    return demands;
  }

  private poolOf({ limit, group, groupText }: Applying, moment: number): Pool {
    const name = group === '' ? limit.id : `${limit.id}/${group}`;
    const pool = this.leases.pool(name, moment, () => {
      const period = limit.budget ? periodAt(limit.budget, moment) : ENDLESS;
      return {
        counter: { key: counterKey(limit.id, period, group), limit, group: groupText },
        endsAt: period.endsAt,
      };
    });
    // The limit may have been changed since the pool was made; its counter stays.
    if (pool.counter.limit !== limit) pool.counter = { ...pool.counter, limit };
    return pool;
  }
}

const ENDLESS = { startsAt: 0, endsAt: Number.POSITIVE_INFINITY } as const;

const isPerRequest = ({ measure }: Limit): boolean => measure === 'requests' || measure === 'concurrency';

const areThere = (demands: readonly Demand[], now: number): boolean =>
  demands.every(({ pool, amount }) => pool.has(amount, now));

/** An estimate above a whole rate limit takes all of it: what it really was is charged at the end. */
function amountOf(limit: Limit, { estimate, model }: Wanted): number {
  switch (limit.measure) {
    case 'tokens':
      return limit.kind === 'window' ? Math.min(estimate.tokens, limit.amount) : estimate.tokens;
    case 'cost':
      if (estimate.costNanoUsd === null)
        throw new AppError('price_unknown', { subject: limit.subject, model: model ?? '' });
      return estimate.costNanoUsd;
    default:
      return 1;
  }
}

function counted(error: unknown): unknown {
  limitCounts.refused += 1;
  return error;
}
