import type { Limit } from '../../common/limits/limit.js';

/** Identifies one counter: a limit, a period of it, and a group of a policy. */
export interface Counter {
  readonly key: string;
  readonly limit: Limit;
  /** The values that a policy groups by, for display; null if it has no groups. */
  readonly group: string | null;
}

/**
 * One call of a process about a counter, never two at a time. After a call without a result, it is unknown whether it took effect: the next
 * call names the last certain one, and the store undoes the uncertain one first.
 */
interface NumberedCall extends Counter {
  /** Higher than that of any earlier call of this process. A call that arrives after a later one has no effect. */
  readonly call: number;
  /** The last call with a result, if a later one had none; otherwise null. */
  readonly unsureSince: number | null;
  /** The process's total, free or in use: after this return, before this ask. For a store that may lose it. */
  readonly holds: number;
}

/** A request for units of one counter. All amounts are in the limit's measure. */
export interface LimitAsk extends NumberedCall {
  /** Used beyond the leases. Taken in any case. */
  readonly debt: number;
  /** The minimum: the amount that the first waiting request lacks. */
  readonly first: number;
  /** The amount that all waiting requests lack together; at least `first`. */
  readonly need: number;
  /** An optional extra, so that the next requests need no call. Granted only if plenty is free. */
  readonly spare: number;
}

export interface LimitGrant {
  /** Zero refuses. Otherwise at least `first`. */
  readonly granted: number;
  /** Free for any process after this grant; negative when more was used than the limit allows. */
  readonly free: number;
  /** Milliseconds until more may be free; 0 if time alone frees nothing. */
  readonly retryMs: number;
  /** Units of other processes, which they may return at any moment; 0 for windows, which do not record holders. */
  readonly others: number;
  /** The hundredth of its window, by the clock of the store, in which the grant is counted; 0 for the other kinds. */
  readonly step: number;
  /** The store could not read the counter, and restarted it. */
  readonly wasCorrupt: boolean;
}

/** A part of a return to a window, with the step in which it was counted. */
export interface WindowReturn {
  readonly step: number;
  readonly amount: number;
}

/** A return of units. Zero only reports the holdings or a lost result. */
export interface LimitReturn extends NumberedCall {
  readonly amount: number;
  /** The parts of `amount` for a window; otherwise empty. */
  readonly steps: readonly WindowReturn[];
}

/** The store refused the call for this counter, without effect. The other counters are not affected. */
export class LimitFault {
  constructor(readonly cause: unknown) {}
}

/** The results of one call, in the order of its counters. */
export type AskAnswer = LimitGrant | LimitFault;
export type ReturnAnswer = typeof RETURNED | LimitFault;
export const RETURNED = 'returned';

/**
 * Counts use against limits for all processes. Grants are leased to this process: taken from the limit before they are used, and returned
 * if they are not.
 *
 * Both calls return a separate result for each counter, in order, and reject only when the store is unavailable: it cannot be reached, does
 * not respond in time, or refuses all calls. A rejected call may have taken effect or not.
 */
export abstract class LimitStore {
  /** The store of budgets, which may be another one with outages of its own. */
  readonly budgets: LimitStore = this;

  /** The name under which this process leases. Its leases end when it is dead and all its records are stored. */
  abstract readonly holder: string;
  /** Takes from each counter. */
  abstract take(asks: readonly LimitAsk[]): Promise<readonly AskAnswer[]>;
  /** Returns unused leases, and keeps the rest alive. Without returns, it only checks that the store is available. */
  abstract giveBack(returns: readonly LimitReturn[]): Promise<readonly ReturnAnswer[]>;
  /** Writes something that counts nowhere. Rejects when the store takes no writes, although it may still respond. */
  abstract tryWrite(): Promise<void>;
}
