import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FairSlots, type SlotWaiter } from './fair-slots.js';
import { NoSlotError, type Release } from './slots.js';

const PATIENCE_MS = 1_000;
const from = (origin: string, isTrusted = false): SlotWaiter => ({ origin, isTrusted });

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** Occupies the only slot, lets these wait, and returns the order in which they get it. */
async function orderOf(waiters: readonly SlotWaiter[]): Promise<string[]> {
  const slots = new FairSlots(1, 100);
  const first = await slots.take(from('first'), PATIENCE_MS);
  const order: string[] = [];
  const all = waiters.map((waiter) =>
    slots.take(waiter, PATIENCE_MS).then((release: Release) => {
      order.push(waiter.origin);
      release();
    }),
  );
  first();
  await Promise.all(all);
  return order;
}

describe('FairSlots', () => {
  it('gives a slot to each origin in turn, however many waiters one of them has', async () => {
    const flood = Array.from({ length: 5 }, () => from('flood'));
    expect(await orderOf([...flood, from('user'), from('another')])).toEqual([
      ...['flood', 'user', 'another'],
      ...['flood', 'flood', 'flood', 'flood'],
    ]);
  });

  it('lets trusted waiters go first, also those in turn', async () => {
    const trusted = [from('session', true), from('session', true), from('device', true)];
    expect(await orderOf([from('a'), from('b'), ...trusted])).toEqual([
      ...['session', 'device', 'session'],
      ...['a', 'b'],
    ]);
  });

  it('refuses an origin whose line is full at once, and no other one', async () => {
    const slots = new FairSlots(1, 2);
    const release = await slots.take(from('first'), PATIENCE_MS);
    const waiting = [slots.take(from('flood'), PATIENCE_MS), slots.take(from('flood'), PATIENCE_MS)];
    await expect(slots.take(from('flood'), PATIENCE_MS)).rejects.toBeInstanceOf(NoSlotError);
    const user = slots.take(from('user'), PATIENCE_MS);
    release();
    (await waiting[0])?.();
    expect(await user).toBeTypeOf('function');
  });

  it('refuses a waiter after its patience, and hands the slot to the next one', async () => {
    const slots = new FairSlots(1, 10);
    const release = await slots.take(from('first'), PATIENCE_MS);
    const refused = expect(slots.take(from('a'), 50)).rejects.toBeInstanceOf(NoSlotError);
    const next = slots.take(from('a'), PATIENCE_MS);
    await vi.advanceTimersByTimeAsync(60);
    await refused;
    release();
    release();
    expect(await next).toBeTypeOf('function');
    expect(vi.getTimerCount()).toBe(0);
  });
});
