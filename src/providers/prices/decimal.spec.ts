import { describe, expect, it } from 'vitest';
import { nanoDollars } from './decimal.js';

describe('nanoDollars', () => {
  it.each([
    [0, 0],
    [0.15, 150_000_000],
    [0.07, 70_000_000],
    [1.1, 1_100_000_000],
    [600, 600_000_000_000],
    [7e-3, 7_000_000],
    [1e-9, 1],
    [4e-10, 0],
    [5e-10, 1],
    [0.08333333333333334, 83_333_333],
    [1.9999999996, 2_000_000_000],
    [9_007_199, 9_007_199_000_000_000],
  ])('turns %d dollars into %d', (dollars, nano) => {
    expect(nanoDollars(dollars)).toBe(nano);
  });

  it.each([-1, -0.5, Number.NaN, Number.POSITIVE_INFINITY, 1e7, 1e30, '1', null, undefined])(
    'has no amount for %s',
    (dollars) => {
      expect(nanoDollars(dollars)).toBeNull();
    },
  );
});
