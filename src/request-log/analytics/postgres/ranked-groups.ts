import type { LogDatabase } from '../../reading/log-database.js';
import { BUCKETS, quantileOf } from '../../rollups/histogram.js';
import type { GroupsRequest } from '../usage-store.js';
import { addCountsOf } from './counts.js';
import { groupedBySql } from './group-sql.js';
import type { StartedQuery } from './started-query.js';

const MEASURES = ['duration_histogram'] as const;

/** Values of groups, ranked by a quantile of their durations, and by value where it is equal. */
export async function rankedByLatency(
  database: LogDatabase,
  { statement, source, from }: StartedQuery,
  { by, direction, at }: Pick<GroupsRequest, 'by' | 'direction'> & { readonly at: number },
): Promise<readonly string[]> {
  const ranked: { readonly value: string; readonly latency: number }[] = [];
  const counts = new Float64Array(BUCKETS);
  // PostgreSQL only concatenates the counts: adding them up takes it twice as long, and sorting them would write them to disk. One group
  // at a time is in memory.
  const sql = `SELECT ${groupedBySql(by, statement, source)} AS value, ${source.selectTexts?.(MEASURES) ?? source.select(MEASURES)}
    FROM ${from} GROUP BY 1`;
  await database.each(sql, statement.parameters, (row) => {
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
