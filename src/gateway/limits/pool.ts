import { AppError } from '../../common/errors/app-error.js';
import { allowsAlike, countsAlike, type Limit } from '../../common/limits/limit.js';
import { refusalOf } from './refusal-of.js';
import type { AskAnswer, Counter, LimitAsk, LimitGrant, LimitReturn, ReturnAnswer } from './store.js';
import { LimitFault } from './store.js';
import { WaitingRequests } from './waiting-requests.js';
import { SLICES_PER_WINDOW, type WindowSlice, WindowSlices } from './window-slices.js';

/** For how long a refusal of the store is believed where time alone frees nothing, milliseconds. */
const BELIEVED_MS = { budget: 100, window: 10, slots: 25 } as const;
/** And the longest where time does: another process may give back, and a limit may be raised. */
const BELIEVED_MOST_MS = 1_000;
/**
 * How long a request waits for what other processes hold, milliseconds. What they do not use comes back within a few
 * milliseconds near the end of a limit, and otherwise with their second round from then on.
 */
const PATIENCE_MS = { budget: 2_000, window: 0, slots: 100 } as const;
const FIRST_PAUSE_MS = 4;
const LONGEST_PAUSE_MS = 64;
/** Asked again so soon, a process is busy and may take more than it needs right now. */
const BUSY_MS = 500;
/** How much more it asks for each time, until its first round has shown what it uses. */
const GROWTH = 4;
/** Where less is free than so many times what a request takes, nothing is asked ahead and nothing is kept: it may be another process's last. */
const PLENTY = 1_000;

/** How a pool gets its calls to the store sent. Each returns at once. */
export interface PoolCalls {
  /** Asks the pool for its next ask, after so many milliseconds. */
  wake(pool: Pool, afterMs?: number): void;
  /** Asks the pool for what it can give back, without waiting for the next round. */
  release(pool: Pool): void;
}

/**
 * What this process has leased of one counter.
 *
 * Requests take from it and give back to it without waiting. When it is empty, those who need more wait until the store
 * has been asked, once for all of them. Clocks are of the process (`performance.now`), so no jump of the wall clock
 * frees or blocks anything.
 */
export class Pool {
  /** Leased and not in use. Negative where requests used more than they had reserved. */
  available = 0;
  /** Units in use by requests that run. */
  held = 0;
  /** Given back with the next call; of a window, see `slices`. */
  returned = 0;
  usedAt = 0;
  /** Taken since the last round. */
  usedLately = 0;
  /** Gone for good since the last round. */
  private spentLately = 0;
  /** A call about this counter is on its way: the next one waits for its answer. */
  isAsking = false;
  private unsureSince: number | null = null;
  private readonly waiting = new WaitingRequests();
  private pausedUntil = -Infinity;
  private pauseMs = FIRST_PAUSE_MS;
  private spare = 0;
  private askedAt = -Infinity;
  /** Below this more is asked for ahead, so that no request of a busy process waits for the store. */
  private low = 0;
  /** Rounds in a row in which it was used. What is used in the first one, which had begun before, tells little. */
  private rounds = 0;
  /** What is available of a window, by the steps that it is counted in; null for the other kinds. */
  private readonly slices: WindowSlices | null;
  private refusedUntil = -Infinity;
  /** Until then, requests that lack more than this are refused without asking the store. */
  private believed = 0;
  private free = 0;
  private openUntil = -Infinity;
  private resetAt = 0;

  constructor(
    public counter: Counter,
    /** When this counter's period ends, milliseconds since the epoch. */
    readonly endsAt: number,
    private readonly calls: PoolCalls,
    /** Number of the last call about this counter that was answered, or of any call before the first. */
    private answeredCall = 0,
  ) {
    this.slices = counter.limit.kind === 'window' ? new WindowSlices() : null;
  }

  get isWaitedFor(): boolean {
    return !this.waiting.isEmpty;
  }

  /** Whether `amount` can be taken now. Throws the refusal that the store gave a moment ago. */
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

  /** Only after `has`. Takes nothing, and answers 0, where the limit lets requests pass because its store is unavailable. */
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

  /** Ends the use of `taken` (of a window, units of `slice`), of which `used` is gone for good. */
  settle(taken: number, used: number, slice: WindowSlice | null): void {
    this.held -= taken;
    this.available += taken - used;
    this.spentLately += used;
    if (this.slices && used !== taken) this.settleSlices(taken - used, slice);
    if (this.available < 0) this.calls.wake(this);
    else if (used < taken) this.offer(taken);
  }

  /** Resolves when `amount` may be there; ask `has` again then. Rejects with the refusal. */
  fill(amount: number, now: number): Promise<void> {
    if (now >= this.pausedUntil || amount <= this.available + this.free) this.calls.wake(this);
    return this.waiting.add(amount, now);
  }

