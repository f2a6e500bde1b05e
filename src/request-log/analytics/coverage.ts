import { type Granularity, GRANULARITY_MS, startOf } from '../rollups/granularities.js';
import type { CountedRange, TimeRange } from './usage-store.js';

/** The parts of a range that each rollup covers; every moment belongs to exactly one of them. */
export type Coverage = Readonly<Record<Granularity, readonly TimeRange[]>>;

/** The state of the rollups that readers depend on. Times in milliseconds since the epoch. */
export interface RollupState {
  /** Hours whose minutes changed since they were derived, and days whose hours did. */
  readonly changedHours: ReadonlySet<number>;
  readonly changedDays: ReadonlySet<number>;
  /** There are no minutes before this time. */
  readonly minutesFrom: number;
}

/**
 * The range that rollups can count: all of it, extended to whole hours at either end where the minutes are gone. Exact when neither the
 * range nor a slot cuts such an hour.
 */
export function countedRange(
  { from, to }: TimeRange,
  slots: readonly number[],
  { minutesFrom }: Pick<RollupState, 'minutesFrom'>,
): CountedRange {
  const cutsHour = (at: number): boolean => at < minutesFrom && at !== startOf('hour', at);
  return {
    from: cutsHour(from) ? startOf('hour', from) : from,
    to: cutsHour(to) ? nextStart('hour', to) : to,
    isExact: ![from, to, ...slots.filter((slot) => slot > from && slot < to)].some(cutsHour),
  };
}

/** Every request row has its own time, but rows from before `rowsFrom` may be gone. */
export const rangeOfRows = ({ from, to }: TimeRange, rowsFrom: number): CountedRange => ({
  from,
  to,
  isExact: from >= rowsFrom,
});

/** A combined count is exact only if all of its parts are. */
export const rangeOfAll = (ranges: readonly CountedRange[]): CountedRange => ({
  from: Math.min(...ranges.map(({ from }) => from)),
  to: Math.max(...ranges.map(({ to }) => to)),
  isExact: ranges.every(({ isExact }) => isExact),
});

/** The starts of the slots; the first one is moved to where counting begins. */
export const slotsFrom = ({ from }: TimeRange, slots: readonly number[]): readonly number[] =>
  slots.map((slot, at) => (at === 0 ? Math.min(slot, from) : slot));

/**
 * Covers a range with the coarsest rollups that fit: no bucket may overlap two slots of the series, and none may have changed since it was
 * derived. Where minutes are gone, an hour counts towards the slot in which it begins.
 */
export function cover(range: TimeRange, slots: readonly number[], state: RollupState): Coverage {
  const coverage: Record<Granularity, TimeRange[]> = { minute: [], hour: [], day: [] };
  const starts = [...slots.filter((slot) => slot > range.from && slot < range.to), range.to];
  let at = range.from;
  for (const end of starts)
    while (at < end) {
      const granularity = granularityAt(at, end, state);
      const next =
        granularity === 'minute' ? Math.min(end, nextStart('hour', at)) : nextStart(granularity, at);
      append(coverage[granularity], { from: at, to: next });
      at = next;
    }
  return coverage;
}

function granularityAt(at: number, end: number, state: RollupState): Granularity {
  const day = startOf('day', at);
  if (at === day && day + GRANULARITY_MS.day <= end && !isChanged(day, state)) return 'day';
  const hour = startOf('hour', at);
  if (hour < state.minutesFrom) return 'hour';
  return at === hour && hour + GRANULARITY_MS.hour <= end && !state.changedHours.has(hour)
    ? 'hour'
    : 'minute';
}

function isChanged(day: number, { changedDays, changedHours }: RollupState): boolean {
  if (changedDays.has(day)) return true;
  for (let hour = day; hour < day + GRANULARITY_MS.day; hour += GRANULARITY_MS.hour)
    if (changedHours.has(hour)) return true;
  return false;
}

const nextStart = (granularity: Granularity, at: number): number =>
  startOf(granularity, at) + GRANULARITY_MS[granularity];

/** Adjacent ranges are merged: fewer conditions for the planner. */
function append(ranges: TimeRange[], range: TimeRange): void {
  const last = ranges.at(-1);
  if (last?.to === range.from) ranges[ranges.length - 1] = { from: last.from, to: range.to };
  else ranges.push(range);
}
