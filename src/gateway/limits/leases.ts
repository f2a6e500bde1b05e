import type { OnApplicationShutdown } from '@nestjs/common';
import { LoopHealth } from '../../common/loops/loop-health.js';
import { createLogger } from '../../common/observability/logger.js';
import { reportSparsely } from '../../common/observability/report-sparsely.js';
import { answeredWithin } from '../../common/processes/answered-within.js';
import type { LimitStore } from '../ports.js';
import { limitCounts } from './limit-metrics.js';
import { Pool } from './pool.js';
import type { Counter, LimitAsk, LimitReturn } from './store.js';

/** How often what nobody uses goes back, and what is leased is kept alive. */
const ROUND_MS = 500;
/** How long a store that did not answer is left alone. */
const AWAY_MS = 1_000;
/** A store that is silent for so long is away. */
const PATIENCE_MS = 2_000;
/** Rounds that failed for so long are worth a line in readiness. */
const STALLED_AFTER_MS = 30_000;
/** A pool that holds nothing is forgotten after this. */
const IDLE_MS = 60_000;

/** What a pool gives back with a round. */
interface Gift {
  readonly pool: Pool;
  readonly due: LimitReturn;
}

const report = reportSparsely(createLogger('limits'));

/**
 * What this process has leased of all counters, and its way to the store.
 *
 * Asks of one turn of the event loop go to the store together, one call at a time for each counter.
 */
export class Leases implements OnApplicationShutdown {
  private readonly pools = new Map<string, Pool>();
  /** Pools of periods that are over, until what hangs on them has ended. */
  private readonly ended = new Set<Pool>();
  private readonly asking = new Set<Pool>();
  /** Calls are numbered, so that the store knows an old one that comes late. */
  private calls = 0;
  private isScheduled = false;
  private awayUntil = -Infinity;
  private timer: NodeJS.Timeout | undefined;
  private readonly health = new LoopHealth('limit-leases', STALLED_AFTER_MS);

  constructor(private readonly store: LimitStore) {}

  /** The pool by that name, if there is one whose period is not over. */
  find(name: string, moment: number): Pool | null {
    const known = this.pools.get(name);
    return known !== undefined && moment < known.endsAt ? known : null;
  }

  /** Makes the pool of a counter, for which `find` found none. */
  open(name: string, counter: Counter, endsAt: number): Pool {
    const known = this.pools.get(name);
    if (known) this.ended.add(known);
    const pool = new Pool(counter, endsAt, this.wake, this.calls);
    this.pools.set(name, pool);
    if (!this.timer) this.health.watch();
    this.timer ??= setInterval(() => void this.round(), ROUND_MS).unref();
    return pool;
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    this.health.unwatch();
    for (const pool of this.all()) pool.usedAt = -Infinity;
    await this.round();
  }

  /** Gives back what lies idle and keeps alive what is leased. */
  async round(): Promise<void> {
    const now = performance.now();
    const gifts: Gift[] = [];
    for (const pool of this.all()) {
      const due = pool.nextReturn(now, ROUND_MS, ++this.calls);
      if (pool.available < 0) this.wake(pool);
      if (!due) continue;
      gifts.push({ pool, due });
    }
    this.forget(now);
    if (this.pools.size + this.ended.size === 0 && gifts.length === 0) return this.health.succeeded();
    await this.give(gifts);
  }

  private async give(gifts: readonly Gift[]): Promise<void> {
    try {
      await inTime(this.store.giveBack(gifts.map(({ due }) => due)));
      for (const { pool, due } of gifts) pool.gaveBack(due);
      this.health.succeeded();
    } catch (error) {
      // What could not be given back stays leased to this process, and so do its pools.
      for (const { pool, due } of gifts) pool.keptBack(due);
      this.health.failed();
      this.awayUntil = performance.now() + AWAY_MS;
      report('The store of limits is away.', error);
    } finally {
      this.wakeRest();
    }
  }

  private *all(): Iterable<Pool> {
    yield* this.pools.values();
    yield* this.ended;
  }

  private forget(now: number): void {
    for (const pool of this.ended) if (pool.isEmpty) this.ended.delete(pool);
    for (const [name, pool] of this.pools)
      if (pool.isEmpty && now - pool.usedAt > IDLE_MS) this.pools.delete(name);
  }

  private readonly wake = (pool: Pool): void => {
    this.asking.add(pool);
    if (this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      this.ask();
    });
  };

  private ask(): void {
    const now = performance.now();
    const asks: LimitAsk[] = [];
    const pools: Pool[] = [];
    for (const pool of this.asking) {
      if (pool.isAsking) continue;
      this.asking.delete(pool);
      const ask = pool.nextAsk(now, ++this.calls);
      if (!ask) continue;
      asks.push(ask);
      pools.push(pool);
    }
    if (asks.length === 0) return;
    if (now < this.awayUntil) {
      this.failed(pools, new Error('The store of limits did not answer a moment ago.'));
      return;
    }
    void this.send(asks, pools)
      .catch((error: unknown) => this.failed(pools, error))
      .finally(() => this.wakeRest());
  }

  private async send(asks: readonly LimitAsk[], pools: readonly Pool[]): Promise<void> {
    const grants = await inTime(this.store.take(asks));
    const now = performance.now();
    pools.forEach((pool, at) => {
      const [ask, grant] = [asks[at], grants[at]];
      if (ask && grant) pool.granted(ask, grant, now);
    });
  }

  private failed(pools: readonly Pool[], error: unknown): void {
    const now = performance.now();
    if (now >= this.awayUntil) {
      this.awayUntil = now + AWAY_MS;
      report('The store of limits is away; rates are not limited, budgets serve what is leased.', error);
    }
    for (const pool of pools) {
      if (pool.isWaitedFor && pool.counter.limit.kind !== 'budget') limitCounts.failedOpen += 1;
      pool.failed(AWAY_MS, now, error);
    }
  }

  /** Pools that wanted to ask while their last question was on its way. */
  private wakeRest(): void {
    for (const pool of this.asking) return this.wake(pool);
  }
}

const inTime = <T>(work: Promise<T>): Promise<T> =>
  answeredWithin(work, PATIENCE_MS, 'The store of limits did not answer in time.');
