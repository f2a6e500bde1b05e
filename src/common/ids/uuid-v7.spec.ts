import { describe, expect, it } from 'vitest';
import { isUuid, uuidV7 } from './uuid-v7.js';

describe('uuidV7', () => {
  it('is a version 7 UUID that carries its time', () => {
    const now = 1_795_224_000_123;
    const id = uuidV7(now);

    expect(isUuid(id)).toBe(true);
    expect(id[14]).toBe('7');
    expect('89ab').toContain(id[19]);
    expect(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)).toBe(now);
  });

  it('never repeats, also across refills of the pool', () => {
    const ids = new Set(Array.from({ length: 20_000 }, () => uuidV7(1_795_224_000_123)));

    expect(ids.size).toBe(20_000);
  });

  it('sorts by time', () => {
    expect(uuidV7(1_795_224_000_124) > uuidV7(1_795_224_000_123)).toBe(true);
  });
});
