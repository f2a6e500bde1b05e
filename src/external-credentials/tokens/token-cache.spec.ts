import { describe, expect, it } from 'vitest';
import { AppError } from '../../common/errors/app-error.js';
import { credentialId, type Token, TokenCache } from './token-cache.js';

const HOUR = 3_600_000;
const MINUTE = 60_000;

/** A cache with a clock and a service that the test controls. */
function aCache() {
  const clock = { now: 1_000_000 };
  const cache = new TokenCache<string>(() => clock.now);
  const calls: { give(token: Token<string>): void; refuse(error: AppError): void }[] = [];
  const fetch = () =>
    new Promise<Token<string>>((resolve, reject) => calls.push({ give: resolve, refuse: reject }));
  const settle = () => new Promise((done) => setImmediate(done));
  const buy = async (value: string, lifeMs = HOUR) => {
    const waiting = Promise.resolve(cache.get('id', fetch));
    await settle();
    calls.at(-1)?.give({ value, expiresAt: clock.now + lifeMs });
    return waiting;
  };
  return { clock, cache, calls, fetch, settle, buy };
}

const refusal = () => new AppError('upstream_error', { detail: 'away' });

describe('TokenCache', () => {
  it('fetches one token for simultaneous requests, and then returns it synchronously', async () => {
    const { cache, calls, fetch, settle, clock } = aCache();
    const waiting = [cache.get('id', fetch), cache.get('id', fetch), cache.get('id', fetch)];
    await settle();
    calls[0]?.give({ value: 'a', expiresAt: clock.now + HOUR });

    expect([await waiting[0], await waiting[1], await waiting[2]]).toEqual(['a', 'a', 'a']);
    expect(cache.get('id', fetch)).toBe('a');
    expect(calls).toHaveLength(1);
  });

  it('replaces a token five minutes before its end, once, while requests go on with the old one', async () => {
    const { cache, calls, fetch, settle, clock, buy } = aCache();
    await buy('a');
    clock.now += HOUR - 5 * MINUTE - 1;
    expect(cache.get('id', fetch)).toBe('a');
    await settle();
    expect(calls).toHaveLength(1);

    clock.now += 1;
    expect([cache.get('id', fetch), cache.get('id', fetch)]).toEqual(['a', 'a']);
    await settle();
    expect(calls).toHaveLength(2);
    calls[1]?.give({ value: 'b', expiresAt: clock.now + HOUR });
    await settle();
    expect(cache.get('id', fetch)).toBe('b');
  });

  it('replaces a token with a short life at half of it', async () => {
    const { cache, calls, fetch, settle, clock, buy } = aCache();
    await buy('a', 4 * MINUTE);
    clock.now += 2 * MINUTE - 1;
    void cache.get('id', fetch);
    await settle();
    expect(calls).toHaveLength(1);
    clock.now += 1;
    void cache.get('id', fetch);
    await settle();
    expect(calls).toHaveLength(2);
  });

  it('keeps using the old token when it cannot be replaced, and does not retry for some seconds', async () => {
    const { cache, calls, fetch, settle, clock, buy } = aCache();
    await buy('a');
    clock.now += HOUR - MINUTE;
    expect(cache.get('id', fetch)).toBe('a');
    await settle();
    calls[1]?.refuse(refusal());
    await settle();

    expect(cache.get('id', fetch)).toBe('a');
    expect(calls).toHaveLength(2);
    clock.now += 5_000;
    expect(cache.get('id', fetch)).toBe('a');
    await settle();
    expect(calls).toHaveLength(3);
  });

  it('never returns an expired token', async () => {
    const { cache, calls, fetch, settle, clock, buy } = aCache();
    await buy('a');
    clock.now += HOUR;
    const waiting = cache.get('id', fetch);
    expect(waiting).toBeInstanceOf(Promise);
    await settle();
    calls[1]?.give({ value: 'b', expiresAt: clock.now + HOUR });
    expect(await waiting).toBe('b');
  });

  it('remembers a failure for some seconds and no longer', async () => {
    const { cache, calls, fetch, settle, clock } = aCache();
    const waiting = Promise.resolve(cache.get('id', fetch));
    await settle();
    calls[0]?.refuse(refusal());
    await expect(waiting).rejects.toThrow('away');
    expect(() => cache.get('id', fetch)).toThrow('away');
    expect(calls).toHaveLength(1);

    clock.now += 5_000;
    void cache.get('id', fetch);
    await settle();
    expect(calls).toHaveLength(2);
  });

  it('wraps anything else that is thrown in an error of its own, even thrown at once', async () => {
    const { cache } = aCache();
    const thrower = () => {
      throw new Error('secret');
    };
    await expect(cache.get('id', thrower)).rejects.toThrow(AppError);
    expect(() => cache.get('id', thrower)).toThrow(/^(?!.*secret)/);
  });

  it('keeps the tokens of different credentials apart', async () => {
    const { cache, fetch, buy, settle, calls, clock } = aCache();
    await buy('a');
    const other = cache.get('other', fetch);
    await settle();
    calls[1]?.give({ value: 'b', expiresAt: clock.now + HOUR });
    expect([await other, cache.get('id', fetch)]).toEqual(['b', 'a']);
  });

  it('evicts what was unused for longest', async () => {
    const { cache, fetch, buy, clock } = aCache();
    await buy('a');
    const soon = () => Promise.resolve({ value: 'x', expiresAt: clock.now + HOUR });
    for (let count = 0; count < 2_000; count++) await cache.get(`other ${count}`, soon);
    expect(cache.get('id', fetch)).toBeInstanceOf(Promise);
  });
});

describe('credentialId', () => {
  it('distinguishes parts that read the same together', () => {
    expect(credentialId('ab', 'c')).not.toBe(credentialId('a', 'bc'));
  });

  it('does not contain its parts', () => {
    expect(credentialId('canary')).not.toContain('canary');
  });
});
