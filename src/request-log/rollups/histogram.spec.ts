import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  BUCKETS,
  bucketOf,
  countOf,
  fromStored,
  type Histogram,
  merge,
  quantileOf,
  Quantiles,
  record,
  toStored,
  valueOf,
} from './histogram.js';

const RELATIVE_ERROR = 0.011;

/** Values of every size, not only large ones. */
const value = fc
  .tuple(fc.integer({ min: 0, max: 52 }), fc.double({ min: 0, max: 1, noNaN: true }))
  .map(([exponent, fraction]) => Math.floor(2 ** exponent * (1 + fraction)));

function histogramOf(values: readonly number[]): Histogram {
  const histogram: Histogram = new Map();
  for (const each of values) record(histogram, each);
  return histogram;
}

const sorted = (histogram: Histogram) => [...histogram].sort(([left], [right]) => left - right);

describe('histogram', () => {
  it('reads a value back with an error of at most 1.1 %', () => {
    fc.assert(
      fc.property(value, (v) => {
        expect(Math.abs(valueOf(bucketOf(v)) - v)).toBeLessThanOrEqual(v * RELATIVE_ERROR);
      }),
      { numRuns: 5_000 },
    );
  });

  it('keeps the order of values, next to powers of two as well', () => {
    for (let exponent = 1; exponent <= 52; exponent++) {
      const power = 2 ** exponent;
      const buckets = [power - 1, power, power + 1].map(bucketOf);
      expect(buckets, `around 2^${exponent}`).toEqual([...buckets].sort((left, right) => left - right));
      if (exponent <= 6) expect(new Set(buckets.slice(0, 2)).size).toBe(2);
    }
  });

  it('has no gap and no overlap between buckets', () => {
    for (let bucket = 0; bucket < 64 * 20; bucket++) expect(bucketOf(valueOf(bucket))).toBe(bucket);
  });

  it('is the same whether values are counted together or in parts that are merged', () => {
    fc.assert(
      fc.property(fc.array(fc.array(value, { maxLength: 40 }), { maxLength: 6 }), (parts) => {
        const merged = parts.map(histogramOf).reduce(merge, new Map());
        expect(sorted(merged)).toEqual(sorted(histogramOf(parts.flat())));
      }),
    );
  });

  it('changes neither of the two that it merges', () => {
    const one = histogramOf([1, 2]);
    const other = histogramOf([2, 3]);
    merge(one, other);

    expect([sorted(one), sorted(other)]).toEqual([sorted(histogramOf([1, 2])), sorted(histogramOf([2, 3]))]);
  });

  it('gives each quantile within 1.1 % of the sorted values', () => {
    fc.assert(
      fc.property(
        fc.array(value, { minLength: 1, maxLength: 300 }),
        fc.constantFrom(0, 0.5, 0.9, 0.95, 0.99, 1),
        (values, at) => {
          const exact = [...values].sort((left, right) => left - right)[
            Math.max(1, Math.ceil(at * values.length)) - 1
          ] as number;
          expect(Math.abs((new Quantiles(histogramOf(values)).at(at) ?? NaN) - exact)).toBeLessThanOrEqual(
            exact * RELATIVE_ERROR,
          );
        },
      ),
    );
  });

  it('has no quantile of nothing', () => {
    expect(new Quantiles(new Map()).at(0.5)).toBeNull();
    expect(quantileOf(new Float64Array(BUCKETS), 0.5)).toBeNull();
  });

  it('gives the same quantile of counts by bucket number', () => {
    fc.assert(
      fc.property(fc.array(value), fc.double({ min: 0, max: 1, noNaN: true }), (values, at) => {
        const counts = new Float64Array(BUCKETS);
        for (const bucket of values.map(bucketOf)) counts[bucket] = (counts[bucket] ?? 0) + 1;
        expect(quantileOf(counts, at)).toBe(new Quantiles(histogramOf(values)).at(at));
      }),
    );
  });

  it('survives being stored as JSON', () => {
    fc.assert(
      fc.property(fc.array(value), (values) => {
        const histogram = histogramOf(values);
        const stored = JSON.parse(JSON.stringify(toStored(histogram))) as Record<string, number>;
        expect(sorted(fromStored(stored))).toEqual(sorted(histogram));
        expect(countOf(fromStored(stored))).toBe(values.length);
      }),
    );
  });

  it.each([-1, NaN, -Infinity])('counts %d as 0', (odd) => {
    expect(bucketOf(odd)).toBe(0);
  });

  it('counts what is too large in the last bucket', () => {
    expect(bucketOf(Infinity)).toBe(bucketOf(Number.MAX_SAFE_INTEGER));
  });
});
