import { AppError } from '../../common/errors/app-error.js';
import { allowsAlike, countsAlike, type Limit } from '../../common/limits/limit.js';
import { refusalOf } from './refusal-of.js';
import type { AskAnswer, Counter, LimitAsk, LimitGrant, LimitReturn, ReturnAnswer } from './store.js';
import { LimitFault } from './store.js';
import { WaitingRequests } from './waiting-requests.js';
import { SLICES_PER_WINDOW, type WindowSlice, WindowSlices } from './window-slices.js';

/** How long a refusal of the store stays valid if time alone frees nothing, in milliseconds. */
const BELIEVED_MS = { budget: 100, window: 10, slots: 25 } as const;
/** The maximum if time does free something: another process may return units, and a limit may be raised. */
const BELIEVED_MOST_MS = 1_000;
/**
 * How long a request waits for units of other processes, in milliseconds. Unused ones return within a few milliseconds near the end of a
 * limit, otherwise with the second round of their process.
 */
const POOL_TIMEOUT_MS = { budget: 2_000, window: 0, slots: 100 } as const;
const FIRST_PAUSE_MS = 4;
const LONGEST_PAUSE_MS = 64;
/** A process that asks again within this time is busy, and may take more than it needs right now. */
const BUSY_MS = 500;
/** Growth of its asks until its first round has shown its use. */
const GROWTH = 4;
/**
 * If less than this many times a request's amount is free, nothing is asked in advance and nothing is kept: another process may need it.
 */
const PLENTY = 1_000;

/** Sends a pool's calls to the store. Each method returns at once. */
export interface PoolCalls {
  /** Requests the pool's next ask, after this many milliseconds. */
  wake(pool: Pool, afterMs?: number): void;
  /** Requests the pool's idle units without waiting for the next round. */
  release(pool: Pool): void;
}

/**
 * The units of one counter that this process has leased.
 *
 * Requests take units and return them without waiting. When the pool is empty, requests wait for one ask to the store on behalf of all of
 * them. The clock is monotonic (`performance.now`), so that no jump of the wall clock frees or blocks anything.
 */
export class Pool {
  /** Leased and not in use. Negative when requests used more than they had reserved. */
  available = 0;
  /** Units in use by running requests. */
  held = 0;
  /** Returned with the next call; for a window, see `slices`. */
  returned = 0;
  usedAt = 0;
  /** Taken since the last round. */
  usedLately = 0;
  /** Used up since the last round. */
  private spentLately = 0;
  /** A call about this counter is in progress: the next one waits for its result. */
  isAsking = false;
  private unsureSince: number | null = null;
  private readonly waiting = new WaitingRequests();
  private pausedUntil = -Infinity;
  private pauseMs = FIRST_PAUSE_MS;
  private spare = 0;
  private askedAt = -Infinity;
  /** Below this, units are asked for in advance, so that no request of a busy process waits for the store. */
  private low = 0;
  /** Consecutive rounds with use. The first was already running when the use began, so its figures mean little. */
  private rounds = 0;
  /** Available units of a window, by the step they are counted in; null for the other kinds. */
  private readonly slices: WindowSlices | null;
  private refusedUntil = -Infinity;
  /** Until `refusedUntil`, requests that lack more than this are refused without a call to the store. */
  private believed = 0;
  private free = 0;
  private openUntil = -Infinity;
  private resetAt = 0;

  constructor(
    public counter: Counter,
    /** When this counter's period ends, in milliseconds since the epoch. */
    readonly endsAt: number,
    private readonly calls: PoolCalls,
    /** Number of the last call about this counter that got a result; initially, of any earlier call. */
    private answeredCall = 0,
  ) {
    this.slices = counter.limit.kind === 'window' ? new WindowSlices() : null;
  }

  get hasWaiters(): boolean {
    return !this.waiting.isEmpty;
  }

  /** Whether `amount` can be taken now. Throws the store's last refusal while it is valid. */
  has(amount: number, now: number): boolean {
    if (this.slices) this.available -= this.slices.releaseStale(this.counter.limit.windowMs, now);
    if (this.available >= amount || now < this.openUntil) return true;
    if (now < this.refusedUntil && amount - this.available > this.believed) throw this.refusal(amount, now);
    return false;
  }

