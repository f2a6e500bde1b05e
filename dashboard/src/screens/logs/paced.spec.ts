import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { paced } from './paced';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('paced work', () => {
  it('runs at most once a second, however many calls arrive', async () => {
    const work = vi.fn(() => Promise.resolve());
    const pacer = paced(work);
    for (let n = 0; n < 100; n++) {
      pacer.ask();
      await vi.advanceTimersByTimeAsync(50);
    }

    expect(work).toHaveBeenCalledTimes(5);
  });

  it('never runs twice at a time, and runs once more for calls that arrive meanwhile', async () => {
    const ends: (() => void)[] = [];
    const work = vi.fn(() => new Promise<void>((resolve) => ends.push(resolve)));
    const pacer = paced(work);
    pacer.ask();
    await vi.advanceTimersByTimeAsync(1_000);
    pacer.ask();
    pacer.ask();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(work).toHaveBeenCalledTimes(1);

    ends[0]?.();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(work).toHaveBeenCalledTimes(2);
    ends[1]?.();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(work).toHaveBeenCalledTimes(2);
  });

  it('continues after a failure, and ends when it is stopped', async () => {
    const work = vi.fn(() => Promise.reject(new Error('unavailable')));
    const pacer = paced(work);
    for (let n = 0; n < 2; n++) {
      pacer.ask();
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(work).toHaveBeenCalledTimes(2);

    pacer.ask();
    pacer.stop();
    pacer.ask();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(work).toHaveBeenCalledTimes(2);
  });
});
