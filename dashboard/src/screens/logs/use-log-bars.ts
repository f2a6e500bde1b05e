import type { LogQuery } from '../../api/logs';
import { useResultPoints } from '../../api/result-bars';
import { barsOf } from '../../parts/charts/result-bars';
import { bucketMinutes, type Interval } from '../../parts/range/range';
import { useZone } from '../../parts/zone';

const LIVE_MS = 5_000;

const intervalName = (minutes: number) => (minutes < 60 ? 'minute' : minutes < 1_440 ? 'hour' : 'day');

/** Requests by result over the range of a list. While live, a relative range ends at the last read of its points. */
export function useLogBars(query: LogQuery, opened: Interval, isLive: boolean) {
  const zone = useZone();
  const minutes = bucketMinutes(opened);
  const isMoving = 'minutes' in query.time;
  const { points, readAt, ...rest } = useResultPoints(
    { ...query, zone, interval: intervalName(minutes) },
    isLive && isMoving && LIVE_MS,
  );
  const interval = isMoving ? movedTo(opened, readAt) : opened;
  return { ...rest, minutes, bars: barsOf(interval, minutes, points, zone) };
}

/** The interval moved to a later end; its length stays the same. */
function movedTo({ from, to }: Interval, end: number): Interval {
  const by = Math.max(0, end - to.getTime());
  return { from: new Date(from.getTime() + by), to: new Date(to.getTime() + by) };
}
