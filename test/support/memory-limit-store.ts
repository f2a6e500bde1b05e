import type { Limit } from '../../src/common/limits/limit.js';
import {
  type AskAnswer,
  type LimitAsk,
  type LimitGrant,
  type LimitReturn,
  LimitStore,
  type ReturnAnswer,
  RETURNED,
} from '../../src/gateway/ports.js';

/** A store of limits in memory with the rules of the real ones, and a switch that takes it away. */
export class MemoryLimitStore extends LimitStore {
  override readonly holder = 'this-process';
  readonly leased = new Map<string, number>();
  readonly windows = new Map<string, { at: number; amount: number }[]>();
  calls = 0;
  isUnavailable = false;
  /** It answers what needs no write. */
  refusesWrites = false;

  constructor(private readonly now: () => number = () => performance.now()) {
    super();
  }

  override async take(asks: readonly LimitAsk[]): Promise<readonly AskAnswer[]> {
    await this.answer();
    if (this.refusesWrites && asks.some((ask) => this.isFree(ask)))
      throw new Error('OOM command not allowed');
    return asks.map((ask) => this.grant(ask));
  }

  override async tryWrite(): Promise<void> {
    if (this.isUnavailable || this.refusesWrites) throw new Error('OOM command not allowed');
  }

  override async giveBack(returns: readonly LimitReturn[]): Promise<readonly ReturnAnswer[]> {
    await this.answer();
    for (const { key, limit, amount } of returns) {
      if (limit.kind === 'window') this.windows.get(key)?.push({ at: this.now(), amount: -amount });
      else this.leased.set(key, (this.leased.get(key) ?? 0) - amount);
    }
    return returns.map(() => RETURNED);
  }

  private async answer(): Promise<void> {
    this.calls++;
    await Promise.resolve();
    if (this.isUnavailable) throw new Error('The store is away.');
  }

  private isFree({ key, limit, debt, first }: LimitAsk): boolean {
    return limit.amount - this.usedOf(key, limit).used - debt >= first;
  }

  private usedOf(key: string, limit: Limit) {
    const marks = (this.windows.get(key) ?? []).filter(({ at }) => this.now() - at < limit.windowMs);
    const used =
      limit.kind === 'window'
        ? marks.reduce((sum, { amount }) => sum + amount, 0)
        : (this.leased.get(key) ?? 0);
    return { marks, used };
  }

  private grant({ key, limit, debt, first, need, spare }: LimitAsk): LimitGrant {
    const { marks, used } = this.usedOf(key, limit);
    const free = limit.amount - used - debt;
    const granted =
      free >= need ? need + Math.min(spare, Math.floor((free - need) / 32)) : free >= first ? first : 0;
    if (limit.kind === 'window')
      this.windows.set(key, [...marks, { at: this.now(), amount: granted + debt }]);
    else this.leased.set(key, used + granted + debt);
    const retryMs = marks[0] ? marks[0].at + limit.windowMs - this.now() : 0;
    return {
      granted,
      free: free - granted,
      retryMs,
      others: 0,
      step: Math.floor(this.now()),
      wasCorrupt: false,
    };
  }
}
