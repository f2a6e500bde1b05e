import type { Visibility } from '../../../auth/permissions/visibility.js';
import type { Reach } from '../../../auth/tenant.js';
import type { LogRow } from '../../../request-log/reading/log-row.js';
import type { LogQuery } from './log-query.js';
import { LogRows, type LogStep, type LogStepRows, type StoredColumn } from './log-rows.js';

/** Node's codes for an unreachable server, such as ECONNREFUSED and ENOTFOUND. */
const AWAY = /^E[A-Z_]+$/;

/**
 * Reads stored requests from ClickHouse, and from PostgreSQL, which has all of them but is slower, while ClickHouse is unreachable. A query
 * that ClickHouse refuses, or that takes too long, is not repeated.
 */
export class LogRowsOrPostgres extends LogRows {
  constructor(
    private readonly clickhouse: LogRows,
    private readonly postgres: LogRows,
  ) {
    super();
  }

  list(reach: Reach, query: LogQuery): Promise<readonly LogRow[]> {
    return this.ask((rows) => rows.list(reach, query));
  }

  step<Column extends StoredColumn>(reach: Reach, step: LogStep<Column>): Promise<LogStepRows<Column>> {
    return this.ask((rows) => rows.step(reach, step));
  }

  count(reach: Reach, query: Pick<LogQuery, 'conditions'>, most: number): Promise<number> {
    return this.ask((rows) => rows.count(reach, query, most));
  }

  trace(reach: Visibility, traceId: string, most: number): Promise<readonly LogRow[]> {
    return this.ask((rows) => rows.trace(reach, traceId, most));
  }

  find(reach: Visibility, id: string): Promise<LogRow | undefined> {
    return this.ask((rows) => rows.find(reach, id));
  }

  private async ask<Answer>(question: (rows: LogRows) => Promise<Answer>): Promise<Answer> {
    try {
      return await question(this.clickhouse);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      return question(this.postgres);
    }
  }
}

const isUnavailable = (error: unknown): boolean =>
  AWAY.test(String((error as { readonly code?: unknown }).code));
