import type { AppError } from '../../common/errors/app-error.js';

interface WaitingRequest {
  readonly amount: number;
  /** On the monotonic clock (`performance.now`). */
  readonly since: number;
  readonly go: () => void;
  readonly refuse: (error: AppError) => void;
}

/** Units in prospect for requests that the store could not serve. */
export interface Outlook {
  /** Units free for any process, plus those of this one. */
  readonly reach: number;
  /** Units of other processes, which they may return. */
  readonly others: number;
  /** How long a request waits for those, in milliseconds. */
  readonly timeoutMs: number;
  readonly now: number;
}

/** Requests that wait for one counter, in order of arrival. */
export class WaitingRequests {
  private waiting: WaitingRequest[] = [];

  get isEmpty(): boolean {
    return this.waiting.length === 0;
  }

  /** The amount that the first one needs; zero without one. */
  get first(): number {
    return this.waiting[0]?.amount ?? 0;
  }

  get total(): number {
    return this.waiting.reduce((sum, { amount }) => sum + amount, 0);
  }

  /** Resolves when `amount` may be available, and rejects with the refusal. */
  add(amount: number, since: number): Promise<void> {
    return new Promise((go, refuse) => void this.waiting.push({ amount, since, go, refuse }));
  }

  /** Wakes the first ones, as far as `available` suffices. They take their units in the same turn. */
  letGo(available: number): void {
    let left = available;
    while (this.waiting[0] && this.waiting[0].amount <= left) {
      left -= this.waiting[0].amount;
      this.waiting.shift()?.go();
    }
  }

  wakeAll(): void {
    for (const { go } of this.takeAll()) go();
  }

  refuseAll(refusal: () => AppError): void {
    for (const { refuse } of this.takeAll()) refuse(refusal());
  }

  private takeAll(): readonly WaitingRequest[] {
    const { waiting } = this;
    this.waiting = [];
    return waiting;
  }

  /**
   * Requests within reach come first. Those that other processes' units would cover wait until their patience ends; the others are refused.
   * Returns whether one waited in vain.
   */
  refuseBeyond({ reach, others, timeoutMs, now }: Outlook, refusal: (amount: number) => AppError): boolean {
    const within: WaitingRequest[] = [];
    const hoping: WaitingRequest[] = [];
    let isInVain = false;
    for (const one of this.waiting) {
      const mayFit = one.amount <= reach + others;
      if (one.amount <= reach) within.push(one);
      else if (mayFit && now - one.since < timeoutMs) hoping.push(one);
      else {
        isInVain ||= mayFit;
        one.refuse(refusal(one.amount));
      }
    }
    this.waiting = [...within, ...hoping];
    return isInVain;
  }
}
