import { conditionOf, type QueryCondition } from '../../request-log/reading/log-filters.js';
import type { AppError } from '../../common/errors/app-error.js';
import { GRANULARITY_MS, startOf } from '../../request-log/rollups/granularities.js';
import type { TimeRange, UsageQuery } from '../../request-log/analytics/usage-store.js';
import { parameterError } from '../../common/errors/field-errors.js';
import { filterConditions, type LogFilterQuery } from '../dto-fields/log-filter-query.dto.js';
import type { SeriesQuery } from './analytics-query.dto.js';
import { automaticInterval, timeSlots } from './time-slots.js';

type Filters = LogFilterQuery['filters'];

/** Each bound of the range has two names. */
const RANGE_NAMES = {
  min: ['time_of_generation_min', 'created_at_min'],
  max: ['time_of_generation_max', 'created_at_max'],
} as const;

const OF_RANGE: readonly string[] = Object.values(RANGE_NAMES).flat();

/** Reads range and filters. `own` narrows every query. */
export function analyticsQueryOf(
  query: LogFilterQuery,
  own: readonly QueryCondition[],
  now = Date.now(),
): UsageQuery {
  return {
    range: rangeOf(query.filters, now),
    conditions: [...own, ...filterConditions(query, (name) => !OF_RANGE.includes(name))],
  };
}

/** The filters of a query without those of its range. */
export const filtersBesideRange = ({ filters }: LogFilterQuery): Filters =>
  Object.fromEntries(Object.entries(filters).filter(([name]) => !OF_RANGE.includes(name)));

function rangeOf(filters: Filters, now: number): TimeRange {
  const to = Math.ceil((timeOf(filters, 'max') ?? now) / GRANULARITY_MS.minute) * GRANULARITY_MS.minute;
  const from = startOf('minute', timeOf(filters, 'min') ?? to - GRANULARITY_MS.day);
  if (from >= to) throw emptyRange(filters);
  return { from, to };
}

/** Names the parameter that was sent: without an end, the end is now. */
function emptyRange(filters: Filters): AppError {
  const [beginning, end] = [sentName(filters, 'min'), sentName(filters, 'max')];
  const name = beginning ?? 'time_of_generation_min';
  if (end === undefined)
    return parameterError(name, 'must be in the past if "time_of_generation_max" is absent');
  return parameterError(name, `must be before "${end}"`);
}

const sentName = (filters: Filters, end: 'min' | 'max'): string | undefined =>
  RANGE_NAMES[end].find((name) => filters[name] !== undefined);

function timeOf(filters: Filters, end: 'min' | 'max'): number | undefined {
  const [name, other] = RANGE_NAMES[end];
  if (filters[name] !== undefined && filters[other] !== undefined)
    throw parameterError(name, 'may be sent only once');
  const text = filters[name] ?? filters[other];
  return text === undefined ? undefined : Date.parse(String(conditionOf(name, text).parameter));
}

/** The starts of the points of a series. */
export const slotsOf = (query: SeriesQuery, range: TimeRange): readonly number[] =>
  timeSlots(range, query.interval ?? automaticInterval(range), query.time_zone);
