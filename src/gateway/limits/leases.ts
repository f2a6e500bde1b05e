import type { OnApplicationShutdown } from '@nestjs/common';
import { LoopHealth } from '../../common/loops/loop-health.js';
import { createLogger } from '../../common/observability/logger.js';
import { reportSparsely } from '../../common/observability/report-sparsely.js';
import { answeredWithin } from '../../common/processes/answered-within.js';
import { LimitFault, type LimitStore } from './store.js';
import { limitCounts } from './limit-metrics.js';
import { Pool, type PoolCalls } from './pool.js';
import type { AskAnswer, Counter, LimitAsk, LimitReturn, ReturnAnswer } from './store.js';
import type { LimitStoreHealth } from './store-health.js';

/** How often unused leases are returned and the others are kept alive. */
const ROUND_MS = 500;
/** How long a store that did not respond is not called. */
const AWAY_MS = 1_000;
/** A store that takes longer than this is unavailable. */
const LEASE_TIMEOUT_MS = 2_000;
/**
 * A store without a call for this long is probed, so that no request is the first to use a connection that was lost silently, for example
 * in a failover.
 */
const PROBE_MS = 5_000;
/** Readiness reports rounds that have failed for this long. */
const STALLED_AFTER_MS = 30_000;
/** An empty pool is dropped after this time. */
const IDLE_MS = 60_000;

/** A pool with the return that it sends. */
interface PoolReturn {
  readonly pool: Pool;
  readonly due: LimitReturn;
}

const report = reportSparsely(createLogger('limits'));

/**
 * The leases of this process on all counters, and its calls to the store.
 *
 * The asks of one turn of the event loop go to the store in one call, and so do the returns, with one call at a time for each counter. A
 * rejected call means that the store is unavailable; a fault in a result concerns only its counter.
 */
export class Leases implements OnApplicationShutdown, PoolCalls {
  private readonly pools = new Map<string, Pool>();
  /** Pools of ended periods, until nothing depends on them. */
  private readonly ended = new Set<Pool>();
  private readonly asking = new Set<Pool>();
  private readonly releasing = new Set<Pool>();
  /** Calls are numbered, so that the store recognizes one that arrives after a later one. */
  private callNumber = 0;
  private isScheduled = false;
  private unavailableUntil = -Infinity;
  private calledAt = -Infinity;
  private timer: NodeJS.Timeout | undefined;
  private readonly loop = new LoopHealth('limit-leases', STALLED_AFTER_MS);

  constructor(
    private readonly store: LimitStore,
    readonly health: LimitStoreHealth,
  ) {}

  /** The pool by that name whose period has not ended. */
  find(name: string, moment: number): Pool | null {
    const known = this.pools.get(name);
    return known !== undefined && moment < known.endsAt ? known : null;
  }

  /** Opens the pool of a counter and replaces one by that name that counts something else. */
  open(name: string, counter: Counter, endsAt: number): Pool {
    const known = this.pools.get(name);
    if (known) this.end(known);
    const pool = new Pool(counter, endsAt, this, this.callNumber);
    this.pools.set(name, pool);
    this.start();
    return pool;
  }

