import { describe, expect, it } from 'vitest';
import { usersIn, usersSql } from './distinct-users.js';

/** A mask in which these slots of it are set, the first one being 0. */
const mask = (...slots: number[]): number => slots.reduce((sum, slot) => sum + 2 ** slot, 0);

describe('distinct end users', () => {
  it('counts a user once in all and once in each slot that saw it', () => {
    expect(usersIn(`3 ${mask(0, 2)},4 ${mask(2)}`, 3)).toEqual({ total: 7, slots: [3, 0, 7] });
  });

  it('reads every bit of a mask', () => {
    const all = Array.from({ length: 52 }, (_, slot) => slot);

    expect(usersIn(`2 ${mask(...all)}`, 52)).toEqual({ total: 2, slots: all.map(() => 2) });
    for (const slot of all)
      expect(usersIn(`1 ${mask(slot)}`, 52).slots).toEqual(all.map((each) => (each === slot ? 1 : 0)));
  });

  it('goes on in a further mask behind the 52nd slot', () => {
    const { total, slots } = usersIn(`2 ${mask(51)} ${mask(0)},1 0 ${mask(1)}`, 54);

    expect(total).toBe(3);
    expect(slots.slice(50)).toEqual([0, 2, 2, 1]);
    expect(usersSql('1', 54, 'rows')).toContain('mask_1');
    expect(usersSql('1', 52, 'rows')).not.toContain('mask_1');
  });

  it('is nothing of nothing', () => {
    expect(usersIn(null, 2)).toEqual({ total: 0, slots: [0, 0] });
  });
});
