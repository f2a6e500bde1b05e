import { describe, expect, it } from 'vitest';
import { addCounts, addPacked, GrowingSums } from './counts.js';

describe('counts of numbers', () => {
  it('are read from as many objects as follow each other, and added up', () => {
    const counts: number[] = [];
    addCounts(counts, '{"0": 3, "512": 10}{}{"512": 7}{"3071": 1}');

    expect(Object.fromEntries(Object.entries(counts))).toEqual({ 0: 3, 512: 17, 3071: 1 });
  });

  it('are read as PostgreSQL writes them, with spaces and without', () => {
    const counts: number[] = [];
    addCounts(counts, '{"200":1,"404": 2 }');

    expect(Object.fromEntries(Object.entries(counts))).toEqual({ 200: 1, 404: 2 });
  });

  it('are read from bytes', () => {
    const counts = [5];
    addPacked(counts, Buffer.from('0000000000010bff7fffffff', 'hex'), 4);
    addPacked(counts, Buffer.alloc(0), 4);
    addPacked(counts, Buffer.from('000007020fff', 'hex'), 1);

    expect(Object.fromEntries(Object.entries(counts))).toEqual({ 0: 13, 527: 255, 3071: 2_147_483_647 });
  });
});

describe('growing sums', () => {
  it('add whole numbers beyond 2^53, and counts wherever a row has them', () => {
    const sums = new GrowingSums(['requests', 'duration_histogram']);
    sums.add({
      requests: '9007199254740993',
      duration_histogram: '{"7": 1}',
      packed_duration_histogram_4: null,
    });
    sums.add({
      requests: '2',
      duration_histogram: null,
      packed_duration_histogram_4: Buffer.from('000700000002', 'hex'),
      packed_duration_histogram_1: Buffer.from('000809', 'hex'),
    });

    expect(sums.row).toEqual({ requests: 9_007_199_254_740_995n, duration_histogram: { 7: 3, 8: 9 } });
  });
});
