import { type ListQuery, pageOf, parameterOf } from '../../../common/database/page.js';
import { AppError } from '../../../common/errors/app-error.js';
import { fromCursor, type LogPosition } from './log-cursor.js';
import {
  type Condition,
  conditionOf,
  isLogFilter,
} from '../../../common/database/log-reading/log-filters.js';

/** A page of the request log, as it was asked for. */
export interface LogQuery {
  readonly conditions: readonly Condition[];
  readonly after: LogPosition | null;
  readonly size: number;
  readonly includesTotal: boolean;
}

/** Parameters that are no filters. */
const OTHERS: ReadonlySet<string> = new Set([
  'workspace_id',
  'workspace_slug',
  'cursor',
  'page_size',
  'pageSize',
  'include_total',
]);

const METADATA = /^metadata\[(.{1,128})\]$/s;
const LONGEST_NAME = 64;

/** Reads the parameters of a list. An unknown one is refused: who misspells a filter must not get everybody's rows. `own` narrows whatever is asked for. */
export function logQueryOf(query: ListQuery, own: readonly Condition[] = []): LogQuery {
  const cursor = parameterOf(query, 'cursor');
  return {
    conditions: [...own, ...Object.keys(query).flatMap((name) => conditionIn(query, name) ?? [])],
    after: cursor === undefined || cursor === '' ? null : fromCursor(cursor),
    size: pageOf(query).take,
    includesTotal: parameterOf(query, 'include_total') === 'true',
  };
}

function conditionIn(query: ListQuery, name: string): Condition | null {
  if (OTHERS.has(name)) return null;
  const value = parameterOf(query, name) ?? '';
  if (isLogFilter(name)) return conditionOf(name, value);
  const key = METADATA.exec(name)?.[1];
  if (key !== undefined) return conditionOf('metadata', JSON.stringify(Object.fromEntries([[key, value]])));
  throw new AppError('invalid_request', {
    detail: `There is no parameter "${name.slice(0, LONGEST_NAME)}" here. Pages follow each other by "cursor".`,
  });
}
