import { type Grain, GRAIN_MS, startOf } from '../rollups/grains.js';
import type { TimeRange } from './usage-store.js';

/** Which rollup answers for which part of a range: each moment in one of them. */
export type Coverage = Readonly<Record<Grain, readonly TimeRange[]>>;

/** What readers must know of the rollups' state. Times in milliseconds since the epoch. */
export interface RollupState {
  /** Hours whose minutes changed since they were derived, and days that changed likewise. */
  readonly changedHours: ReadonlySet<number>;
  readonly changedDays: ReadonlySet<number>;
  /** Before it there are no minutes. */
  readonly minutesFrom: number;
}

/**
 * Covers a range with the coarsest rollups that fit: no bucket may lie in two slots of the series, and none may have
 * changed since it was derived. Where minutes are gone an hour counts to the slot in which it begins.
 */
export function cover(range: TimeRange, slots: readonly number[], state: RollupState): Coverage {
  const coverage: Record<Grain, TimeRange[]> = { minute: [], hour: [], day: [] };
  const starts = [...slots.filter((slot) => slot > range.from && slot < range.to), range.to];
  let at = range.from;
  for (const end of starts)
    while (at < end) {
      const grain = grainAt(at, end, state);
      const next = grain === 'minute' ? Math.min(end, nextStart('hour', at)) : nextStart(grain, at);
      append(coverage[grain], { from: at, to: next });
      at = next;
    }
  return coverage;
}

function grainAt(at: number, end: number, state: RollupState): Grain {
  const day = startOf('day', at);
  if (at === day && day + GRAIN_MS.day <= end && !isChanged(day, state)) return 'day';
  const hour = startOf('hour', at);
  if (hour < state.minutesFrom) return 'hour';
  return at === hour && hour + GRAIN_MS.hour <= end && !state.changedHours.has(hour) ? 'hour' : 'minute';
}

function isChanged(day: number, { changedDays, changedHours }: RollupState): boolean {
  if (changedDays.has(day)) return true;
  for (let hour = day; hour < day + GRAIN_MS.day; hour += GRAIN_MS.hour)
    if (changedHours.has(hour)) return true;
  return false;
}

const nextStart = (grain: Grain, at: number): number => startOf(grain, at) + GRAIN_MS[grain];

/** Neighbours become one range: fewer conditions for the planner. */
function append(ranges: TimeRange[], range: TimeRange): void {
  const last = ranges.at(-1);
  if (last?.to === range.from) ranges[ranges.length - 1] = { from: last.from, to: range.to };
  else ranges.push(range);
}
