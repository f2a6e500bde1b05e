const formats = new Map<string, Intl.DateTimeFormat>();

/** Creating a format costs more than using it a thousand times. */
function format(zone: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${zone} ${JSON.stringify(options)}`;
  const known = formats.get(key);
  if (known) return known;
  const made = new Intl.DateTimeFormat('en-GB', { ...options, timeZone: zone });
  formats.set(key, made);
  return made;
}

const CLOCK = { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false } as const;
const DAY = { day: 'numeric', month: 'short' } as const;

/** 14:03:22.118 */
export const clock = (at: Date, zone: string): string =>
  format(zone, { ...CLOCK, fractionalSecondDigits: 3 }).format(at);

/** 14:03:22 */
export const clockOfSecond = (at: Date, zone: string): string => format(zone, CLOCK).format(at);

/** 14:03 */
export const hourMinute = (at: Date, zone: string): string =>
  format(zone, { hour: '2-digit', minute: '2-digit', hour12: false }).format(at);

/** 25 Nov */
export const day = (at: Date, zone: string): string => format(zone, DAY).format(at);

/** 25 Nov 2026 */
export const date = (at: Date, zone: string): string => format(zone, { ...DAY, year: 'numeric' }).format(at);

/** 25 Nov 14:03:22 */
export const moment = (at: Date, zone: string): string => `${day(at, zone)} ${clockOfSecond(at, zone)}`;

/** 25 Nov 2026 14:03:22.118 Europe/Berlin */
export const exactMoment = (at: Date, zone: string): string => `${date(at, zone)} ${clock(at, zone)} ${zone}`;

/** UTC+1, UTC+5:45 or UTC, at that moment. */
export function offset(zone: string, at = new Date()): string {
  const parts = format(zone, { timeZoneName: 'longOffset' }).formatToParts(at);
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT';
  const found = /GMT([+-])(\d\d):(\d\d)/.exec(name);
  if (!found || (found[2] === '00' && found[3] === '00')) return 'UTC';
  const [, sign = '+', hours = '0', minutes = '00'] = found;
  return `UTC${sign === '-' ? '−' : '+'}${Number(hours)}${minutes === '00' ? '' : `:${minutes}`}`;
}

const STEPS = [
  [60_000, 1_000, 's'],
  [3_600_000, 60_000, 'min'],
  [86_400_000, 3_600_000, 'h'],
  [Infinity, 86_400_000, 'days'],
] as const;

/** 2 s ago, in 5 days. */
export function relative(at: Date, now: number): string {
  const ms = at.getTime() - now;
  const away = Math.abs(ms);
  const [, size, unit] = STEPS.find(([below]) => away < below) ?? STEPS[3];
  const count = Math.round(away / size);
  const amount = `${count} ${unit === 'days' && count === 1 ? 'day' : unit}`;
  return ms <= 0 ? `${amount} ago` : `in ${amount}`;
}
