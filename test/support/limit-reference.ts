import type { Limit } from '../../src/common/limits/limit.js';
import type { LimitAsk, LimitGrant, LimitReturn } from '../../src/gateway/ports.js';

const STEPS = 100;

/**
 * What stores of limits must answer, computed from what processes truly hold. It knows nothing of call numbers or of undoing: a call that is
 * done sets what its process holds, so whatever an unanswered call did before is forgotten by then.
 */
export class ReferenceCounter {
  spent = 0;
  /** Of each process that was not given up: what the store has for it. */
  readonly leases = new Map<string, number>();
  steps = new Map<number, number>();
  isCorrupt = false;
  /** What processes have used without having it, which no limit can prevent. */
  overused = 0;
  /** Of a window: what processes were told that they may use, less what they gave back, by step. */
  private readonly uses = new Map<number, number>();

  constructor(readonly limit: Limit) {}

  /** @param unstored What the process has spent of its leases, and no record of it is stored yet. */
  take(holder: string, ask: LimitAsk, now: number, unstored: number): LimitGrant {
    return this.limit.kind === 'window' ? this.takeWindow(ask, now) : this.takeLease(holder, ask, unstored);
  }

  giveBack(holder: string, { steps, holds }: LimitReturn, now: number, unstored: number): void {
    if (this.limit.kind !== 'window') {
      this.leases.set(holder, holds + unstored);
      return;
    }
    const current = this.stepAt(now);
    for (const { step, amount } of steps) {
      const counted = this.steps.get(step);
      if (counted === undefined || step <= current - STEPS) continue;
      if (counted > amount) this.steps.set(step, counted - amount);
      else this.steps.delete(step);
    }
  }

  use(step: number, amount: number): void {
    if (this.limit.kind === 'window') this.uses.set(step, (this.uses.get(step) ?? 0) + amount);
  }

  /** A window begins anew when its counter was corrupt, or when the clock has jumped by more than its length. */
  forgetUse(): void {
    this.uses.clear();
  }

  usedWithin(now: number): number {
    const step = this.stepAt(now);
    return sum(
      [...this.uses].filter(([at]) => at > step - STEPS && at <= step + STEPS).map(([, used]) => used),
    );
  }

  private takeLease(holder: string, ask: LimitAsk, unstored: number): LimitGrant {
    const { amount, kind } = this.limit;
    const others = sum([...this.leases].filter(([name]) => name !== holder).map(([, held]) => held));
    const free = amount - this.spent - others - ask.holds - unstored - ask.debt;
    const hasPlenty = kind === 'budget' && free - ask.need > 1_000 * Math.max(ask.first, 1);
    const granted = grant(free, hasPlenty ? ask : { ...ask, spare: 0 });
    this.leases.set(holder, ask.holds + unstored + granted + ask.debt);
    return { granted, free: free - granted, retryMs: 0, others, step: 0, wasCorrupt: false };
  }

  private takeWindow(ask: LimitAsk, now: number): LimitGrant {
    const wasCorrupt = this.isCorrupt;
    if (wasCorrupt) this.steps.clear();
    this.isCorrupt = false;
    const step = this.stepAt(now);
    for (const at of this.steps.keys()) if (at <= step - STEPS || at > step + STEPS) this.steps.delete(at);
    const free = this.limit.amount - sum(this.steps.values()) - ask.debt;
    const granted = grant(free, ask);
    const oldest = Math.min(step, ...this.steps.keys());
    if (granted + ask.debt > 0) this.steps.set(step, (this.steps.get(step) ?? 0) + granted + ask.debt);
    const retryMs = Math.max((oldest + STEPS) * this.stepMs - now, 1);
    return { granted, free: free - granted, retryMs, others: 0, step, wasCorrupt };
  }

  private get stepMs(): number {
    return Math.max(Math.floor(this.limit.windowMs / STEPS), 1);
  }

  private stepAt(now: number): number {
    return Math.floor(now / this.stepMs);
  }
}

function grant(free: number, { first, need, spare }: Pick<LimitAsk, 'first' | 'need' | 'spare'>): number {
  if (free >= need) return need + Math.min(spare, Math.floor((free - need) / 32));
  return free >= first ? first : 0;
}

const sum = (numbers: Iterable<number>): number => [...numbers].reduce((total, each) => total + each, 0);
