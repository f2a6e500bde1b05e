import type { Limit } from '../../common/limits/limit.js';

/** Names one counter: that of a limit, in a period of it, for one group of a policy. */
export interface Counter {
  readonly key: string;
  readonly limit: Limit;
  /** The values that a policy groups by, for people; null where it does not. */
  readonly group: string | null;
}

/**
 * One call of a process about a counter; there is never a second one under way. After a call that got no answer, the process
 * does not know whether the store has done it: the next call says since when that is so, and the store undoes it first.
 */
interface NumberedCall extends Counter {
  /** Higher than that of any earlier call of this process. A call that arrives after a later one has no effect. */
  readonly call: number;
  /** The last call that was answered, where a later one was not; otherwise null. */
  readonly unsureSince: number | null;
  /** What the process holds, free or in use: after this return, before this ask. For a store that may lose it. */
  readonly holds: number;
}

/** What a process wants of one counter. All amounts are in the limit's measure. */
export interface LimitAsk extends NumberedCall {
  /** Used already beyond what was leased. Taken in any case. */
  readonly debt: number;
  /** The least that helps: what the first of those who wait lacks. */
  readonly first: number;
  /** What all who wait lack together; at least `first`. */
  readonly need: number;
  /** What may be taken beyond that, so that the next ones need not ask. Given only where there is plenty. */
  readonly spare: number;
}

export interface LimitGrant {
  /** Zero refuses. Otherwise at least `first`. */
  readonly granted: number;
  /** What is left for anybody after this grant; negative when more was used than the limit allows. */
  readonly free: number;
  /** After how long more may be free, milliseconds; 0 where time alone frees nothing. */
  readonly retryMs: number;
  /** What other processes hold and may give back at any moment; 0 for windows, which do not record who holds what. */
  readonly others: number;
  /** The hundredth of its window, by the clock of the store, in which the grant is counted; 0 for the other kinds. */
  readonly step: number;
  /** The store could not read the counter, and has started it again. */
  readonly wasCorrupt: boolean;
}

/** A part of what is given back to a window, and the step in which it was counted. */
export interface WindowReturn {
  readonly step: number;
  readonly amount: number;
}

/** What a process gives back; zero only says what it holds, or that an answer got lost. */
export interface LimitReturn extends NumberedCall {
  readonly amount: number;
  /** The parts of `amount` where it is a window that they go back to; otherwise empty. */
  readonly steps: readonly WindowReturn[];
}

/** The store answered that it cannot do this for this counter, and has done nothing. The other counters are not concerned. */
export class LimitFault {
  constructor(readonly cause: unknown) {}
}

/** The answers of one call, in the order of its counters. */
export type AskAnswer = LimitGrant | LimitFault;
export type ReturnAnswer = typeof RETURNED | LimitFault;
export const RETURNED = 'returned';
