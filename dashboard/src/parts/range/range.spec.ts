import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromLocal, toLocal } from './local-time';
import { bucketMinutes, parseRange, rangeText } from './range';

const ZONES = [
  'UTC',
  'Europe/Berlin',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'America/New_York',
  'Australia/Lord_Howe',
  'Pacific/Apia',
];
const DAY_MS = 86_400_000;
const from2020 = Date.UTC(2020, 0);
const seconds = fc
  .integer({ min: 0, max: (10 * 365 * DAY_MS) / 1_000 })
  .map((second) => new Date(from2020 + second * 1_000));

describe('a range in the address', () => {
  it('comes back as it was written, for any two times', () => {
    fc.assert(
      fc.property(seconds, fc.integer({ min: 1, max: 1e9 }), (from, length) => {
        const range = { kind: 'absolute', from, to: new Date(from.getTime() + length) } as const;
        expect(parseRange(rangeText(range), '1h')).toEqual(range);
      }),
    );
  });

  it.each(['', 'nonsense', '2026-01-01..', '2026-01-02T00:00:00Z..2026-01-01T00:00:00Z'])(
    'that is none, such as "%s", is the usual one',
    (text) => {
      expect(parseRange(text, '24h')).toEqual({ kind: 'relative', name: '24h' });
    },
  );
});

it('a chart has at most 72 bars up to 72 days', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 72 * 1_440 }), (minutes) => {
      const interval = { from: new Date(0), to: new Date(minutes * 60_000) };
      expect(minutes / bucketMinutes(interval)).toBeLessThanOrEqual(72);
    }),
  );
});

describe('the wall clock of a zone', () => {
  it.each(ZONES)('of %s names the moment that it was read from, clock changes aside', (zone) => {
    fc.assert(
      fc.property(seconds, (at) => {
        const back = fromLocal(toLocal(at, zone), zone);
        // A repeated hour may return as the other of the two, which shows the same text.
        expect(back === null ? null : toLocal(back, zone)).toBe(toLocal(at, zone));
      }),
      { numRuns: 200 },
    );
  });
});
