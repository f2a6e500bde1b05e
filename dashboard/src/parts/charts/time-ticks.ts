import { day, hourMinute } from '../format/times';
import { atWallTime, wallTime } from '../range/local-time';

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1_440;
/** Minutes between two ticks: divisors of an hour, divisors of a day, and whole days. */
const STEPS = [
  ...[1, 2, 5, 10, 15, 30],
  ...[1, 2, 3, 6, 12].map((hours) => hours * 60),
  ...[1, 2, 5, 10, 30, 60, 180].map((days) => days * DAY_MINUTES),
] as const;

/** A time on an axis, with its text. */
export interface TimeTick {
  readonly at: Date;
  readonly label: string;
}

/**
 * Times between `from` and `to`, at most `most` steps, at which the wall clock of `zone` is round: 14:00 and 14:10, never 14:07. They are
 * round in zones with half and quarter hours too. Midnight has the date as its label. An hour skipped by a clock change has no tick.
 */
export function timeTicks(from: Date, to: Date, zone: string, most: number): readonly TimeTick[] {
  const minutes = (to.getTime() - from.getTime()) / MINUTE_MS;
  const step = (STEPS.find((size) => minutes / size <= most) ?? Math.max(...STEPS)) * MINUTE_MS;
  const end = wallTime(to, zone);
  const ticks: TimeTick[] = [];
  for (let wall = Math.ceil(wallTime(from, zone) / step) * step; wall <= end; wall += step) {
    const at = atWallTime(wall, zone);
    if (at < from || at > to || wallTime(at, zone) !== wall) continue;
    const isMidnight = wall % (DAY_MINUTES * MINUTE_MS) === 0;
    ticks.push({ at, label: isMidnight ? day(at, zone) : hourMinute(at, zone) });
  }
  return ticks;
}
