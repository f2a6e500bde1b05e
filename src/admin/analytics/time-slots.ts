import { AppError } from '../../common/errors/app-error.js';
import { GRANULARITY_MS } from '../../request-log/rollups/granularities.js';
import type { TimeRange } from '../../request-log/analytics/usage-store.js';

/** Width of the points of a series. Days and longer are calendar units in the requested time zone. */
export const INTERVALS = ['minute', 'hour', 'day', 'week', 'month'] as const;

export type Interval = (typeof INTERVALS)[number];

const MOST_SLOTS = 2_000;
const MOST_OF_A_CHART = 180;

const SHORTEST_MS: Readonly<Record<Interval, number>> = {
  ...GRANULARITY_MS,
  week: 7 * GRANULARITY_MS.day,
  month: 28 * GRANULARITY_MS.day,
};

/** The narrowest interval that gives at most 180 points. */
export function automaticInterval({ from, to }: TimeRange): Interval {
  return INTERVALS.find((interval) => (to - from) / SHORTEST_MS[interval] <= MOST_OF_A_CHART) ?? 'month';
}

/** The starts of the slots that cover a range, in order. The first may precede the range. */
export function timeSlots(range: TimeRange, interval: Interval, zone: string): readonly number[] {
  if ((range.to - range.from) / SHORTEST_MS[interval] > MOST_SLOTS)
    throw new AppError('invalid_request', {
      detail: `The range has more than ${MOST_SLOTS} points of this "interval". Take a longer interval or a shorter range.`,
    });
  const slots: number[] = [];
  const clock = new ZoneClock(zone);
  for (let at = clock.floor(range.from, interval); at < range.to; at = clock.next(at, interval))
    slots.push(at);
  return slots;
}

export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

/** Local time of a zone represented as UTC, so that Date's UTC methods compute in it. */
class ZoneClock {
  private readonly format: Intl.DateTimeFormat;

  constructor(timeZone: string) {
    this.format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      ...{
        year: 'numeric',
        month: 'numeric',
        day: 'numeric',
        hour: 'numeric',
        minute: 'numeric',
        second: 'numeric',
      },
    });
  }

  floor(at: number, interval: Interval): number {
    const local = this.local(at);
    if (interval === 'minute' || interval === 'hour') return at - (local % GRANULARITY_MS[interval]);
    return this.moment(startOfLocal(local, interval));
  }

  next(at: number, interval: Interval): number {
    if (interval === 'minute' || interval === 'hour') return at + GRANULARITY_MS[interval];
    const start = new Date(this.local(at));
    if (interval === 'month') start.setUTCMonth(start.getUTCMonth() + 1, 1);
    else start.setUTCDate(start.getUTCDate() + (interval === 'week' ? 7 : 1));
    return this.moment(startOfLocal(start.getTime(), interval));
  }

  /** To the second: zones have no finer offsets. */
  private local(at: number): number {
    const part = Object.fromEntries(
      this.format.formatToParts(at).map(({ type, value }) => [type, Number(value)]),
    ) as Readonly<Record<'year' | 'month' | 'day' | 'hour' | 'minute' | 'second', number>>;
    return Date.UTC(part.year, part.month - 1, part.day, part.hour, part.minute, part.second);
  }

  /** The moment of a local time. For a time that the clocks skip, the moment after the gap. */
  private moment(local: number): number {
    const guess = local - (this.local(local) - local);
    const second = local - (this.local(guess) - guess);
    const fitting = [guess, second].filter((at) => this.local(at) === local);
    return fitting.length > 0 ? Math.min(...fitting) : Math.max(guess, second);
  }
}

function startOfLocal(local: number, interval: Interval): number {
  const start = new Date(Math.floor(local / GRANULARITY_MS.day) * GRANULARITY_MS.day);
  if (interval === 'month') start.setUTCDate(1);
  // Weeks begin on Monday: https://en.wikipedia.org/wiki/ISO_week_date
  if (interval === 'week') start.setUTCDate(start.getUTCDate() - ((start.getUTCDay() + 6) % 7));
  return start.getTime();
}
