/**
 * Beginnings of the points of a series, found by walking through time and reading a clock of the zone: a point begins wherever that clock
 * shows another day, week or month than a quarter of an hour before. No zone has changed by less since 1972.
 */
const QUARTER = 15 * 60_000;
const FIXED = { minute: 60_000, hour: 3_600_000 } as const;
const DAY = 86_400_000;
/** Longer than any month. */
const LONGEST = 32 * DAY;

export type IntervalName = 'minute' | 'hour' | 'day' | 'week' | 'month';

export interface Span {
  readonly from: number;
  readonly to: number;
}

export function slotsByHand({ from, to }: Span, interval: IntervalName, timeZone: string): number[] {
  if (interval === 'minute') return stepsFrom(from, to, FIXED.minute);
  const labelOf = clockOf(interval, timeZone);
  let first = Math.floor(from / QUARTER) * QUARTER;
  const earliest = first - LONGEST;
  while (first > earliest && labelOf(first - QUARTER) === labelOf(first)) first -= QUARTER;
  const slots = [first];
  for (let at = first + QUARTER; at < to; at += QUARTER)
    if (labelOf(at) !== labelOf(at - QUARTER)) slots.push(at);
  return slots;
}

function stepsFrom(from: number, to: number, step: number): number[] {
  return Array.from({ length: Math.ceil((to - from) / step) }, (_, index) => from + index * step);
}

/** What the clock of the zone shows, as far as the interval looks at it. Hours count from the offset of the zone at that time. */
function clockOf(interval: Exclude<IntervalName, 'minute'>, timeZone: string): (at: number) => string {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    dateStyle: 'short',
    timeStyle: interval === 'hour' ? 'short' : undefined,
  });
  const seen = new Map<number, string>();
  return (at) => {
    const known = seen.get(at);
    if (known !== undefined) return known;
    const label = labelled(interval, format.format(at));
    seen.set(at, label);
    return label;
  };
}

/** `2026-03-29 02:15` or `2026-03-29`. */
function labelled(interval: Exclude<IntervalName, 'minute'>, shown: string): string {
  if (interval === 'hour') return shown.slice(0, '2026-03-29 02'.length);
  if (interval === 'month') return shown.slice(0, '2026-03'.length);
  return interval === 'day' ? shown : mondayOf(shown);
}

function mondayOf(day: string): string {
  const date = new Date(`${day}T00:00:00Z`);
  while (date.getUTCDay() !== 1) date.setTime(date.getTime() - DAY);
  return date.toISOString();
}