  /** The slice of a window that the next unit is taken from. */
  get oldestSlice(): WindowSlice | null {
    return this.slices && this.slices.oldest;
  }

  /** Only after `has`. Takes nothing, and returns 0, if the limit lets requests pass because its store is unavailable. */
  take(amount: number, now: number): number {
    const taken = this.available >= amount ? amount : 0;
    this.available -= taken;
    this.held += taken;
    this.usedLately += taken;
    this.usedAt = now;
    this.slices?.take(taken);
    if (this.available < this.low && !this.isAsking && this.free > PLENTY * amount) this.calls.wake(this);
    return taken;
  }

  /** Ends the use of `taken` (for a window, units of `slice`), of which `used` is used up. */
  settle(taken: number, used: number, slice: WindowSlice | null): void {
    this.held -= taken;
    this.available += taken - used;
    this.spentLately += used;
    if (this.slices && used !== taken) this.settleSlices(taken - used, slice);
    if (this.available < 0) this.calls.wake(this);
    else if (used < taken) this.offer(taken);
  }

  /** Resolves when `amount` may be available; call `has` again then. Rejects with the refusal. */
  fill(amount: number, now: number): Promise<void> {
    if (now >= this.pausedUntil || amount <= this.available + this.free) this.calls.wake(this);
    return this.waiting.add(amount, now);
  }

  /**
   * Applies a changed limit. Its leases are returned, so that a lowered one takes effect with the next request. False if it counts
   * something else than before, and needs another pool.
   */
  adopt(limit: Limit): boolean {
    const before = this.counter.limit;
    if (!countsAlike(before, limit)) return false;
    if (allowsAlike(before, limit)) return true;
    this.counter = { ...this.counter, limit };
    this.refusedUntil = this.openUntil = this.pausedUntil = -Infinity;
    this.free = this.low = this.rounds = this.spare = 0;
    this.reserveUnits(Math.max(0, this.available));
    this.calls.release(this);
    if (this.hasWaiters) this.calls.wake(this);
    return true;
  }

  /** The next ask to the store; null if nothing is needed. */
  nextAsk(now: number, call: number): LimitAsk | null {
    const debt = Math.max(0, -this.available);
    const have = Math.max(0, this.available);
    const ahead = this.low > 0 ? this.aheadOf(have) : 0;
    if (!this.hasWaiters && debt === 0 && ahead === 0) return null;
    const needed = this.waiting.total - have;
    this.spare = this.hasWaiters ? this.spareOf(needed, now) : ahead;
    this.askedAt = now;
    this.isAsking = true;
    const first = Math.max(0, this.waiting.first - have);
    const need = this.hasWaiters ? Math.max(first, needed) : 0;
    return { ...this.numbered(call), debt, first, need, spare: this.spare };
  }

  private numbered(call: number) {
    const holds = Math.max(0, this.available) + this.held + this.returned;
    return { ...this.counter, call, unsureSince: this.unsureSince, holds };
  }

  private answered(call: number): void {
    this.isAsking = false;
    this.unsureSince = null;
    this.answeredCall = call;
  }

  /** The last call may have taken effect or not. For a window, nothing is undone: granted units count, returned ones are lost. */
  private unanswered(): void {
    this.isAsking = false;
    if (!this.slices) this.unsureSince ??= this.answeredCall;
  }

  /** No round has shown the use yet. */
  private get isNew(): boolean {
    return this.rounds < 2;
  }

  private aheadOf(have: number): number {
    const { amount } = this.counter.limit;
    return this.isNew ? Math.min(GROWTH * this.spare, amount) : Math.max(0, 2 * this.low - have);
  }

  /** Units that a busy process asks for beyond the needs of its requests: more each time, as long as it runs dry. */
  private spareOf(needed: number, now: number): number {
    if (now - this.askedAt >= BUSY_MS) return 0;
    return Math.min(Math.max(needed, GROWTH * this.spare), this.counter.limit.amount);
  }

