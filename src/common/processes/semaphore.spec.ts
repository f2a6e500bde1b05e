import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { NoSlotError, Semaphore } from './semaphore.js';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

describe('slots', () => {
  it('let so many in at once, and the others in the order in which they came', async () => {
    const slots = new Semaphore(2);
    const entered: number[] = [];
    const releases = [1, 2, 3, 4].map((each) =>
      slots.take(100).then((release) => {
        entered.push(each);
        return release;
      }),
    );
    await vi.advanceTimersByTimeAsync(0);
    expect(entered).toEqual([1, 2]);
    (await releases[1])?.();
    await vi.advanceTimersByTimeAsync(0);
    expect(entered).toEqual([1, 2, 3]);
    (await releases[0])?.();
    await vi.advanceTimersByTimeAsync(0);
    expect(entered).toEqual([1, 2, 3, 4]);
  });

  it('are returned once, however often release is called', async () => {
    const slots = new Semaphore(1);
    const release = await slots.take(100);
    release();
    release();
    await slots.take(100);
    const second = slots.take(100);
    const refused = expect(second).rejects.toBeInstanceOf(NoSlotError);
    await vi.advanceTimersByTimeAsync(100);
    await refused;
  });

  it('skip waiters that left or were refused', async () => {
    const slots = new Semaphore(1);
    const release = await slots.take(100);
    const refused = expect(slots.take(50)).rejects.toBeInstanceOf(NoSlotError);
    const left = expect(slots.take(100, { isGone: () => true })).rejects.toBeInstanceOf(NoSlotError);
    const next = slots.take(100);
    await vi.advanceTimersByTimeAsync(60);
    await refused;
    release();
    expect(await next).toBeTypeOf('function');
    await vi.advanceTimersByTimeAsync(100);
    await left;
    expect(vi.getTimerCount()).toBe(0);
  });
});
