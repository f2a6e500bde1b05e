import type { AppError } from '../../common/errors/app-error.js';

interface WaitingRequest {
  readonly amount: number;
  /** By the clock of the process (`performance.now`). */
  readonly since: number;
  readonly go: () => void;
  readonly refuse: (error: AppError) => void;
}

/** What there is for requests that the store could not serve. */
export interface Outlook {
  /** What is free for anybody, and what this process has. */
  readonly reach: number;
  /** What other processes hold and may give back. */
  readonly others: number;
  /** How long a request waits for that, milliseconds. */
  readonly patienceMs: number;
  readonly now: number;
}

/** Requests that wait for one counter, in the order of their coming. */
export class WaitingRequests {
  private waiting: WaitingRequest[] = [];

  get isEmpty(): boolean {
    return this.waiting.length === 0;
  }

  /** What the first of them needs; zero where there is none. */
  get first(): number {
    return this.waiting[0]?.amount ?? 0;
  }

  get total(): number {
    return this.waiting.reduce((sum, { amount }) => sum + amount, 0);
  }

  /** Resolves when `amount` may be there, and rejects with the refusal. */
  add(amount: number, since: number): Promise<void> {
    return new Promise((go, refuse) => void this.waiting.push({ amount, since, go, refuse }));
  }

  /** Wakes the first ones, as far as `available` reaches. They take in the turn in which they are woken. */
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
   * Requests that fit within reach go first. Those that would fit with what others hold stay until their patience ends, and the
   * others are refused. Answers whether one has waited in vain.
   */
  refuseBeyond({ reach, others, patienceMs, now }: Outlook, refusal: (amount: number) => AppError): boolean {
    const within: WaitingRequest[] = [];
    const hoping: WaitingRequest[] = [];
    let isInVain = false;
    for (const one of this.waiting) {
      const mayFit = one.amount <= reach + others;
      if (one.amount <= reach) within.push(one);
      else if (mayFit && now - one.since < patienceMs) hoping.push(one);
      else {
        isInVain ||= mayFit;
        one.refuse(refusal(one.amount));
      }
    }
    this.waiting = [...within, ...hoping];
    return isInVain;
  }
}