  /** Starts the rounds. */
  start(): void {
    if (this.timer) return;
    this.loop.watch();
    this.timer = setInterval(() => void this.round(), ROUND_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    this.loop.unwatch();
    for (const pool of this.all()) pool.usedAt = -Infinity;
    await this.round();
  }

  /** Checks whether the store takes writes, unless it failed a moment ago. `health` has the result. */
  async probe(): Promise<void> {
    if (performance.now() >= this.unavailableUntil) await this.give([], true);
  }

  /** Returns idle leases and keeps the others alive. */
  async round(): Promise<void> {
    const now = performance.now();
    const returns: PoolReturn[] = [];
    for (const pool of this.all()) {
      const due = pool.nextReturn(now, ROUND_MS, ++this.callNumber);
      if (pool.available < 0) this.wake(pool);
      if (due) returns.push({ pool, due });
    }
    this.forget(now);
    const isUsed = this.pools.size + this.ended.size > 0 || returns.length > 0;
    const isProbed = this.health.unavailableSince !== null || now - this.calledAt >= PROBE_MS;
    if (isUsed || isProbed) await this.give(returns, isProbed);
    else this.loop.succeeded();
  }

  wake(pool: Pool, afterMs = 0): void {
    if (afterMs > 0) {
      setTimeout(() => this.wake(pool), afterMs).unref();
      return;
    }
    this.asking.add(pool);
    this.schedule();
  }

  release(pool: Pool): void {
    this.releasing.add(pool);
    this.schedule();
  }

  private schedule(): void {
    if (this.isScheduled) return;
    this.isScheduled = true;
    setImmediate(() => {
      this.isScheduled = false;
      this.releaseIdle();
      this.ask();
    });
  }

  private async give(returns: readonly PoolReturn[], isProbed = false): Promise<void> {
    this.calledAt = performance.now();
    try {
      const answers = await inTime(this.store.giveBack(returns.map(({ due }) => due)));
      returns.forEach(({ pool, due }, at) => this.returned(pool, due, answers[at]));
      if (isProbed) await this.tryWrite();
      this.loop.succeeded();
    } catch (error) {
      // Leases that could not be returned stay with this process, and so do their pools.
      for (const { pool, due } of returns) pool.keptBack(due);
      this.loop.failed();
      this.isUnavailable(error);
    } finally {
      this.scheduleRest();
    }
  }

  /** A store that refuses it is still called: limits that are used up need no write to refuse. */
  private async tryWrite(): Promise<void> {
    try {
      await inTime(this.store.tryWrite());
      this.health.wrote();
    } catch (error) {
      this.health.failed(error);
    }
  }

  private returned(pool: Pool, due: LimitReturn, answer: ReturnAnswer = UNANSWERED): void {
    if (answer instanceof LimitFault) this.reportFault(due, answer);
    pool.answerReturn(due, answer);
  }

  private *all(): Iterable<Pool> {
    yield* this.pools.values();
    yield* this.ended;
  }

  private end(pool: Pool): void {
    pool.usedAt = -Infinity;
    this.ended.add(pool);
  }

  private forget(now: number): void {
    for (const pool of this.ended) if (pool.isEmpty) this.ended.delete(pool);
    for (const [name, pool] of this.pools)
      if (pool.isEmpty && now - pool.usedAt > IDLE_MS) this.pools.delete(name);
  }

  /** Returns go before asks: a pool with both lowers its limit, and must not count its leases twice. */
  private releaseIdle(): void {
    if (this.releasing.size === 0 || performance.now() < this.unavailableUntil) return;
    const returns: PoolReturn[] = [];
    for (const pool of this.releasing) {
      if (pool.isAsking) continue;
      this.releasing.delete(pool);
      const due = pool.nextRelease(++this.callNumber);
      if (due) returns.push({ pool, due });
    }
    if (returns.length > 0) void this.give(returns);
  }

  private ask(): void {
    const now = performance.now();
    const asks: LimitAsk[] = [];
    const pools: Pool[] = [];
    for (const pool of this.asking) {
      if (pool.isAsking) continue;
      this.asking.delete(pool);
      const ask = pool.nextAsk(now, ++this.callNumber);
      if (!ask) continue;
      asks.push(ask);
      pools.push(pool);
    }
    if (asks.length === 0) return;
    if (now < this.unavailableUntil) {
      for (const pool of pools)
        pool.failed(AWAY_MS, now, new Error('The limit store did not respond a moment ago.'));
      return;
    }
    void this.send(asks, pools).finally(() => this.scheduleRest());
  }

  private async send(asks: readonly LimitAsk[], pools: readonly Pool[]): Promise<void> {
    try {
      const answers = await inTime(this.store.take(asks));
      if (answers.some(isGranted)) this.health.wrote();
      const now = performance.now();
      asks.forEach((ask, at) => this.granted(pools[at], ask, answers[at], now));
    } catch (error) {
      this.isUnavailable(error);
      for (const pool of pools) pool.failed(AWAY_MS, performance.now(), error);
    }
  }

  private granted(pool: Pool | undefined, ask: LimitAsk, answer: AskAnswer = UNANSWERED, now: number): void {
    if (answer instanceof LimitFault) this.reportFault(ask, answer);
    else if (answer.wasCorrupt) this.reportFault(ask, CORRUPT);
    pool?.answer(ask, answer, now);
  }

  private isUnavailable(error: unknown): void {
    this.unavailableUntil = performance.now() + AWAY_MS;
    this.health.failed(error);
  }

  private reportFault({ key }: Counter, { cause }: LimitFault): void {
    limitCounts.faults += 1;
    report(`The limit store failed for one counter: ${key}.`, cause);
  }

  /** Pools whose next call waits for the result of their last one. */
  private scheduleRest(): void {
    if (this.asking.size > 0 || (this.releasing.size > 0 && performance.now() >= this.unavailableUntil))
      this.schedule();
  }
}

/** Only a grant is sure to have been written. */
const isGranted = (answer: AskAnswer): boolean => !(answer instanceof LimitFault) && answer.granted > 0;

const CORRUPT = new LimitFault(new Error('The counter was corrupt and starts again at 0.'));
const UNANSWERED = new LimitFault(new Error('The store returned no result for this counter.'));

const inTime = <T>(work: Promise<T>): Promise<T> =>
  answeredWithin(work, LEASE_TIMEOUT_MS, 'The limit store did not respond in time.');
