import { words } from '../../words/en';
import { atWallTime, wallTime } from '../range/local-time';
import { type Interval, isPartial } from '../range/range';
import type { HistogramBar, HistogramSeries } from './histogram';

const { series: names } = words.logs;

/** Requests by result. */
export const RESULT_SERIES: readonly HistogramSeries[] = [
  { name: names.succeeded, tone: 'normal' },
  { name: names.refused, tone: 'muted' },
  { name: names.clientError, tone: 'warning' },
  { name: names.serverError, tone: 'error' },
];

const MINUTE_MS = 60_000;

/** The results of an interval's requests. */
export interface ResultPoint {
  readonly timestamp: string;
  readonly requests: number;
  readonly refusals: number;
  readonly client_errors: number;
  readonly server_errors: number;
}

const HOUR_MINUTES = 60;

/** Where bars of `minutes` begin on the wall clock of `zone`: from the bar that holds `from` to the first bound at or after `to`. */
function barBounds({ from, to }: Interval, minutes: number, zone: string): readonly Date[] {
  const size = minutes * MINUTE_MS;
  const wall = Math.floor(wallTime(from, zone) / size) * size;
  const first = atWallTime(wall, zone);
  // Longer bars follow clock changes: a day stays a day of the zone, even with 23 hours.
  const bound = (index: number): Date =>
    minutes <= HOUR_MINUTES
      ? new Date(first.getTime() + index * size)
      : atWallTime(wall + index * size, zone);
  const bounds = [first];
  do bounds.push(bound(bounds.length));
  while ((bounds.at(-1) ?? to) < to);
  return bounds;
}

/** Adds points of a minute, hour or day up to bars of `minutes`. Bars are aligned to the clock of `zone`. */
export function barsOf(
  interval: Interval,
  minutes: number,
  points: readonly ResultPoint[],
  zone: string,
): readonly HistogramBar[] {
  const bounds = barBounds(interval, minutes, zone);
  const bars = bounds.slice(0, -1).map((from, index) => ({
    from,
    to: bounds[index + 1] ?? from,
    counts: [0, 0, 0, 0] as [number, number, number, number],
    isPartial: isPartial(from, minutes, interval),
  }));
  for (const { timestamp, requests, refusals, client_errors, server_errors } of points) {
    const at = new Date(timestamp);
    const counts = bars.find(({ from, to }) => at >= from && at < to)?.counts;
    if (!counts) continue;
    counts[0] += Math.max(0, requests - refusals - client_errors - server_errors);
    counts[1] += refusals;
    counts[2] += client_errors;
    counts[3] += server_errors;
  }
  return bars;
}
