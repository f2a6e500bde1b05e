import { CLOCK_OFFSET_MAX_MS, clockOffsetMs } from '../../database/database-clock.js';
import { failed, type DoctorFinding, ok } from './finding.js';

/** Our own clock before and after a server read its own, milliseconds. */
interface ClockReadings {
  readonly before: number;
  readonly after: number;
}

/** The response was made between the two readings of our own clock, so only the difference beyond them is skew. */
export function judgeSkew(theirMs: number, { before, after }: ClockReadings, server: string): DoctorFinding {
  const skewMs = Math.abs(clockOffsetMs(theirMs, before, after));
  const detail = `${skewMs} ms from the clock of ${server}`;
  if (skewMs <= CLOCK_OFFSET_MAX_MS) return ok('Clock', detail);
  return failed('Clock', detail, 'Synchronise the clocks of both machines (NTP).');
}
