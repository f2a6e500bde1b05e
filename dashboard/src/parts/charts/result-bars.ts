import { words } from '../../words/en';
import type { Interval } from '../range/range';
import type { HistogramBar, HistogramSeries } from './histogram';

const { series: names } = words.logs;

/** Requests by what became of them. */
export const RESULT_SERIES: readonly HistogramSeries[] = [
  { name: names.succeeded, tone: 'normal' },
  { name: names.clientError, tone: 'warning' },
  { name: names.serverError, tone: 'error' },
];

const MINUTE_MS = 60_000;

interface StatusCount {
  readonly status_code?: number;
  readonly count?: number;
}

interface Points {
  readonly requests: readonly { readonly timestamp?: string; readonly total?: number }[];
  readonly errors: readonly { readonly timestamp?: string; readonly stats?: readonly StatusCount[] }[];
}

/** Adds the points of analytics, one a minute, hour or day, up to bars of `minutes`. Buckets begin where the clock says so. */
export function barsOf(
  { from, to }: Interval,
  minutes: number,
  { requests, errors }: Points,
): readonly HistogramBar[] {
  const size = minutes * MINUTE_MS;
  const first = Math.floor(from.getTime() / size);
  const last = Math.max(first, Math.ceil(to.getTime() / size) - 1);
  const counts = Array.from({ length: last - first + 1 }, () => [0, 0, 0] as [number, number, number]);
  const at = (timestamp: string | undefined) =>
    counts[Math.floor(Date.parse(timestamp ?? '') / size) - first];
  for (const { timestamp, total = 0 } of requests) {
    const bar = at(timestamp);
    if (bar) bar[0] += total;
  }
  for (const { timestamp, stats = [] } of errors) {
    const bar = at(timestamp);
    for (const { status_code = 0, count = 0 } of stats) {
      if (!bar) continue;
      bar[status_code >= 500 ? 2 : 1] += count;
      bar[0] -= count;
    }
  }
  return counts.map((bar, index) => ({
    from: new Date((first + index) * size),
    to: new Date((first + index + 1) * size),
    counts: [Math.max(0, bar[0]), bar[1], bar[2]],
  }));
}
