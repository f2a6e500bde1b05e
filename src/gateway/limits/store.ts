import type { Limit } from '../../common/limits/limit.js';

/** Names one counter: that of a limit, in a period of it, for one group of a policy. */
export interface Counter {
  readonly key: string;
  readonly limit: Limit;
  /** The values that a policy groups by, for people; null where it does not. */
  readonly group: string | null;
}

/**
 * One call of a process about a counter; there is never a second one under way. Where an answer got lost, nobody knows
 * whether the store has done what it was asked: the next call says since when that is so, and the store undoes it first.
 */
interface NumberedCall extends Counter {
  /** Higher than that of any earlier call of this process. What a later call has overtaken has no effect. */
  readonly call: number;
  /** The last call whose answer came, where one after it got none; otherwise null. */
  readonly unsureSince: number | null;
  /** What the process has in its hands, free or in use: after this return, before this ask. For a store that may forget. */
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
}

/** What a process gives back; zero only says what it holds, or that an answer got lost. */
export interface LimitReturn extends NumberedCall {
  readonly amount: number;
}
