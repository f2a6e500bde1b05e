import { describe, expect, it } from 'vitest';
import { automaticInterval, isTimeZone, timeSlots } from './time-slots.js';

const at = (text: string) => Date.parse(text);
const range = (from: string, to: string) => ({ from: at(from), to: at(to) });
const shown = (slots: readonly number[]) => slots.map((slot) => new Date(slot).toISOString().slice(0, 16));

describe('timeSlots', () => {
  it('begin at midnight of the zone, also on the days when clocks are changed', () => {
    const slots = timeSlots(range('2026-10-24T10:00Z', '2026-10-27T00:00Z'), 'day', 'Europe/Berlin');
    expect(shown(slots)).toEqual([
      '2026-10-23T22:00',
      '2026-10-24T22:00',
      '2026-10-25T23:00',
      '2026-10-26T23:00',
    ]);
  });

  it('begin after the leap where midnight does not exist', () => {
    const slots = timeSlots(range('2024-09-07T12:00Z', '2024-09-09T12:00Z'), 'day', 'America/Santiago');
    expect(shown(slots)).toEqual(['2024-09-07T04:00', '2024-09-08T04:00', '2024-09-09T03:00']);
  });

  it('are full hours of zones with half hours', () => {
    const slots = timeSlots(range('2026-01-01T10:45Z', '2026-01-01T12:00Z'), 'hour', 'Asia/Kolkata');
    expect(shown(slots)).toEqual(['2026-01-01T10:30', '2026-01-01T11:30']);
  });

  it('are weeks from Monday and months from the first', () => {
    expect(shown(timeSlots(range('2026-11-21T10:00Z', '2026-12-01T00:00Z'), 'week', 'UTC'))).toEqual([
      '2026-11-16T00:00',
      '2026-11-23T00:00',
      '2026-11-30T00:00',
    ]);
    expect(shown(timeSlots(range('2026-11-21T10:00Z', '2027-01-02T00:00Z'), 'month', 'UTC'))).toEqual([
      '2026-11-01T00:00',
      '2026-12-01T00:00',
      '2027-01-01T00:00',
    ]);
  });

  it('follow each other without a gap in every zone of a year', () => {
    for (const zone of [
      'UTC',
      'Europe/Berlin',
      'America/New_York',
      'Australia/Lord_Howe',
      'Asia/Kathmandu',
    ]) {
      const slots = timeSlots(range('2026-01-01T00:00Z', '2027-01-01T00:00Z'), 'day', zone);
      expect(slots.length, zone).toBeGreaterThanOrEqual(365);
      for (let index = 1; index < slots.length; index++) {
        const hours = ((slots[index] as number) - (slots[index - 1] as number)) / 3_600_000;
        expect([23, 23.5, 24, 24.5, 25], zone).toContain(hours);
      }
    }
  });

  it('are refused when they are too many', () => {
    expect(() => timeSlots(range('2026-01-01T00:00Z', '2026-03-01T00:00Z'), 'minute', 'UTC')).toThrow(
      'interval',
    );
  });
});

describe('automaticInterval', () => {
  it.each([
    ['2026-01-01T00:00Z', '2026-01-01T02:00Z', 'minute'],
    ['2026-01-01T00:00Z', '2026-01-02T00:00Z', 'hour'],
    ['2026-01-01T00:00Z', '2026-01-31T00:00Z', 'day'],
    ['2026-01-01T00:00Z', '2027-01-01T00:00Z', 'week'],
    ['2020-01-01T00:00Z', '2030-01-01T00:00Z', 'month'],
  ])('from %s to %s is a %s', (from, to, interval) => {
    expect(automaticInterval(range(from, to))).toBe(interval);
  });
});

describe('isTimeZone', () => {
  it('knows names of zones and nothing else', () => {
    expect(['UTC', 'Europe/Berlin'].every(isTimeZone)).toBe(true);
    expect(["UTC'; DROP TABLE x", 'Nowhere/Land', ''].some(isTimeZone)).toBe(false);
  });
});
