import { describe, expect, it } from 'vitest';
import { RepeatedRefusals } from './repeated-refusals.js';

const MINUTE_MS = 60_000;

describe('RepeatedRefusals', () => {
  it('has one refusal recorded in ten minutes, and the next record counts the omitted ones', () => {
    const repeated = new RepeatedRefusals();
    expect(repeated.count('a', 0)).toBe(0);
    for (let round = 1; round <= 5_000; round++) expect(repeated.count('a', round)).toBeNull();
    expect(repeated.count('a', 10 * MINUTE_MS - 1)).toBeNull();
    expect(repeated.count('a', 10 * MINUTE_MS)).toBe(5_001);
    expect(repeated.count('a', 20 * MINUTE_MS)).toBe(0);
  });

  it('counts each subject apart', () => {
    const repeated = new RepeatedRefusals();
    expect(repeated.count('a', 0)).toBe(0);
    expect(repeated.count('b', 0)).toBe(0);
  });
});
