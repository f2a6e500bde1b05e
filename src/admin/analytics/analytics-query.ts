import {
  type QueryCondition,
  conditionOf,
  conditionOfParameter,
  LOG_FILTERS,
} from '../../request-log/reading/log-filters.js';
import { type ListQuery, parameterOf } from '../../common/http/page.js';
import type { AppError } from '../../common/errors/app-error.js';
import { GRAIN_MS, startOf } from '../../request-log/rollups/grains.js';
import type { TimeRange, UsageQuery } from '../../request-log/analytics/usage-store.js';
import { automaticInterval, type Interval, INTERVALS, isTimeZone, timeSlots } from './time-slots.js';
import { parameterError, unknownParameter } from '../../common/errors/field-errors.js';

/** The parameters besides the filters, also for the OpenAPI document. */
export const RANGE_PARAMETERS = {
  time_of_generation_min: 'Beginning, ISO time; cut to its minute. Default: a day before the end.',
  time_of_generation_max:
    'End, ISO time; the minute it lies in counts, unless it begins there. Default: now.',
  workspace_slug: 'Id or slug. Admin keys: every workspace unless one is named.',
} as const;

export const SERIES_PARAMETERS = {
  interval: `One of ${INTERVALS.join(', ')}. Default: chosen by the range.`,
  time_zone: 'Name of the IANA database, such as Europe/Berlin, in which days begin. Default: UTC.',
} as const;

const OTHERS: ReadonlySet<string> = new Set([
  ...Object.keys(RANGE_PARAMETERS),
  'workspace_id',
  'created_at_min',
  'created_at_max',
]);

/** Reads range and filters. Rejects parameters that are neither, nor one of `more`. `own` narrows every query. */
export function analyticsQueryOf(
  query: ListQuery,
  own: readonly QueryCondition[],
  more: readonly string[],
  now = Date.now(),
): UsageQuery {
  const names = Object.keys(query).filter((name) => !OTHERS.has(name) && !more.includes(name));
  return {
    range: rangeOf(query, now),
    conditions: [...own, ...names.map((name) => conditionIn(query, name))],
  };
}

function conditionIn(query: ListQuery, name: string): QueryCondition {
  const value = parameterOf(query, name) ?? '';
  const condition = conditionOfParameter(name, value);
  if (condition) return condition;
  throw unknownParameter(name, [...Object.keys(LOG_FILTERS), ...OTHERS]);
}

function rangeOf(query: ListQuery, now: number): TimeRange {
  const to = Math.ceil((timeOf(query, 'max') ?? now) / GRAIN_MS.minute) * GRAIN_MS.minute;
  const from = startOf('minute', timeOf(query, 'min') ?? to - GRAIN_MS.day);
  if (from >= to) throw emptyRange(query);
  return { from, to };
}

/** Names the parameter that was sent: without an end, the end is now. */
function emptyRange(query: ListQuery): AppError {
  const [beginning, end] = [sentName(query, 'min'), sentName(query, 'max')];
  const name = beginning ?? 'time_of_generation_min';
  if (end === null) return parameterError(name, 'must be in the past if "time_of_generation_max" is absent');
  return parameterError(name, `must be before "${end}"`);
}

/** Each bound has two names; null when neither was sent. */
function sentName(query: ListQuery, end: 'min' | 'max'): string | null {
  const names = [`time_of_generation_${end}`, `created_at_${end}`];
  return names.find((name) => parameterOf(query, name) !== undefined) ?? null;
}

function timeOf(query: ListQuery, end: 'min' | 'max'): number | undefined {
  const name = `time_of_generation_${end}` as const;
  const text = parameterOf(query, name, `created_at_${end}`);
  return text === undefined ? undefined : Date.parse(String(conditionOf(name, text).parameter));
}

/** The starts of the points of a series. */
export function slotsOf(query: ListQuery, range: TimeRange): readonly number[] {
  const zone = parameterOf(query, 'time_zone') ?? 'UTC';
  if (!isTimeZone(zone))
    throw parameterError('time_zone', 'must be an IANA time zone, such as Europe/Berlin');
  const interval = parameterOf(query, 'interval') ?? automaticInterval(range);
  if (!isInterval(interval)) throw parameterError('interval', `must be one of ${INTERVALS.join(', ')}`);
  return timeSlots(range, interval, zone);
}

const isInterval = (text: string): text is Interval => (INTERVALS as readonly string[]).includes(text);
