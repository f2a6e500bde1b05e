const SECOND_MS = 1_000;

/** The wall clock of `zone` at a moment, as milliseconds without a zone. */
function wallClock(at: number, zone: string): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(at);
  const of = (type: string): number => Number(parts.find((part) => part.type === type)?.value);
  return Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'));
}

/** The value of a `datetime-local` field for a moment in a zone: 2026-11-25T14:03:22. */
export const toLocal = (at: Date, zone: string): string =>
  new Date(wallClock(Math.floor(at.getTime() / SECOND_MS) * SECOND_MS, zone)).toISOString().slice(0, 19);

/** The moment at which the wall clock of `zone` shows `text`, or null. In an hour repeated by a clock change, the later one. */
export function fromLocal(text: string, zone: string): Date | null {
  const wall = Date.parse(`${text}Z`);
  if (Number.isNaN(wall)) return null;
  // The offset at the first guess may be from the other side of a clock change, hence the second.
  const guess = wall - (wallClock(wall, zone) - wall);
  return new Date(wall - (wallClock(guess, zone) - guess));
}

/** The wall clock of `zone` at a moment, in milliseconds without a zone, to the second. */
export const wallTime = (at: Date, zone: string): number => Date.parse(`${toLocal(at, zone)}Z`);

/** The inverse of `wallTime`. */
export const atWallTime = (wall: number, zone: string): Date =>
  fromLocal(new Date(wall).toISOString().slice(0, 19), zone) ?? new Date(wall);
