import type { Question } from '../../../common/usage-store/clickhouse/question.js';
import type { LogPosition } from './log-cursor.js';

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
