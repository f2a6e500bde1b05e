import { describe, expect, it } from 'vitest';
import { retryPauseMs } from './retry-pause.js';

describe('the pause between retries', () => {
  it('doubles from the first to the longest, however many failures there were', () => {
    const pause = { firstMs: 100, maxMs: 5_000 };
    const pauses = [1, 2, 3, 6, 7, 8, 2_000].map((failures) => retryPauseMs(failures, pause));
    expect(pauses).toEqual([100, 200, 400, 3_200, 5_000, 5_000, 5_000]);
  });
});
