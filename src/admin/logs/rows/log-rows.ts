import type { Sight } from '../../../auth/permissions/sight.js';
import type { Reach } from '../../../auth/tenant.js';
import { LOG_COLUMN_NAMES, type LogColumnName } from '../../../request-log/columns.js';
import type { LogRow } from '../../../request-log/reading/log-row.js';
import type { LogPosition } from './log-cursor.js';
import type { LogQuery } from './log-query.js';

/** What stands in the table itself, and the exact time of arrival. */
export type StoredColumn = Exclude<LogColumnName, 'batch_id'> | 'at';

/** All that a list or a detail shows. */
export const STORED_COLUMNS: readonly StoredColumn[] = [
  'at',
  ...LOG_COLUMN_NAMES.filter((name) => name !== 'batch_id'),
];

/** The next rows of the log, for a reader of all of them. */
export interface LogStep<Column extends StoredColumn> {
  /** What is read of each row: half of the time of a long read goes into columns. */
  readonly columns: readonly Column[];
  readonly conditions: LogQuery['conditions'];
  /** What narrows the rows that are looked at: all within reach, unless it is said. */
  readonly among?: LogQuery['conditions'];
  readonly after: LogPosition | null;
  readonly until: Date;
  /** Rows to look at. */
  readonly size: number;
}

export interface LogStepRows<Column extends StoredColumn> {
  readonly rows: readonly Pick<LogRow, Column>[];
  /** The last row that was looked at; null when there was none. */
  readonly end: LogPosition | null;
  readonly isLast: boolean;
}

const FIRST_ID = '00000000-0000-0000-0000-000000000000';
export const BEFORE_ALL: LogPosition = { at: '-infinity', id: FIRST_ID };

/** The position before all rows of a moment. */
export const positionBefore = (moment: Date): LogPosition => ({ at: moment.toISOString(), id: FIRST_ID });

/**
 * Where stored requests are read: in PostgreSQL, or in ClickHouse where `CLICKHOUSE_URL` is set. Both answer the same; one
 * suite of tests says so of both (test/integration/logs, test/clickhouse).
 */
export abstract class LogRows {
  /** Newest first, and one row more than a page holds, if there is one. */
  abstract list(reach: Reach, query: LogQuery): Promise<readonly LogRow[]>;

  /**
   * Oldest first, of the next so many rows after a position those that fit; and where the next step begins, or null when
   * that was all. So a step reads a bounded number of rows however few fit, where a search for the next page might read all.
   */
  abstract step<Column extends StoredColumn>(
    reach: Reach,
    wanted: LogStep<Column>,
  ): Promise<LogStepRows<Column>>;

  /** The number of matching rows, but never more than `most`, to avoid counting millions. */
  abstract count(reach: Reach, query: Pick<LogQuery, 'conditions'>, most: number): Promise<number>;

  /** The requests of a trace, oldest first. */
  abstract trace(reach: Sight, traceId: string, most: number): Promise<readonly LogRow[]>;

  abstract find(reach: Sight, id: string): Promise<LogRow | undefined>;
}