  /**
   * Holds to the limit as it is now; what was leased of it goes back, so that a lowered one counts from the next request on.
   * False where it counts something else than before, and needs another pool.
   */
  adopt(limit: Limit): boolean {
    const before = this.counter.limit;
    if (!countsAlike(before, limit)) return false;
    if (allowsAlike(before, limit)) return true;
    this.counter = { ...this.counter, limit };
    this.refusedUntil = this.openUntil = this.pausedUntil = -Infinity;
    this.free = this.low = this.rounds = this.spare = 0;
    this.putAside(Math.max(0, this.available));
    this.calls.release(this);
    if (this.isWaitedFor) this.calls.wake(this);
    return true;
  }

  /** What to ask the store for; null when there is nothing to ask. */
  nextAsk(now: number, call: number): LimitAsk | null {
    const debt = Math.max(0, -this.available);
    const have = Math.max(0, this.available);
    const ahead = this.low > 0 ? this.aheadOf(have) : 0;
    if (!this.isWaitedFor && debt === 0 && ahead === 0) return null;
    const needed = this.waiting.total - have;
    this.spare = this.isWaitedFor ? this.spareOf(needed, now) : ahead;
    this.askedAt = now;
    this.isAsking = true;
    const first = Math.max(0, this.waiting.first - have);
    const need = this.isWaitedFor ? Math.max(first, needed) : 0;
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

  /** The last call may have been done or not. Of a window nothing is undone: what was granted counts, what was given back is lost. */
  private unanswered(): void {
    this.isAsking = false;
    if (!this.slices) this.unsureSince ??= this.answeredCall;
  }

  /** No round has shown yet what is used here. */
  private get isNew(): boolean {
    return this.rounds < 2;
  }

  private aheadOf(have: number): number {
    const { amount } = this.counter.limit;
    return this.isNew ? Math.min(GROWTH * this.spare, amount) : Math.max(0, 2 * this.low - have);
  }

  /** What a busy process asks for beyond what its requests wait for: more each time, as long as it runs dry. */
  private spareOf(needed: number, now: number): number {
    if (now - this.askedAt >= BUSY_MS) return 0;
    return Math.min(Math.max(needed, GROWTH * this.spare), this.counter.limit.amount);
  }

  /** The store's answer to `ask`. Requests that wait are served or refused, or go on waiting. */
  answer(ask: LimitAsk, answer: AskAnswer, now: number): void {
    if (answer instanceof LimitFault) {
      this.isAsking = false;
      this.passOrRefuse(now + BELIEVED_MOST_MS, answer.cause);
      return;
    }
    this.granted(ask, answer, now);
  }

  /** The store is unavailable. Requests that wait are refused by hard limits; the others let everything pass for `openMs`. */
  failed(openMs: number, now: number, cause: unknown): void {
    this.unanswered();
    this.passOrRefuse(now + openMs, cause);
  }

  private granted(ask: LimitAsk, { granted, free, retryMs, others, step }: LimitGrant, now: number): void {
    this.answered(ask.call);
    const before = Math.max(0, this.available);
    this.available += ask.debt + granted;
    this.slices?.add(step, Math.max(0, this.available) - before, now);
    // Asked under an amount that does not count any more.
    if (ask.limit !== this.counter.limit) return this.askAnew();
    this.adjustLow(ask, granted);
    this.free = Math.max(0, free);
    this.resetAt = now + retryMs;
    if (granted > 0) this.pauseMs = FIRST_PAUSE_MS;
    this.waiting.letGo(this.available);
    if (granted === 0 && ask.first > 0) this.refuseOrWait(others, Math.min(retryMs, BELIEVED_MOST_MS), now);
    else if (this.isWaitedFor) this.calls.wake(this);
  }

  private adjustLow(ask: LimitAsk, granted: number): void {
    // Where there is no plenty, nothing is asked ahead until the next round.
    if (granted < ask.need + ask.spare) this.low = 0;
    else if (this.isNew && this.counter.limit.kind !== 'slots') this.low = Math.ceil(ask.spare / 2);
  }

  private askAnew(): void {
    this.putAside(Math.max(0, this.available));
    this.calls.release(this);
    if (this.isWaitedFor) this.calls.wake(this);
  }

  private passOrRefuse(openUntil: number, cause: unknown): void {
    this.low = 0;
    if (!this.isWaitedFor) return;
    const { subject, failsClosed } = this.counter.limit;
    if (failsClosed) {
      this.waiting.refuseAll(() => new AppError('limits_unavailable', { subject }, { cause }));
      return;
    }
    this.openUntil = openUntil;
    this.waiting.wakeAll();
  }

  /**
   * What to tell the store with this round; null when there is nothing. Slots are told as long as there are any, because
   * their store may forget.
   */
  nextReturn(now: number, roundMs: number, call: number): LimitReturn | null {
    if (this.isAsking) return null;
    this.endRound(now, roundMs);
    return this.returnOf(call, this.counter.limit.kind === 'slots' && this.held + this.available > 0);
  }

  /** The same between two rounds, of all that is idle. */
  nextRelease(call: number): LimitReturn | null {
    if (this.isAsking) return null;
    if (!this.isWaitedFor) this.putAside(Math.max(0, this.available));
    return this.returnOf(call, false);
  }

  private returnOf(call: number, isTold: boolean): LimitReturn | null {
    const steps = this.slices ? this.slices.takeDue() : NO_STEPS;
    const amount = this.slices ? steps.reduce((sum, part) => sum + part.amount, 0) : this.returned;
    if (amount === 0 && this.unsureSince === null && !isTold) return null;
    this.returned = 0;
    this.isAsking = true;
    return { ...this.numbered(call), amount, steps };
  }

  /** The store's answer to what was given back. What a store refused is still leased; of a window it is not tried again. */
  answerReturn({ call, amount }: LimitReturn, answer: ReturnAnswer): void {
    if (!(answer instanceof LimitFault)) return this.answered(call);
    this.isAsking = false;
    if (!this.slices) this.returned += amount;
  }

  /** The store may have taken it or not: the next call gives it back again, and says so. A window would be freed twice. */
  keptBack({ amount }: LimitReturn): void {
    if (!this.slices) this.returned += amount;
    this.unanswered();
  }

  /** What nobody used lately is put aside for the store, but for as much as was used in the round that ends. */
  endRound(now: number, roundMs: number): void {
    if (this.slices) this.available -= this.slices.releaseStale(this.counter.limit.windowMs, now);
    const isUsed = now - this.usedAt <= roundMs && !this.isEnded() && this.usedLately > 0;
    this.rounds = isUsed ? this.rounds + 1 : 0;
    if (!isUsed) this.low = 0;
    else if (!this.isNew) this.low = Math.ceil((this.spentLately * this.lastingShare(roundMs)) / 2);
    const surplus = this.isWaitedFor ? 0 : Math.max(0, this.available - this.keptAfterRound(isUsed));
    this.usedLately = 0;
    this.spentLately = 0;
    this.putAside(surplus);
  }

  private keptAfterRound(isUsed: boolean): number {
    if (!isUsed) return 0;
    return this.isNew ? this.available : this.usedLately;
  }

  private putAside(amount: number): void {
    this.available -= amount;
    // The store has it to give again, whatever it answered before.
    this.believed += amount;
    if (this.slices) this.slices.release(amount);
    else this.returned += amount;
  }

  /** Nothing hangs on it, so it may be forgotten. */
  get isEmpty(): boolean {
    const isInUse = this.held !== 0 || this.isAsking || this.isWaitedFor;
    const hasReturns = this.returned !== 0 || (this.slices !== null && this.slices.hasDue);
    return this.available === 0 && !hasReturns && this.unsureSince === null && !isInUse;
  }

  private isEnded(): boolean {
    return Date.now() >= this.endsAt;
  }

  /** How much of a round's use may lie here: what is leased of a short window must be used before a round is over. */
  private lastingShare(roundMs: number): number {
    const { windowMs } = this.counter.limit;
    return windowMs === 0 ? 1 : Math.min(1, windowMs / SLICES_PER_WINDOW / roundMs);
  }

  /** The slices hold what is available, so nothing while that is negative. */
  private settleSlices(surplus: number, slice: WindowSlice | null): void {
    const before = Math.max(0, this.available - surplus);
    const change = Math.max(0, this.available) - before;
    if (change > 0 && slice) this.slices?.restore(slice, change);
    else if (change < 0) this.slices?.take(-change);
  }

  /** Units came free: for those who wait here, or for other processes where they may need them. */
  private offer(taken: number): void {
    if (this.isWaitedFor) this.waiting.letGo(this.available);
    else if (this.available > 0 && this.isScarce(taken)) this.calls.release(this);
  }

  private isScarce(taken: number): boolean {
    const isSlots = this.counter.limit.kind === 'slots';
    return this.free <= (isSlots ? this.held + this.available : PLENTY * taken);
  }

  /** The store has too little for the first who waits. Near the end of a limit, what others hold may come back at once. */
  private refuseOrWait(others: number, retryMs: number, now: number): void {
    const { kind } = this.counter.limit;
    const reach = this.available + this.free;
    const outlook = { reach, others, patienceMs: PATIENCE_MS[kind], now };
    const isInVain = this.waiting.refuseBeyond(outlook, (amount) => this.refusal(amount, now));
    this.refusedUntil = now + Math.max(BELIEVED_MS[kind], retryMs);
    this.believed = this.free + (isInVain ? 0 : others);
    if (!this.isWaitedFor) return;
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
