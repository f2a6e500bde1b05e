import type { QueryCondition } from '../reading/log-filters.js';
import type { Whose } from '../reading/where.js';
import type { Page } from '../../common/http/page.js';
import type { ReadMeasureName, MeasureSums } from './read-measures.js';

/**
 * Counts requests, and reads the counts. PostgreSQL does both unless `CLICKHOUSE_URL` is set. One test suite runs on both stores and
 * defines their common behaviour (test/integration/analytics).
 */

/** The outcome for a batch. `absent`: no batch has that id, or retention has removed it. */
export type Aggregation = 'aggregated' | 'already_aggregated' | 'absent';

/** Adds a stored batch of request logs to the counts exactly once, however often it is delivered. */
export abstract class BatchAggregator {
  abstract aggregate(batchId: string): Promise<Aggregation>;
}

/** Milliseconds since the epoch; `to` is exclusive. */
export interface TimeRange {
  readonly from: number;
  readonly to: number;
}

/**
 * The range that a result covers. It is wider than requested where only whole hours are left. `isExact`: the result, and every slot, counts
 * exactly the requests of its time.
 */
export interface CountedRange extends TimeRange {
  readonly isExact: boolean;
}

/** A range of whole minutes and the filters on it. */
export interface UsageQuery {
  readonly range: TimeRange;
  readonly conditions: readonly QueryCondition[];
}

/** A range divided into slots. */
export interface Series {
  readonly range: CountedRange;
  readonly total: MeasureSums;
  readonly slots: readonly MeasureSums[];
}

/** What requests are grouped by. The group of requests without a value is ''. */
export type GroupedBy =
  /** The plain value of a dimension. */
  | { readonly kind: 'dimension'; readonly dimension: string }
  /** A dimension of ids. */
  | { readonly kind: 'id'; readonly dimension: 'api_key_id' }
  /** Workspaces by slug. Every source has them. */
  | { readonly kind: 'workspace' }
  /** Saved configs by slug; deleted ones by id. */
  | { readonly kind: 'config' }
  /** Values of a metadata key. */
  | { readonly kind: 'metadata'; readonly key: string };

/** A sum of measures, `less` another one. */
export interface MeasureSum {
  readonly sumOf: readonly ReadMeasureName[];
  readonly less?: ReadMeasureName;
}

/** The sort key of groups: a sum, its ratio to another one, or a latency quantile. Groups without a ratio (`per` is 0) come last. */
export type GroupOrder = (MeasureSum & { readonly per?: MeasureSum }) | { readonly latencyAt: number };

export interface GroupsRequest {
  readonly by: GroupedBy;
  readonly measures: readonly ReadMeasureName[];
  readonly orderBy: GroupOrder;
  readonly direction: 'asc' | 'desc';
  readonly page: Page;
}

export interface Groups {
  readonly range: CountedRange;
  readonly total: number;
  readonly rows: readonly (readonly [value: string, sums: MeasureSums])[];
}

/** Counts requests for charts and groups. */
export abstract class AnalyticsReader {
  /** `slots`: starts of the points, in order; the first may precede the range. */
  abstract series(
    whose: Whose,
    query: UsageQuery,
    measures: readonly ReadMeasureName[],
    slots: readonly number[],
  ): Promise<Series>;

  /**
   * About how many request rows `groups` reads, from the rollups; never fewer than match. Null if it reads none, or if the store reads all
   * of them in time.
   */
  abstract estimatedRows(whose: Whose, query: UsageQuery, by: GroupedBy): Promise<number | null>;

  /** One page, and the number of groups. The groups add up to the total. */
  abstract groups(whose: Whose, query: UsageQuery, options: GroupsRequest): Promise<Groups>;

  /** Reads several results of one tenant within a range, sharing what can be shared: a transaction, and what is known before each query. */
  abstract together<T>(
    whose: Whose,
    within: TimeRange,
    work: (reader: AnalyticsReader) => Promise<T>,
  ): Promise<T>;
}
