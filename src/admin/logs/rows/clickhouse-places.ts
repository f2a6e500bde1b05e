import type { ClickHouseQuery } from '../../../request-log/analytics/clickhouse/clickhouse-query.js';
import type { LogPosition } from './log-cursor.js';
import type { LogKey } from './merged-rows.js';

/** PostgreSQL orders ids by their bytes, ClickHouse by their second half first. */
export const ID = 'UUIDToNum(id)';
export const OLDEST_FIRST = `ORDER BY created_at, ${ID}`;
export const NEWEST_FIRST = `ORDER BY created_at DESC, ${ID} DESC`;

/** The first half lets ClickHouse prune days. */
export function beyond(question: ClickHouseQuery, side: '<' | '>', { at, id }: LogPosition): string {
  const there = moment(question, at);
  return `created_at ${side}= ${there} AND (created_at ${side} ${there} OR ${ID} ${side} UUIDToNum(${question.bind(id, 'UUID')}))`;
}

export const moment = ({ bind }: ClickHouseQuery, at: string): string =>
  `parseDateTime64BestEffort(${bind(at, 'String')}, 6, 'UTC')`;

/** The second half lets ClickHouse prune days. */
export const upTo = (question: ClickHouseQuery, end: LogPosition): string =>
  `NOT (${beyond(question, '>', end)}) AND created_at <= ${moment(question, end.at)}`;

/**
 * By time, ClickHouse reads only the blocks of these rows, because rows are sorted by time. The index of ids would admit most blocks in
 * between: for 51 ids it has a false positive in nearly every block.
 */
export function among(question: ClickHouseQuery, places: readonly LogKey[]): string {
  if (places.length === 0) return 'false';
  const moments = question.bind(
    places.map(({ at }) => at.replace('T', ' ').replace('Z', '')),
    "Array(DateTime64(6, 'UTC'))",
  );
  const ids = question.bind(
    places.map(({ id }) => id),
    'Array(UUID)',
  );
  return `created_at IN ${moments} AND id IN ${ids}`;
}
