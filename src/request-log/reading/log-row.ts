import { columnsWith, type ColumnsWith, type ColumnValue } from '../columns/log-columns.js';

/** Columns of requests that readers select: those with a text. */
export type ReadColumn = ColumnsWith<{ readonly text: string }>;

export const READ_COLUMNS: readonly ReadColumn[] = columnsWith('text');

/** A row of `request_logs`; `bigint` is a text. */
export type LogRow = {
  readonly [Name in ReadColumn]: ColumnValue<Name, Date, string>;
} & {
  /** The exact arrival time, for the cursor. */
  readonly at: string;
  readonly workspace_slug: string | null;
};

/** Success as analytics and the filter `is_success` define it. */
export const isSuccess = ({ status }: Pick<LogRow, 'status'>): boolean => status < 400;
