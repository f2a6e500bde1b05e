import { AppError } from '../../common/errors/app-error.js';
import type { Counter, LimitAsk, LimitGrant, LimitReturn } from './store.js';
import { refusalOf } from './refusal-of.js';

/** For how long a refusal of the store is believed where time alone frees nothing, milliseconds. */
const BELIEVED_MS = { budget: 100, window: 10, slots: 25 } as const;
/** What was leased of a window must be used while it counts there: within this share of the window. */
const SLICES_PER_WINDOW = 10;
/** Asked again so soon, a process is busy and may take more than it needs right now. */
const BUSY_MS = 500;
/** How much more it asks for each time, until its first round has shown what it uses. */
const GROWTH = 4;
/** Nothing is asked ahead where less is free than so many times what a request takes: it may be another process's last. */
const PLENTY = 1_000;

interface Waiter {
  readonly amount: number;
  readonly go: () => void;
  readonly refuse: (error: AppError) => void;
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
  /** Given back with the next round. */
  returned = 0;
  usedAt = 0;
  /** Taken since the last round. */
  usedLately = 0;
  /** Gone for good since the last round. */
  private spentLately = 0;
  /** A call about this counter is on its way: the next one waits for its answer. */
  isAsking = false;
  private unsureSince: number | null = null;
  private waiting: Waiter[] = [];
  private spare = 0;
  private askedAt = -Infinity;
  /** Below this more is asked for ahead, so that no request of a busy process waits for the store. */
  private low = 0;
  /** Rounds in a row in which it was used. What is used in the first one, which had begun before, tells little. */
  private rounds = 0;
  /** When the older part of what is available was granted; `newer` is the rest, granted at `newerAt`. */
  private grantedAt = -Infinity;
  private newer = 0;
  private newerAt = -Infinity;
  private refusedUntil = -Infinity;
  private free = 0;
  private openUntil = -Infinity;
  private resetAt = 0;

  constructor(
    public counter: Counter,
    /** When this counter's period ends, milliseconds since the epoch. */
    readonly endsAt: number,
    private readonly wake: (pool: Pool) => void,
    /** Number of the last call about this counter whose answer came, or of any call before the first. */
    private answeredCall = 0,
  ) {}

  get isWaitedFor(): boolean {
    return this.waiting.length > 0;
  }

  /** Whether `amount` can be taken now. Throws the refusal that the store gave a moment ago. */
  has(amount: number, now: number): boolean {
    if (this.counter.limit.windowMs > 0) this.dropStale(now);
    if (this.available >= amount || now < this.openUntil) return true;
    if (now < this.refusedUntil && amount - this.available > this.free) throw this.refusal(amount, now);
    return false;
  }

  /** Only after `has`. While the store is away and the limit lets everything pass, nothing is taken. */
  take(amount: number, now: number): number {
    const taken = this.available >= amount ? amount : 0;
    this.available -= taken;
    this.held += taken;
    this.usedLately += taken;
    this.usedAt = now;
    this.turnOver();
    if (this.available < this.low && !this.isAsking && this.free > PLENTY * amount) this.wake(this);
    return taken;
  }

  /** Ends the use of `taken`, of which `used` is gone for good. */
  settle(taken: number, used: number): void {
    this.held -= taken;
    this.available += taken - used;
    this.spentLately += used;
    if (this.available < 0) this.wake(this);
  }

  /** Resolves when `amount` may be there; ask `has` again then. Rejects with the refusal. */
  fill(amount: number): Promise<void> {
    return new Promise((go, refuse) => {
      this.waiting.push({ amount, go, refuse });
      this.wake(this);
    });
  }

