import { describe, expect, it } from 'vitest';
import { mapMaybePromise } from './maybe-promise.js';

const half = (value: number): number => {
  if (value % 2 === 1) throw new Error('odd');
  return value / 2;
};

describe('mapMaybePromise', () => {
  it('maps a known value without a promise', () => {
    expect(mapMaybePromise(4, half)).toBe(2);
    expect(() => mapMaybePromise(3, half)).toThrow('odd');
  });

  it('maps a promise to a promise', async () => {
    await expect(mapMaybePromise(Promise.resolve(4), half)).resolves.toBe(2);
    await expect(mapMaybePromise(Promise.resolve(3), half)).rejects.toThrow('odd');
  });
});
