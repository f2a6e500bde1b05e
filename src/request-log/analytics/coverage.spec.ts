import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GRANULARITY_MS, GRANULARITIES } from '../rollups/granularities.js';
import { cover, type RollupState } from './coverage.js';

const HOUR = GRANULARITY_MS.hour;
const DAY = GRANULARITY_MS.day;
const START = Date.parse('2026-11-01T00:00:00Z');
const CLEAN: RollupState = { changedHours: new Set(), changedDays: new Set(), minutesFrom: -Infinity };

describe('cover', () => {
  it('takes days in the middle, hours around them and minutes at the ends', () => {
    const range = { from: START - 90 * 60_000, to: START + 2 * DAY + HOUR + 60_000 };
    expect(cover(range, [], CLEAN)).toEqual({
      minute: [
        { from: START - 90 * 60_000, to: START - HOUR },
        { from: START + 2 * DAY + HOUR, to: range.to },
      ],
      hour: [
        { from: START - HOUR, to: START },
        { from: START + 2 * DAY, to: START + 2 * DAY + HOUR },
      ],
      day: [{ from: START, to: START + 2 * DAY }],
    });
  });

  it('takes the minutes of an hour that changed, and hours for the rest of its day', () => {
    const state = { ...CLEAN, changedHours: new Set([START + HOUR]) };
    expect(cover({ from: START, to: START + DAY }, [], state)).toEqual({
      minute: [{ from: START + HOUR, to: START + 2 * HOUR }],
      hour: [
        { from: START, to: START + HOUR },
        { from: START + 2 * HOUR, to: START + DAY },
      ],
      day: [],
    });
  });

  it('covers every moment once, and no bucket is in two slots', () => {
    const minutes = fc.integer({ min: 0, max: 5 * 24 * 60 });
    fc.assert(
      fc.property(
        minutes,
        minutes,
        fc.array(minutes, { maxLength: 6 }),
        fc.array(fc.nat(120)),
        (one, other, cuts, hours) => {
          const range = {
            from: START + Math.min(one, other) * 60_000,
            to: START + Math.max(one, other) * 60_000,
          };
          const slots = cuts.sort((left, right) => left - right).map((minute) => START + minute * 60_000);
          const state = { ...CLEAN, changedHours: new Set(hours.map((hour) => START + hour * HOUR)) };

          const coverage = cover(range, slots, state);

          const parts = GRANULARITIES.flatMap((grain) => coverage[grain].map((part) => ({ grain, ...part })));
          parts.sort((left, right) => left.from - right.from);
          let at = range.from;
          for (const { grain, from, to } of parts) {
            expect(from).toBe(at);
            expect((from % GRANULARITY_MS[grain]) + (to % GRANULARITY_MS[grain])).toBe(0);
            if (grain !== 'minute')
              for (let bucket = from; bucket < to; bucket += GRANULARITY_MS[grain])
                expect(slots.some((slot) => slot > bucket && slot < bucket + GRANULARITY_MS[grain])).toBe(
                  false,
                );
            at = to;
          }
          expect(at).toBe(Math.max(range.from, range.to));
        },
      ),
      { numRuns: 300 },
    );
  });
});
