import type { Visibility } from '../../../auth/permissions/visibility.js';
import type { Reach } from '../../../auth/tenant.js';
import { type LogRow, READ_COLUMNS, type ReadColumn } from '../../../request-log/reading/log-row.js';
import type { LogPosition } from './log-cursor.js';
import type { LogQuery } from './log-query.js';

/** Columns of the table, and the exact arrival time. */
export type StoredColumn = ReadColumn | 'at';

/** Every column shown in a list or a detail. */
export const STORED_COLUMNS: readonly StoredColumn[] = ['at', ...READ_COLUMNS];

/** The next rows of the log, for reading all of it. */
export interface LogStep<Column extends StoredColumn> {
  /** The columns to read: they take half of the time of a long read. */
  readonly columns: readonly Column[];
  readonly conditions: LogQuery['conditions'];
  /** Conditions on the rows that are read; default: all in scope. */
  readonly among?: LogQuery['conditions'];
  readonly after: LogPosition | null;
  readonly until: Date;
  /** Number of rows to read. */
  readonly size: number;
}

export interface LogStepRows<Column extends StoredColumn> {
  readonly rows: readonly Pick<LogRow, Column>[];
  /** The last row that was read; null when there was none. */
  readonly end: LogPosition | null;
  readonly isLast: boolean;
}

const FIRST_ID = '00000000-0000-0000-0000-000000000000';
export const BEFORE_ALL: LogPosition = { at: '-infinity', id: FIRST_ID };

/** The position before all rows of a moment. */
export const positionBefore = (moment: Date): LogPosition => ({ at: moment.toISOString(), id: FIRST_ID });

/**
 * Reads stored requests: from PostgreSQL, or from ClickHouse if `CLICKHOUSE_URL` is set. One test suite requires the same results of both
 * (test/integration/logs, test/clickhouse).
 */
export abstract class LogRows {
  /** Newest first, with one row more than a page holds, if there is one. */
  abstract list(reach: Reach, query: LogQuery): Promise<readonly LogRow[]>;

  /**
   * Oldest first: the matching rows among the next so many after a position, and where the next step begins, or null at the end. So a step
   * reads a bounded number of rows however few match, whereas finding the next page might read all.
   */
  abstract step<Column extends StoredColumn>(
    reach: Reach,
    step: LogStep<Column>,
  ): Promise<LogStepRows<Column>>;

  /** The number of matching rows, up to `most`, to avoid counting millions. */
  abstract count(reach: Reach, query: Pick<LogQuery, 'conditions'>, most: number): Promise<number>;

  /** The requests of a trace, oldest first. */
  abstract trace(reach: Visibility, traceId: string, most: number): Promise<readonly LogRow[]>;

  abstract find(reach: Visibility, id: string): Promise<LogRow | undefined>;
}
