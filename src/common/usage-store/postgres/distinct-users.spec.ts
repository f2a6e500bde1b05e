import { describe, expect, it } from 'vitest';
import { usersIn, usersSql } from './distinct-users.js';

const bit = (at: number): bigint => 1n << BigInt(at);

describe('distinct end users', () => {
  it('counts a user once in all and once in each slot that saw it', () => {
    const rows = [
      { mask_0: String(bit(0) | bit(2)), users: '3' },
      { mask_0: String(bit(2)), users: '4' },
    ];

    expect(usersIn(rows, 3)).toEqual({ total: 7, slots: [3, 0, 7] });
  });

  it('goes on in a further mask behind the 62nd slot', () => {
    const rows = [
      { mask_0: String(bit(61)), mask_1: '1', users: '2' },
      { mask_0: '0', mask_1: String(bit(1)), users: '1' },
    ];
    const { total, slots } = usersIn(rows, 64);

    expect(total).toBe(3);
    expect(slots.slice(60)).toEqual([0, 2, 2, 1]);
    expect(usersSql('1', 64, 'rows')).toContain('mask_1');
    expect(usersSql('1', 62, 'rows')).not.toContain('mask_1');
  });

  it('is nothing of nothing', () => {
    expect(usersIn([], 2)).toEqual({ total: 0, slots: [0, 0] });
  });
});
