import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { NoSlotError, type Release, Semaphore, type SlotWaiter } from './semaphore.js';

const PATIENCE_MS = 1_000;
const from = (origin: string, isTrusted = false): SlotWaiter => ({ origin, isTrusted });

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** Occupies the only slot, lets these wait, and returns the order in which they get it. */
async function orderOf(waiters: readonly SlotWaiter[]): Promise<string[]> {
  const slots = new Semaphore(1, 100);
  const first = await slots.take(PATIENCE_MS, from('first'));
  const order: string[] = [];
  const all = waiters.map((waiter) =>
    slots.take(PATIENCE_MS, waiter).then((release: Release) => {
      order.push(String(waiter.origin));
      release();
    }),
  );
  first();
  await Promise.all(all);
  return order;
}

describe('slots of several origins', () => {
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
    const slots = new Semaphore(1, 2);
    const release = await slots.take(PATIENCE_MS, from('first'));
    const waiting = [slots.take(PATIENCE_MS, from('flood')), slots.take(PATIENCE_MS, from('flood'))];
    await expect(slots.take(PATIENCE_MS, from('flood'))).rejects.toBeInstanceOf(NoSlotError);
    const user = slots.take(PATIENCE_MS, from('user'));
    release();
    (await waiting[0])?.();
    expect(await user).toBeTypeOf('function');
  });

  it('refuses a waiter after its patience, and hands the slot to the next one', async () => {
    const slots = new Semaphore(1, 10);
    const release = await slots.take(PATIENCE_MS, from('first'));
    const refused = expect(slots.take(50, from('a'))).rejects.toBeInstanceOf(NoSlotError);
    const next = slots.take(PATIENCE_MS, from('a'));
    await vi.advanceTimersByTimeAsync(60);
    await refused;
    release();
    release();
    expect(await next).toBeTypeOf('function');
    expect(vi.getTimerCount()).toBe(0);
  });
});
