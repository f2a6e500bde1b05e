import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Roster } from './roster.js';

describe('Roster', () => {
  it('holds what a set would hold, whoever comes and goes', () => {
    const step = fc.record({ member: fc.nat(20), leaves: fc.boolean() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const roster = new Roster<{ place: number; name: number }>();
        const members = Array.from({ length: 21 }, (_, name) => ({ place: -1, name }));
        const expected = new Set<number>();
        for (const { member, leaves } of steps) {
          const one = members[member] as (typeof members)[number];
          if (leaves) roster.delete(one);
          else if (!expected.has(member)) roster.add(one);
          if (leaves) expected.delete(member);
          else expected.add(member);
        }
        const names = roster.all().map(({ name }) => name);
        expect(names.sort()).toEqual([...expected].sort());
        expect(roster.size).toBe(expected.size);
      }),
    );
  });
});
