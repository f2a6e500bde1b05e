import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesOfVector, similarity, type Vector, vectorFrom, vectorOf } from './vector.js';

const component = fc.double({ min: -1, max: 1, noNaN: true });
const values = (dimensions: number) =>
  fc
    .array(component, { minLength: dimensions, maxLength: dimensions })
    .filter((all) => all.some((value) => Math.abs(value) > 0.01));

function given(numbers: readonly number[]): Vector {
  const vector = vectorOf(numbers);
  if (!vector) throw new Error('These are a vector.');
  return vector;
}

function cosine(one: readonly number[], other: readonly number[]): number {
  const sum = (of: (at: number) => number) => one.reduce((total, _, at) => total + of(at), 0);
  const product = sum((at) => (one[at] ?? 0) * (other[at] ?? 0));
  return product / Math.sqrt(sum((at) => (one[at] ?? 0) ** 2) * sum((at) => (other[at] ?? 0) ** 2));
}

describe('similarity', () => {
  it('is the cosine of the numbers that were put into bytes, but for what rounding can add up to', () => {
    fc.assert(
      fc.property(values(64), values(64), (one, other) => {
        const error = Math.abs(similarity(given(one), given(other)) - cosine(one, other));
        // Each of the 8 x 8 dimensions of both is off by at most half a step of 127.
        expect(error).toBeLessThan((2 * 8 * 0.5) / 127 + 0.002);
      }),
    );
  });

  it('is off by less than a thousandth for vectors such as models make', () => {
    let state = 1;
    const random = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647 - 0.5;
    const normal = () => random() + random() + random() + random();
    for (let round = 0; round < 20; round++) {
      const one = Array.from({ length: 1_536 }, normal);
      const other = one.map((value) => value + (round / 20) * normal());
      expect(Math.abs(similarity(given(one), given(other)) - cosine(one, other))).toBeLessThan(0.001);
    }
  });

  it('is 1 for the same direction whatever the lengths, and is symmetric', () => {
    fc.assert(
      fc.property(
        values(16),
        values(16),
        fc.double({ min: 0.001, max: 1000, noNaN: true }),
        (one, other, times) => {
          const longer = given(one.map((value) => value * times));
          expect(similarity(given(one), longer)).toBeGreaterThan(0.999);
          expect(similarity(given(one), given(other))).toBe(similarity(given(other), given(one)));
        },
      ),
    );
  });

  it('is none between vectors of different models', () => {
    expect(similarity(given([1, 0, 0]), given([1, 0]))).toBe(0);
  });
});

describe('a vector', () => {
  it('is the same when it comes back out of its bytes', () => {
    fc.assert(
      fc.property(values(32), (numbers) => {
        const vector = given(numbers);
        expect(vectorFrom(bytesOfVector(vector))).toEqual(vector);
      }),
    );
  });

  it.each([
    [null],
    ['AAAA'],
    [[]],
    [[0, 0, 0]],
    [[1, 'two']],
    [[1, Number.NaN]],
    [[1, Infinity]],
    [Array.from({ length: 8_193 }, () => 1)],
  ])('is not made of %j', (numbers) => {
    expect(vectorOf(numbers)).toBeNull();
  });

  it('is not made of bytes without a direction', () => {
    expect([vectorFrom(Buffer.alloc(0)), vectorFrom(Buffer.alloc(16))]).toEqual([null, null]);
  });
});
