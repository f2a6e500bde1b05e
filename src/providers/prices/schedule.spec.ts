import { describe, expect, it } from 'vitest';
import type { Price } from './price.js';
import { scheduledPrice, type PriceSchedule } from './schedule.js';

const price = (input: number): Price => ({
  input,
  output: 0,
  cachedInput: null,
  cacheWrite: null,
  audioInput: null,
  audioOutput: null,
});
const at = (time: string) => Date.parse(time);
const HOUR = 3_600_000;

describe('priceAt', () => {
  const schedule: PriceSchedule = [
    { when: { kind: 'always' }, price: price(1) },
    { when: { kind: 'from', startsAt: at('2026-06-01T00:00:00Z') }, price: price(2) },
    { when: { kind: 'daily', opensAt: 1 * HOUR, closesAt: 4 * HOUR }, price: price(3) },
  ];

  it.each([
    ['2026-05-31T23:59:59.999Z', 1],
    ['2026-06-01T00:00:00Z', 2],
    ['2026-06-01T00:59:59.999Z', 2],
    ['2026-06-01T01:00:00Z', 3],
    ['2026-06-01T03:59:59.999Z', 3],
    ['2026-06-01T04:00:00Z', 2],
  ])('at %s charges the last entry in force', (moment, input) => {
    expect(scheduledPrice(schedule, at(moment))?.input).toBe(input);
  });

  it('keeps a window open past midnight', () => {
    const night: PriceSchedule = [
      { when: { kind: 'always' }, price: price(1) },
      { when: { kind: 'daily', opensAt: 22 * HOUR, closesAt: 6 * HOUR }, price: price(2) },
    ];

    expect(scheduledPrice(night, at('2026-06-01T23:00:00Z'))?.input).toBe(2);
    expect(scheduledPrice(night, at('2026-06-01T05:59:59Z'))?.input).toBe(2);
    expect(scheduledPrice(night, at('2026-06-01T06:00:00Z'))?.input).toBe(1);
  });

  it('has no price when nothing is scheduled', () => {
    expect(scheduledPrice([], 0)).toBeNull();
  });
});
