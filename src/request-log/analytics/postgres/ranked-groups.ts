import type { LogDatabase } from '../../reading/log-database.js';
import { Sums } from '../read-measures.js';
import type { GroupsWish } from '../usage-store.js';
import { GrowingSums } from './counts.js';
import { groupedBySql } from './group-sql.js';
import type { StartedQuery } from './started-query.js';

const MEASURES = ['duration_histogram'] as const;

/** Values of groups, ranked by a quantile of their durations, and by value where it is equal. */
export async function rankedByLatency(
  database: LogDatabase,
  { statement, source, from }: StartedQuery,
  { by, direction, at }: Pick<GroupsWish, 'by' | 'direction'> & { readonly at: number },
): Promise<readonly string[]> {
  const ranked: { readonly value: string; readonly ms: number }[] = [];
  // PostgreSQL only writes the counts out, which takes it half as long as adding them up. One group at a time is in memory.
  const sql = `SELECT ${groupedBySql(by, statement, source)} AS value, ${source.selectTexts?.(MEASURES) ?? source.select(MEASURES)}
    FROM ${from} GROUP BY 1 ORDER BY 1`;
  await database.each(sql, statement.parameters, (row) => {
    const sums = new GrowingSums(MEASURES);
    sums.add(row);
    ranked.push({ value: String(row['value']), ms: new Sums(sums.row).quantileMs(at) });
  });
  const sign = direction === 'asc' ? 1 : -1;
  return ranked.sort((one, other) => sign * (one.ms - other.ms)).map(({ value }) => value);
}
