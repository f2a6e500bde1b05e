import type { QueryCondition } from '../../../request-log/reading/log-filters.js';
import { filterConditions } from '../../dto-fields/log-filter-query.dto.js';
import type { ListLogsQuery } from '../log-query.dto.js';
import { fromCursor, type LogPosition } from './log-cursor.js';

/** A requested page of the request log. */
export interface LogQuery {
  readonly conditions: readonly QueryCondition[];
  readonly after: LogPosition | null;
  readonly size: number;
  readonly includesTotal: boolean;
}

/** The page that a query names. `own` narrows every query. */
export function logQueryOf(query: ListLogsQuery, own: readonly QueryCondition[] = []): LogQuery {
  const { cursor, page_size: size, include_total: includesTotal } = query;
  return {
    conditions: [...own, ...filterConditions(query)],
    after: cursor === undefined || cursor === '' ? null : fromCursor(cursor),
    size,
    includesTotal,
  };
}