  /** What to ask the store for; null when there is nothing to ask. */
  nextAsk(now: number, call: number): LimitAsk | null {
    const [first] = this.waiting;
    const debt = Math.max(0, -this.available);
    const have = Math.max(0, this.available);
    const ahead = this.low > 0 ? this.aheadOf(have) : 0;
    if (!first && debt === 0 && ahead === 0) return null;
    const needed = this.waiting.reduce((sum, { amount }) => sum + amount, 0) - have;
    this.spare = first ? this.spareOf(needed, now) : ahead;
    this.askedAt = now;
    this.isAsking = true;
    const lacking = first ? Math.max(0, first.amount - have) : 0;
    const need = first ? Math.max(lacking, needed) : 0;
    return { ...this.numbered(call), debt, first: lacking, need, spare: this.spare };
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

  /** Nobody knows what became of the last call. Of a window nothing is held, so that there is nothing to undo. */
  private unanswered(): void {
    this.isAsking = false;
    if (this.counter.limit.kind !== 'window') this.unsureSince ??= this.answeredCall;
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

  /** The store's answer to `ask`. */
  granted(ask: LimitAsk, { granted, free, retryMs }: LimitGrant, now: number): void {
    this.answered(ask.call);
    const older = this.available + ask.debt;
    this.available = older + granted;
    if (granted > 0) this.date(granted, older, now);
    // Where there is no plenty, nothing is asked ahead until the next round.
    if (granted < ask.need + ask.spare) this.low = 0;
    else if (this.isNew && this.counter.limit.kind !== 'slots') this.low = Math.ceil(ask.spare / 2);
    this.free = Math.max(0, free);
    this.resetAt = now + retryMs;
    this.letGo();
    if (granted === 0 && ask.first > 0) {
      this.refusedUntil = now + Math.max(BELIEVED_MS[this.counter.limit.kind], retryMs);
      this.refuseThoseBeyond(now);
    }
    if (this.isWaitedFor) this.wake(this);
  }

  /** The store is away. Hard limits refuse those who wait; the others let everything pass for `openMs`. */
  failed(openMs: number, now: number, cause: unknown): void {
    this.unanswered();
    this.low = 0;
    const waiting = this.waiting;
    if (waiting.length === 0) return;
    this.waiting = [];
    if (this.counter.limit.kind !== 'budget') {
      this.openUntil = now + openMs;
      for (const { go } of waiting) go();
      return;
    }
    const { subject } = this.counter.limit;
    for (const { refuse } of waiting) refuse(new AppError('limits_unavailable', { subject }, { cause }));
  }

  /**
   * What to tell the store with this round; null when there is nothing. Slots are told as long as there are any, because
   * their store may forget.
   */
  nextReturn(now: number, roundMs: number, call: number): LimitReturn | null {
    const { kind } = this.counter.limit;
    if (this.isAsking && kind !== 'window') return null;
    const amount = this.surplus(now, roundMs);
    const isTold = kind === 'slots' && this.held + this.available > 0;
    if (amount === 0 && this.unsureSince === null && !isTold) return null;
    if (kind !== 'window') this.isAsking = true;
    return { ...this.numbered(call), amount };
  }

  /** The store has taken it. */
  gaveBack({ call }: LimitReturn): void {
    if (this.counter.limit.kind !== 'window') this.answered(call);
  }

  /** The store is away, or its answer got lost: the next round gives it back again. */
  keptBack({ amount }: LimitReturn): void {
    this.returned += amount;
    if (this.counter.limit.kind !== 'window') this.unanswered();
  }

  /** What may go back to the store: what nobody used lately, but for as much as was used in the last round. */
  surplus(now: number, roundMs: number): number {
    const isUsed = now - this.usedAt <= roundMs && !this.isEnded() && this.usedLately > 0;
    this.rounds = isUsed ? this.rounds + 1 : 0;
    if (!isUsed) this.low = 0;
    else if (!this.isNew) this.low = Math.ceil((this.spentLately * this.lastingShare(roundMs)) / 2);
    const surplus = this.isWaitedFor ? 0 : Math.max(0, this.available - this.keptAfterRound(isUsed));
    this.usedLately = 0;
    this.spentLately = 0;
    this.available -= surplus;
    this.turnOver();
    const returned = surplus + this.returned;
    this.returned = 0;
    return returned;
  }

  private keptAfterRound(isUsed: boolean): number {
    if (!isUsed) return 0;
    return this.isNew ? this.available : this.usedLately;
  }

  /** Nothing hangs on it, so it may be forgotten. */
  get isEmpty(): boolean {
    const isInUse = this.held !== 0 || this.isAsking || this.isWaitedFor;
    return this.available === 0 && this.returned === 0 && this.unsureSince === null && !isInUse;
  }

  private isEnded(): boolean {
    return Date.now() >= this.endsAt;
  }

  /** How much of a round's use may lie here: what is leased of a short window must be used before a round is over. */
  private lastingShare(roundMs: number): number {
    const { windowMs } = this.counter.limit;
    return windowMs === 0 ? 1 : Math.min(1, windowMs / SLICES_PER_WINDOW / roundMs);
  }

  private date(granted: number, older: number, now: number): void {
    if (older <= 0) {
      this.newer = 0;
      this.grantedAt = now;
      return;
    }
    if (this.newer === 0) this.newerAt = now;
    this.newer += granted;
  }

  /** What was granted first is used first: when that is gone, the newer part is the older one. */
  private turnOver(): void {
    if (this.newer === 0 || this.available > this.newer) return;
    this.newer = 0;
    this.grantedAt = this.newerAt;
  }

  /** Serves in the order of coming, as far as it reaches. They take in the turn in which they are woken. */
  private letGo(): void {
    let left = this.available;
    while (this.waiting[0] && this.waiting[0].amount <= left) {
      left -= this.waiting[0].amount;
      this.waiting.shift()?.go();
    }
  }

  private refuseThoseBeyond(now: number): void {
    const reach = this.available + this.free;
    const refused = this.waiting.filter(({ amount }) => amount > reach);
    this.waiting = this.waiting.filter(({ amount }) => amount <= reach);
    for (const { amount, refuse } of refused) refuse(this.refusal(amount, now));
  }

  private refusal(amount: number, now: number): AppError {
    const left = Math.max(0, this.available) + this.free;
    return refusalOf(this.counter.limit, { left, needed: amount, retryMs: Math.max(0, this.resetAt - now) });
  }

  /** A window's slice that lies too long would be used when it no longer counts there. */
  private dropStale(now: number): void {
    const longest = this.counter.limit.windowMs / SLICES_PER_WINDOW;
    while (this.available > 0 && now - this.grantedAt > longest) {
      this.returned += this.available - this.newer;
      this.available = this.newer;
      this.turnOver();
    }
  }
}