  /** The store's result for `ask`. Waiting requests are served, refused, or keep waiting. */
  answer(ask: LimitAsk, answer: AskAnswer, now: number): void {
    if (answer instanceof LimitFault) {
      this.isAsking = false;
      this.passOrRefuse(now + BELIEVED_MOST_MS, answer.cause);
      return;
    }
    this.granted(ask, answer, now);
  }

  /** The store is unavailable. Hard limits refuse waiting requests; the others let everything pass for `openMs`. */
  failed(openMs: number, now: number, cause: unknown): void {
    this.unanswered();
    this.passOrRefuse(now + openMs, cause);
  }

  private granted(ask: LimitAsk, { granted, free, retryMs, others, step }: LimitGrant, now: number): void {
    this.answered(ask.call);
    const before = Math.max(0, this.available);
    this.available += ask.debt + granted;
    this.slices?.add(step, Math.max(0, this.available) - before, now);
    // Asked under an amount that no longer applies.
    if (ask.limit !== this.counter.limit) return this.retryLease();
    this.adjustLow(ask, granted);
    this.free = Math.max(0, free);
    this.resetAt = now + retryMs;
    if (granted > 0) this.pauseMs = FIRST_PAUSE_MS;
    this.waiting.letGo(this.available);
    if (granted === 0 && ask.first > 0) this.refuseOrWait(others, Math.min(retryMs, BELIEVED_MOST_MS), now);
    else if (this.hasWaiters) this.calls.wake(this);
  }

  private adjustLow(ask: LimitAsk, granted: number): void {
    // If little is free, nothing is asked in advance until the next round.
    if (granted < ask.need + ask.spare) this.low = 0;
    else if (this.isNew && this.counter.limit.kind !== 'slots') this.low = Math.ceil(ask.spare / 2);
  }

  private retryLease(): void {
    this.reserveUnits(Math.max(0, this.available));
    this.calls.release(this);
    if (this.hasWaiters) this.calls.wake(this);
  }

  private passOrRefuse(openUntil: number, cause: unknown): void {
    this.low = 0;
    if (!this.hasWaiters) return;
    const { subject, failsClosed } = this.counter.limit;
    if (failsClosed) {
      this.waiting.refuseAll(() => new AppError('limits_unavailable', { subject }, { cause }));
      return;
    }
    this.openUntil = openUntil;
    this.waiting.wakeAll();
  }

  /** The return to send with this round; null for none. Slots are reported as long as there are any, because their store may lose them. */
  nextReturn(now: number, roundMs: number, call: number): LimitReturn | null {
    if (this.isAsking) return null;
    this.endRound(now, roundMs);
    return this.returnOf(call, this.counter.limit.kind === 'slots' && this.held + this.available > 0);
  }

  /** The same between two rounds, for all idle units. */
  nextRelease(call: number): LimitReturn | null {
    if (this.isAsking) return null;
    if (!this.hasWaiters) this.reserveUnits(Math.max(0, this.available));
    return this.returnOf(call, false);
  }

  private returnOf(call: number, isReported: boolean): LimitReturn | null {
    const steps = this.slices ? this.slices.takeDue() : NO_STEPS;
    const amount = this.slices ? steps.reduce((sum, part) => sum + part.amount, 0) : this.returned;
    if (amount === 0 && this.unsureSince === null && !isReported) return null;
    this.returned = 0;
    this.isAsking = true;
    return { ...this.numbered(call), amount, steps };
  }

  /** The store's result for a return. Units that the store refused are still leased; those of a window are not returned again. */
  answerReturn({ call, amount }: LimitReturn, answer: ReturnAnswer): void {
    if (!(answer instanceof LimitFault)) return this.answered(call);
    this.isAsking = false;
    if (!this.slices) this.returned += amount;
  }

  /** The store may have taken the return or not: the next call repeats it and says so. A window's units would be freed twice. */
  keptBack({ amount }: LimitReturn): void {
    if (!this.slices) this.returned += amount;
    this.unanswered();
  }

