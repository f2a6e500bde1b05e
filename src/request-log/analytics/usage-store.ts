import type { QueryCondition } from '../reading/log-filters.js';
import type { Whose } from '../reading/where.js';
import type { Page } from '../../common/http/page.js';
import type { ReadMeasureName, Sums } from './read-measures.js';

/**
 * Where requests are counted, and where the counts are read. PostgreSQL does both unless `CLICKHOUSE_URL` is set. What
 * each of the two must keep is said by one suite of tests that runs on both (test/integration/analytics).
 */

/** What became of a batch. `absent`: there is none of that id, or retention already removed it. */
export type Aggregation = 'aggregated' | 'already_aggregated' | 'absent';

/** Adds a stored batch of request logs to the counts, exactly once, however often it is delivered. */
export abstract class BatchAggregator {
  abstract aggregate(batchId: string): Promise<Aggregation>;
}

/** Milliseconds since the epoch; `to` is the first moment outside. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

/**
 * What an answer has counted. It is wider than what was asked for where only whole hours are left. `isExact`: that it, and every slot, holds
 * the requests of its time and no others.
 */
export interface CountedRange extends TimeRange {
  readonly isExact: boolean;
}

/** What is counted: a range of whole minutes and what narrows it. */
export interface UsageQuery {
  readonly range: TimeRange;
  readonly conditions: readonly QueryCondition[];
}

/** A range, cut into slots. */
export interface Series {
  readonly range: CountedRange;
  readonly total: Sums;
  readonly slots: readonly Sums[];
}

/** What requests are grouped by. The group of those that name nothing is ''. */
export type GroupedBy =
  /** A dimension, as it stands. */
  | { readonly kind: 'dimension'; readonly dimension: string }
  /** A dimension that holds ids. */
  | { readonly kind: 'id'; readonly dimension: 'api_key_id' }
  /** Workspaces, by their slug. Every source tells them apart. */
  | { readonly kind: 'workspace' }
  /** Saved configs by their slug; one that was removed by its id. */
  | { readonly kind: 'config' }
  /** Values of a key of the metadata. */
  | { readonly kind: 'metadata'; readonly key: string };

/** What groups are sorted by: a sum of measures, an average per request of such a sum, or a quantile of the latency. */
export type GroupOrder =
  | {
      readonly sumOf: readonly ReadMeasureName[];
      readonly less?: ReadMeasureName;
      readonly perRequest?: true;
    }
  | { readonly latencyAt: number };

export interface GroupsWish {
  readonly by: GroupedBy;
  readonly measures: readonly ReadMeasureName[];
  readonly orderBy: GroupOrder;
  readonly direction: 'asc' | 'desc';
  readonly page: Page;
}

export interface Groups {
  readonly range: CountedRange;
  readonly total: number;
  readonly rows: readonly (readonly [value: string, sums: Sums])[];
}

/** Counts requests for graphs and groups. */
export abstract class AnalyticsReader {
  /** `slots`: beginnings of the points, in order; the first may lie before the range begins. */
  abstract series(
    whose: Whose,
    query: UsageQuery,
    measures: readonly ReadMeasureName[],
    slots: readonly number[],
  ): Promise<Series>;

  /** One page, and of how many groups. The groups make up the whole. */
  abstract groups(whose: Whose, query: UsageQuery, wish: GroupsWish): Promise<Groups>;
}
