export const RELATIVE_RANGES = ['15m', '1h', '24h', '7d', '30d'] as const;
export type RelativeRange = (typeof RELATIVE_RANGES)[number];

/** A time range as chosen by the user: a relative one stays relative. */
export type Range =
  | { readonly kind: 'relative'; readonly name: RelativeRange }
  | { readonly kind: 'absolute'; readonly from: Date; readonly to: Date };

export interface Interval {
  readonly from: Date;
  readonly to: Date;
}

const MINUTE_MS = 60_000;
const MINUTES: Readonly<Record<RelativeRange, number>> = {
  '15m': 15,
  '1h': 60,
  '24h': 1_440,
  '7d': 10_080,
  '30d': 43_200,
};
const SEPARATOR = '..';

const isRelative = (text: string): text is RelativeRange =>
  (RELATIVE_RANGES as readonly string[]).includes(text);

/** Parses the output of `rangeText`. Other text gives `otherwise`. */
export function parseRange(text: string | undefined, otherwise: RelativeRange): Range {
  if (text !== undefined && isRelative(text)) return { kind: 'relative', name: text };
  const [from, to] = (text ?? '').split(SEPARATOR).map((part) => new Date(part));
  const isWhole = from && to && from.getTime() < to.getTime();
  return isWhole ? { kind: 'absolute', from, to } : { kind: 'relative', name: otherwise };
}

/** As in the URL: `1h`, or two times separated by `..`. */
export const rangeText = (range: Range): string =>
  range.kind === 'relative' ? range.name : `${range.from.toISOString()}${SEPARATOR}${range.to.toISOString()}`;

/** The interval at the time `now`. */
export function intervalOf(range: Range, now: number): Interval {
  if (range.kind === 'absolute') return { from: range.from, to: range.to };
  return { from: new Date(now - MINUTES[range.name] * MINUTE_MS), to: new Date(now) };
}

/** Natural bucket lengths, in minutes. */
const BUCKETS = [1, 5, 10, 15, 30, 60, 180, 360, 720, 1_440] as const;
const MOST_BUCKETS = 72;

/** Length of one bar in a chart of this interval, in minutes. */
export function bucketMinutes({ from, to }: Interval): number {
  const minutes = (to.getTime() - from.getTime()) / MINUTE_MS;
  return BUCKETS.find((size) => minutes / size <= MOST_BUCKETS) ?? 1_440;
}

/** Whether a bucket that begins at `begin` is only partly within the interval, like the current one. */
export const isPartial = (begin: Date, minutes: number, { from, to }: Interval): boolean =>
  begin < from || begin.getTime() + minutes * MINUTE_MS > to.getTime();

/** 1-minute, 6-hour, 1-day. */
export function bucketName(minutes: number): string {
  if (minutes < 60) return `${minutes}-minute`;
  return minutes < 1_440 ? `${minutes / 60}-hour` : `${minutes / 1_440}-day`;
}