  /** Sets unused units aside for the store, except as many as were used in the round that ends. */
  endRound(now: number, roundMs: number): void {
    if (this.slices) this.available -= this.slices.releaseStale(this.counter.limit.windowMs, now);
    const isUsed = now - this.usedAt <= roundMs && !this.isEnded() && this.usedLately > 0;
    this.rounds = isUsed ? this.rounds + 1 : 0;
    if (!isUsed) this.low = 0;
    else if (!this.isNew) this.low = Math.ceil((this.spentLately * this.lastingShare(roundMs)) / 2);
    const surplus = this.hasWaiters ? 0 : Math.max(0, this.available - this.keptAfterRound(isUsed));
    this.usedLately = 0;
    this.spentLately = 0;
    this.reserveUnits(surplus);
  }

  private keptAfterRound(isUsed: boolean): number {
    if (!isUsed) return 0;
    return this.isNew ? this.available : this.usedLately;
  }

  private reserveUnits(amount: number): void {
    this.available -= amount;
    // The store can grant these again, whatever it returned before.
    this.believed += amount;
    if (this.slices) this.slices.release(amount);
    else this.returned += amount;
  }

  /** Nothing depends on it, so it may be dropped. */
  get isEmpty(): boolean {
    const isInUse = this.held !== 0 || this.isAsking || this.hasWaiters;
    const hasReturns = this.returned !== 0 || (this.slices !== null && this.slices.hasDue);
    return this.available === 0 && !hasReturns && this.unsureSince === null && !isInUse;
  }

  private isEnded(): boolean {
    return Date.now() >= this.endsAt;
  }

  /** The share of a round's use that may be kept here: leases of a short window must be used before a round has passed. */
  private lastingShare(roundMs: number): number {
    const { windowMs } = this.counter.limit;
    return windowMs === 0 ? 1 : Math.min(1, windowMs / SLICES_PER_WINDOW / roundMs);
  }

  /** The slices hold the available units, so nothing while that is negative. */
  private settleSlices(surplus: number, slice: WindowSlice | null): void {
    const before = Math.max(0, this.available - surplus);
    const change = Math.max(0, this.available) - before;
    if (change > 0 && slice) this.slices?.restore(slice, change);
    else if (change < 0) this.slices?.take(-change);
  }

  /** Offers freed units to waiting requests, or to other processes that may need them. */
  private offer(taken: number): void {
    if (this.hasWaiters) this.waiting.letGo(this.available);
    else if (this.available > 0 && this.isScarce(taken)) this.calls.release(this);
  }

  private isScarce(taken: number): boolean {
    const isConcurrency = this.counter.limit.kind === 'slots';
    return this.free <= (isConcurrency ? this.held + this.available : PLENTY * taken);
  }

  /** The store has too little for the first waiting request. Near the end of a limit, other processes may return units at once. */
  private refuseOrWait(others: number, retryMs: number, now: number): void {
    const { kind } = this.counter.limit;
    const reach = this.available + this.free;
    const outlook = { reach, others, timeoutMs: POOL_TIMEOUT_MS[kind], now };
    const isInVain = this.waiting.refuseBeyond(outlook, (amount) => this.refusal(amount, now));
    this.refusedUntil = now + Math.max(BELIEVED_MS[kind], retryMs);
    this.believed = this.free + (isInVain ? 0 : others);
    if (!this.hasWaiters) return;
    if (this.waiting.first <= reach) this.calls.wake(this);
    else this.pause(now);
  }

  private pause(now: number): void {
    this.pausedUntil = now + this.pauseMs;
    this.calls.wake(this, this.pauseMs);
    this.pauseMs = Math.min(2 * this.pauseMs, LONGEST_PAUSE_MS);
  }

  private refusal(amount: number, now: number): AppError {
    const left = Math.max(0, this.available) + this.free;
    return refusalOf(this.counter.limit, { left, needed: amount, retryMs: Math.max(0, this.resetAt - now) });
  }
}

const NO_STEPS = [] as const;
