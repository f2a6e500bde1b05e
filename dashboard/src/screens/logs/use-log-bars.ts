import type { LogQuery } from '../../api/logs';
import { useResultPoints } from '../../api/result-bars';
import { barsOf } from '../../parts/charts/result-bars';
import { bucketMinutes, type Interval } from '../../parts/range/range';
import { useZone } from '../../parts/zone';

const intervalName = (minutes: number) => (minutes < 60 ? 'minute' : minutes < 1_440 ? 'hour' : 'day');

/** Requests by result over the range of a list. */
export function useLogBars(query: LogQuery, interval: Interval) {
  const zone = useZone();
  const minutes = bucketMinutes(interval);
  const { points, ...rest } = useResultPoints({ ...query, zone, interval: intervalName(minutes) });
  return { ...rest, minutes, bars: barsOf(interval, minutes, points) };
}
