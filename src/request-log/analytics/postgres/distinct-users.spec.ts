import { describe, expect, it } from 'vitest';
import { DistinctUsers } from './distinct-users.js';

const hash = (high: number, low: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32BE(high, 0);
  bytes.writeUInt32BE(low, 4);
  return bytes;
};
const packed = (...users: number[]): Buffer =>
  Buffer.concat(users.map((user) => hash(user * 7, user * 4_096)));

describe('distinct end users', () => {
  it('counts a user once in all and once in each slot that saw him', () => {
    const users = new DistinctUsers(3);
    users.add(1, packed(1, 2));
    users.add(1, packed(2, 3));
    users.add(3, packed(3, 4));

    expect(users.slots).toEqual([3, 0, 2]);
    expect(users.total).toBe(4);
  });

  it('distinguishes users by all of their hash', () => {
    const users = new DistinctUsers(1);
    users.add(1, Buffer.concat([hash(1, 5), hash(2, 5), hash(1, 6), hash(0, 0), hash(1, 5), hash(0, 0)]));

    expect(users.total).toBe(4);
  });

  it('stays exact with many', () => {
    const many = Array.from({ length: 50_000 }, (_, user) => user);
    const users = new DistinctUsers(2);
    users.add(1, packed(...many));
    users.add(2, packed(...many.slice(0, 1_000), 60_000));

    expect(users.slots).toEqual([50_000, 1_001]);
    expect(users.total).toBe(50_001);
  });

  it('is nothing of nothing', () => {
    const users = new DistinctUsers(2);
    users.add(2, Buffer.alloc(0));

    expect(users.slots).toEqual([0, 0]);
    expect(users.total).toBe(0);
  });
});
