import type { LogDatabase } from '../../reading/log-database.js';
import { BUCKETS, quantileOf } from '../../rollups/histogram.js';
import type { GroupsRequest } from '../usage-store.js';
import { addCountsOf } from './counts.js';
import { postgresGroupKey } from './group-sql.js';
import type { StartedQuery } from './started-query.js';

const MEASURES = ['duration_histogram'] as const;

/** How values are ranked. */
type LatencyRanking = Pick<GroupsRequest, 'direction'> & { readonly at: number };

/** Values of groups, ranked by a quantile of their durations, and by value where it is equal. */
export function rankedByLatency(
  database: LogDatabase,
  { statement, source, from }: StartedQuery,
  { by, ...ranking }: Pick<GroupsRequest, 'by'> & LatencyRanking,
): Promise<readonly string[]> {
  // PostgreSQL only concatenates the counts: adding them up takes it twice as long, and sorting them would write them to disk.
  const sql = `SELECT ${postgresGroupKey(by, statement, source)} AS value, ${source.selectTexts?.(MEASURES) ?? source.select(MEASURES)}
    FROM ${from} GROUP BY 1`;
  return rankedBy(database, { sql, parameters: statement.parameters }, ranking);
}

/** The same for a query of values and their durations. One group at a time is in memory. */
export async function rankedBy(
  database: LogDatabase,
  { sql, parameters }: { readonly sql: string; readonly parameters: readonly unknown[] },
  { direction, at }: LatencyRanking,
): Promise<readonly string[]> {
  const ranked: { readonly value: string; readonly latency: number }[] = [];
  const counts = new Float64Array(BUCKETS);
  await database.each(sql, parameters, (row) => {
    counts.fill(0);
    addCountsOf('duration_histogram', row, counts);
    ranked.push({ value: String(row['value']), latency: quantileOf(counts, at) ?? 0 });
  });
  const sign = direction === 'asc' ? 1 : -1;
  const byValue = (one: string, other: string): number => (one < other ? -1 : 1);
  return ranked
    .sort((one, other) => sign * (one.latency - other.latency) || byValue(one.value, other.value))
    .map(({ value }) => value);
}
