import type { LogRow } from '../../../request-log/reading/log-row.js';
import type { LogStepRows, StoredColumn } from './log-rows.js';

/** The position of a row in the log. */
export type LogKey = Pick<LogRow, 'at' | 'id'>;

const before = (one: LogKey, other: LogKey): boolean =>
  one.at === other.at ? one.id < other.id : one.at < other.at;

/** Oldest first. No row is in both. */
export function merged<Row extends LogKey>(some: readonly Row[], others: readonly Row[]): Row[] {
  return [...some, ...others].sort((one, other) => (before(one, other) ? -1 : 1));
}

/** Combines a step over both stores: up to the end of the store that has more to read. */
export function together<Column extends StoredColumn>(
  one: LogStepRows<Column | 'at' | 'id'>,
  other: LogStepRows<Column | 'at' | 'id'>,
): LogStepRows<Column> {
  const ends = [one, other].flatMap(({ end, isLast }) => (end ? [{ ...end, isLast }] : []));
  const open = ends.filter(({ isLast }) => !isLast);
  const inOrder = (open.length > 0 ? open : ends).sort((a, b) => (before(a, b) ? -1 : 1));
  const end = (open.length > 0 ? inOrder[0] : inOrder.at(-1)) ?? null;
  const rows = merged(one.rows as readonly LogRow[], other.rows as readonly LogRow[]);
  const within = rows.filter((row) => end === null || !before(end, row));
  return { rows: within, end: end && { at: end.at, id: end.id }, isLast: open.length === 0 };
}
