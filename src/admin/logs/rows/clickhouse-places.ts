import type { Question } from '../../../request-log/analytics/clickhouse/question.js';
import type { LogPosition } from './log-cursor.js';
import type { LogPlace } from './merged-rows.js';

/** PostgreSQL orders ids by their bytes, ClickHouse by their second half first. */
export const ID = 'UUIDToNum(id)';
export const OLDEST_FIRST = `ORDER BY created_at, ${ID}`;
export const NEWEST_FIRST = `ORDER BY created_at DESC, ${ID} DESC`;

/** The first half lets ClickHouse leave days out. */
export function beyond(question: Question, side: '<' | '>', { at, id }: LogPosition): string {
  const there = moment(question, at);
  return `created_at ${side}= ${there} AND (created_at ${side} ${there} OR ${ID} ${side} UUIDToNum(${question.bind(id, 'UUID')}))`;
}

export const moment = ({ bind }: Question, at: string): string =>
  `parseDateTime64BestEffort(${bind(at, 'String')}, 6, 'UTC')`;

/** The second half lets ClickHouse leave days out. */
export const upTo = (question: Question, end: LogPosition): string =>
  `NOT (${beyond(question, '>', end)}) AND created_at <= ${moment(question, end.at)}`;

/**
 * By their moments ClickHouse goes to the blocks of these rows alone, because rows lie in the order of their moments. The index of ids
 * would let through most of what lies between them: of 51 ids it takes one for found in nearly every block.
 */
export function among(question: Question, places: readonly LogPlace[]): string {
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
