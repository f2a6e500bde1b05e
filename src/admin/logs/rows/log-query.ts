import { unknownParameter } from '../../../common/errors/field-errors.js';
import { flagOf, type ListQuery, pageIn, parameterOf } from '../../../common/http/page.js';
import { fromCursor, type LogPosition } from './log-cursor.js';
import {
  type QueryCondition,
  conditionOfParameter,
  LOG_FILTERS,
} from '../../../request-log/reading/log-filters.js';

/** A requested page of the request log. */
export interface LogQuery {
  readonly conditions: readonly QueryCondition[];
  readonly after: LogPosition | null;
  readonly size: number;
  readonly includesTotal: boolean;
}

/** Both name a workspace, by its id or slug. */
export const WORKSPACE_NAMES = ['workspace_id', 'workspace_slug'] as const;

const PAGE_NAMES: readonly string[] = ['cursor', 'page_size', 'pageSize', 'include_total'];

/**
 * Reads the parameters of a list. Unknown parameters are refused: a misspelled filter must not return all rows. `own` narrows every query.
 */
export function logQueryOf(query: ListQuery, own: readonly QueryCondition[] = []): LogQuery {
  const cursor = parameterOf(query, 'cursor');
  return {
    conditions: [...own, ...conditionsIn(query, PAGE_NAMES)],
    after: cursor === undefined || cursor === '' ? null : fromCursor(cursor),
    size: pageIn(query).take,
    includesTotal: flagOf(query, 'include_total'),
  };
}

/** The filters of an operation without pages. Refuses parameters that are neither filters nor name a workspace. */
export const logConditionsOf = (query: ListQuery): readonly QueryCondition[] => conditionsIn(query, []);

function conditionsIn(query: ListQuery, more: readonly string[]): readonly QueryCondition[] {
  const others: readonly string[] = [...WORKSPACE_NAMES, ...more];
  return Object.keys(query)
    .filter((name) => !others.includes(name))
    .map((name) => conditionIn(query, name, others));
}

function conditionIn(query: ListQuery, name: string, others: readonly string[]): QueryCondition {
  const value = parameterOf(query, name) ?? '';
  const condition = conditionOfParameter(name, value);
  if (condition) return condition;
  throw unknownParameter(name, [...Object.keys(LOG_FILTERS), ...others]);
}
