import { words } from '../../words/en';
import { type Interval, isPartial } from '../range/range';
import type { HistogramBar, HistogramSeries } from './histogram';

const { series: names } = words.logs;

/** Requests by result. */
export const RESULT_SERIES: readonly HistogramSeries[] = [
  { name: names.succeeded, tone: 'normal' },
  { name: names.clientError, tone: 'warning' },
  { name: names.serverError, tone: 'error' },
];

const MINUTE_MS = 60_000;

/** The results of an interval's requests. */
export interface ResultPoint {
  readonly timestamp: string;
  readonly requests: number;
  readonly client_errors: number;
  readonly server_errors: number;
}

/** Adds points of a minute, hour or day up to bars of `minutes`. Bars are aligned to the clock. */
export function barsOf(
  { from, to }: Interval,
  minutes: number,
  points: readonly ResultPoint[],
): readonly HistogramBar[] {
  const size = minutes * MINUTE_MS;
  const first = Math.floor(from.getTime() / size);
  const last = Math.max(first, Math.ceil(to.getTime() / size) - 1);
  const counts = Array.from({ length: last - first + 1 }, () => [0, 0, 0] as [number, number, number]);
  for (const { timestamp, requests, client_errors, server_errors } of points) {
    const bar = counts[Math.floor(Date.parse(timestamp) / size) - first];
    if (!bar) continue;
    bar[0] += Math.max(0, requests - client_errors - server_errors);
    bar[1] += client_errors;
    bar[2] += server_errors;
  }
  return counts.map((bar, index) => {
    const begin = new Date((first + index) * size);
    return {
      from: begin,
      to: new Date((first + index + 1) * size),
      counts: bar,
      isPartial: isPartial(begin, minutes, { from, to }),
    };
  });
}
