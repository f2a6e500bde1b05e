import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { AppError } from '../../common/errors/app-error.js';
import type { LimitReservation } from '../types/limit-reservation.js';
import { LimitStore } from './store.js';
import { areThere, Demands, type LeasesByKind, type LimitDemand } from './demands.js';
import { Hold, type ReservedAmount } from './hold.js';
import { Leases } from './leases.js';
import { limitCounts } from './limit-metrics.js';
import { LimitStoreHealth } from './store-health.js';

export type { LimitDemand };

/** More rounds than any request needs: in each, the store granted the missing amount and another request took it first. */
const ROUNDS_MAX = 50;

/** Admits or refuses requests, and holds their reservations. */
@Injectable()
export class Limiter implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly leases: LeasesByKind;
  private readonly holder: string;

  constructor(store: LimitStore) {
    const isOneStore = store.budgets === store;
    const rates = new Leases(store, new LimitStoreHealth(isOneStore ? 'rates and budgets' : 'rates'));
    const budgets = isOneStore ? rates : new Leases(store.budgets, new LimitStoreHealth('budgets'));
    this.leases = { rates, budgets };
    this.holder = store.holder;
  }

  /**
   * Takes the amounts that the attempt may use from every limit that applies, in one step, or throws and takes nothing. Returns without a
   * promise when the leases of this process suffice. Call it only for requests with limits.
   *
   * Rejects with `budget_exceeded`, `price_unknown`, `rate_limited`, `concurrency_limited` or `limits_unavailable`.
   */
  reserve(demand: LimitDemand): LimitReservation | Promise<LimitReservation> {
    try {
      const { parts } = new Demands(demand, this.leases);
      const now = performance.now();
      return areThere(parts, now) ? this.taken(parts, now) : this.wait(parts);
    } catch (error) {
      throw counted(error);
    }
  }

  /** The problem of the limit stores, for operators; null when they are available. */
  async problem(): Promise<string | null> {
    await Promise.all(this.each().map((leases) => leases.probe()));
    const problems = this.each().flatMap(({ health }) => health.problem ?? []);
    return problems.length > 0 ? problems.join(' ') : null;
  }

  onApplicationBootstrap(): void {
    for (const leases of this.each()) leases.start();
  }

  /** Returns all leases. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.each().map((leases) => leases.onApplicationShutdown()));
  }

  private each(): readonly Leases[] {
    const { rates, budgets } = this.leases;
    return rates === budgets ? [rates] : [rates, budgets];
  }

  private async wait(parts: readonly ReservedAmount[]): Promise<LimitReservation> {
    try {
      for (let round = 0; round < ROUNDS_MAX; round++) {
        const lacking = parts.filter(({ pool, amount }) => !pool.has(amount, performance.now()));
        await Promise.all(lacking.map(({ pool, amount }) => pool.fill(amount, performance.now())));
        const now = performance.now();
        if (areThere(parts, now)) return this.taken(parts, now);
      }
    } catch (error) {
      throw counted(error);
    }
    throw new AppError('overloaded');
  }

  private taken(parts: readonly ReservedAmount[], now: number): LimitReservation {
    let isForRequest = false;
    let isUnlimited = false;
    for (const part of parts) {
      const { pool, amount } = part;
      part.slice = pool.oldestSlice;
      part.amount = pool.take(amount, now);
      isForRequest ||= part.isForRequest;
      isUnlimited ||= part.amount < amount;
    }
    if (isUnlimited) limitCounts.failedOpen += 1;
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
