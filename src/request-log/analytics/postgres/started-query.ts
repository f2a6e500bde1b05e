import type { Whose } from '../../reading/where.js';
import { type Granularity, GRANULARITY_MS } from '../../rollups/granularities.js';
import type { CountedRange, TimeRange, UsageQuery } from '../usage-store.js';
import type { ReadState } from './rollup-state.js';
import type { ColumnsRequest, PostgresSource } from './source.js';
import type { QueryParameters } from './statement.js';

/** A query whose rows are known, and what it selects from them is not. */
export interface StartedQuery {
  readonly range: CountedRange;
  readonly slots: readonly number[];
  readonly statement: QueryParameters;
  readonly source: PostgresSource;
  readonly state: ReadState;
  readonly from: string;
}

export interface QueryStart extends ColumnsRequest {
  /** The statement to add it to. */
  readonly statement?: QueryParameters;
  /** Default: the cheapest source that suffices. */
  readonly source?: PostgresSource | undefined;
  /** Default: read now. */
  readonly state?: ReadState;
  /** Only these values of a slice. */
  readonly values?: readonly string[];
}

export type BeginQuery = (whose: Whose, query: UsageQuery, options: QueryStart) => Promise<StartedQuery>;

/** Rows of a slice by their values. Named buckets let the index find each row, instead of checking all values of a range. */
export function valuesSql(
  statement: QueryParameters,
  values: readonly string[],
  [granularity, { from, to }]: readonly [Granularity, TimeRange],
): string {
  const isAny = `value = ANY(${statement.bind(values)}::text[])`;
  if (granularity === 'minute') return isAny;
  const buckets = Array.from(
    { length: Math.ceil((to - from) / GRANULARITY_MS[granularity]) },
    (_, at) => new Date(from + at * GRANULARITY_MS[granularity]),
  );
  return `${isAny} AND bucket = ANY(${statement.bind(buckets)}::timestamptz[])`;
}
