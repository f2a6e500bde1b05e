import { describe, expect, it } from 'vitest';
import { toLocal } from '../range/local-time';
import { timeTicks } from './time-ticks';

const HOUR_MS = 3_600_000;
const labels = (from: string, hours: number, zone: string): readonly string[] => {
  const start = new Date(from);
  return timeTicks(start, new Date(start.getTime() + hours * HOUR_MS), zone, 6).map(({ label }) => label);
};

describe('the ticks of a time axis', () => {
  it.each([
    ['UTC', ['14:10', '14:20', '14:30', '14:40', '14:50', '15:00']],
    ['Asia/Kolkata', ['19:40', '19:50', '20:00', '20:10', '20:20', '20:30']],
    ['Asia/Kathmandu', ['20:00', '20:10', '20:20', '20:30', '20:40', '20:50']],
  ])('of an hour that began at an odd minute are round in %s', (zone, expected) => {
    expect(labels('2026-11-25T14:07:22Z', 1, zone)).toEqual(expected);
  });

  it.each(['UTC', 'Asia/Kolkata', 'Asia/Kathmandu', 'Australia/Eucla', 'Pacific/Chatham'])(
    'of a day are full hours in %s, with the date at midnight',
    (zone) => {
      const start = new Date('2026-11-25T14:07:22Z');
      const ticks = timeTicks(start, new Date(start.getTime() + 24 * HOUR_MS), zone, 6);
      expect(ticks).toHaveLength(4);
      for (const { at, label } of ticks) {
        const [date, time = ''] = toLocal(at, zone).split('T');
        expect(time).toMatch(/^(00|06|12|18):00:00$/);
        expect(label).toBe(time.startsWith('00') ? `${Number(date?.slice(-2))} Nov` : time.slice(0, 5));
      }
    },
  );

  it('of several days are midnights of the zone, also across a clock change', () => {
    const start = new Date('2026-10-22T10:00:00Z');
    const ticks = timeTicks(start, new Date(start.getTime() + 6 * 24 * HOUR_MS), 'Europe/Berlin', 6);
    expect(ticks.map(({ at }) => toLocal(at, 'Europe/Berlin').slice(5))).toEqual([
      '10-23T00:00:00',
      '10-24T00:00:00',
      '10-25T00:00:00',
      '10-26T00:00:00',
      '10-27T00:00:00',
      '10-28T00:00:00',
    ]);
  });

  it('leave out an hour that the clock leaves out', () => {
    expect(labels('2026-03-29T00:30:00Z', 3, 'Europe/Berlin')).toEqual([
      '01:30',
      '03:00',
      '03:30',
      '04:00',
      '04:30',
      '05:00',
      '05:30',
    ]);
  });

  it('never exceed the number that fits', () => {
    for (const hours of [0.1, 1, 5, 24, 100, 1_000, 9_000])
      expect(labels('2026-01-03T03:03:03Z', hours, 'Asia/Kathmandu').length).toBeLessThanOrEqual(7);
  });
});
