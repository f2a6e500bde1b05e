import type { Limit } from '../../common/limits/limit.js';

/** Names one counter: that of a limit, in a period of it, for one group of a policy. */
export interface Counter {
  readonly key: string;
  readonly limit: Limit;
  /** The values that a policy groups by, for people; null where it does not. */
  readonly group: string | null;
}

/** What a process wants of one counter. All amounts are in the limit's measure. */
export interface LimitAsk extends Counter {
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

export interface LimitReturn extends Counter {
  readonly amount: number;
}
