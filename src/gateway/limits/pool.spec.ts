import { describe, expect, it } from 'vitest';
import { aBudget, aLimit, slots } from '../../../test/support/limits.js';
import type { Limit } from '../../common/limits/limit.js';
import { Pool } from './pool.js';
import type { LimitGrant } from './store.js';

const ROUND_MS = 500;

/** A pool with its counter: wake-ups are counted, and the test sends the store's results. */
function aPool(limit: Limit) {
  let wakes = 0;
  const calls = {
    wake: () => {
      wakes += 1;
    },
    release: () => undefined,
  };
  const pool = new Pool({ key: limit.id, limit, group: null }, Infinity, calls);
  return {
    pool,
    wakes: () => wakes,
    /** Calls the store as a process does. It grants everything unless `share` is less than 1. */
    refill: (now: number, { free = 1_000_000, share = 1 } = {}) => {
      const ask = pool.nextAsk(now, 1);
      if (!ask) return null;
      const granted = ask.need + Math.floor(ask.spare * share);
      pool.answer(ask, { granted, free, retryMs: 0, others: 0, step: now, wasCorrupt: false }, now);
      return ask;
    },
    /** `times` requests that each take one unit and use it. */
    use: (times: number, now: number) => {
      for (let at = 0; at < times; at++) pool.settle(pool.take(1, now), 1, null);
    },
  };
}

/** A pool whose process has used 100 in each of its last two rounds, and has 100 left. */
function busy(limit: Limit) {
  const one = aPool(limit);
  void one.pool.fill(300, 0);
  one.refill(0);
  one.use(100, 100);
  one.pool.endRound(ROUND_MS, ROUND_MS);
  one.use(100, 600);
  one.pool.endRound(2 * ROUND_MS, ROUND_MS);
  return one;
}

describe('a pool of a busy process', () => {
  it('requests ahead when half of what a round uses is gone, and no caller waits for it', () => {
    const { pool, wakes, use, refill } = busy(aLimit({ amount: 1_000_000 }));
    const before = wakes();

    use(50, 1_100);
    expect(wakes()).toBe(before);
    use(1, 1_100);

    expect(wakes()).toBe(before + 1);
    expect(refill(1_100)).toMatchObject({ debt: 0, first: 0, need: 0, spare: 51 });
    expect(pool.available).toBe(100);
  });

  it('requests nothing ahead where little is left for all: it may be the last of another process', () => {
    const { pool, wakes, use, refill } = busy(aLimit({ amount: 1_000_000 }));
    use(51, 1_100);
    refill(1_100, { free: 1_000 });
    const before = wakes();

    use(60, 1_200);

    expect(pool.available).toBe(40);
    expect(wakes()).toBe(before);
  });

  it('requests nothing more ahead in a round that was granted less than requested', () => {
    const { wakes, use, refill } = busy(aLimit({ amount: 1_000_000 }));
    use(51, 1_100);
    refill(1_100, { share: 0.1 });
    const before = wakes();

    use(10, 1_200);

    expect(wakes()).toBe(before);
  });

  it('requests nothing ahead once it is idle', () => {
    const { pool, refill } = busy(aLimit({ amount: 1_000_000 }));

    pool.endRound(3 * ROUND_MS, ROUND_MS);

    expect(pool.available).toBe(0);
    expect(refill(3 * ROUND_MS)).toBeNull();
  });

  it('requests no slots ahead: they come back by themselves', () => {
    const { pool, refill } = aPool(slots(1_000_000));
    void pool.fill(10, 0);
    refill(0);
    for (let round = 1; round <= 2; round++) {
      for (let at = 0; at < 100; at++) pool.settle(pool.take(1, round * ROUND_MS - 1), 0, null);
      pool.endRound(round * ROUND_MS, ROUND_MS);
    }

    pool.take(1, 1_100);

    expect(refill(1_100)).toBeNull();
  });

  it('reserves what attempts may cost, and requests ahead what they do cost', () => {
    const { pool, refill } = aPool(aBudget(1_000_000_000));
    void pool.fill(20_000, 0);
    refill(0);
    for (let round = 1; round <= 2; round++) {
      for (let at = 0; at < 10; at++) pool.settle(pool.take(1_000, round * ROUND_MS - 1), 90, null);
      pool.endRound(round * ROUND_MS, ROUND_MS);
    }
    expect(pool.available).toBe(10_000);

    pool.take(9_900, 1_100);

    expect(pool.available).toBe(100);
    expect(refill(1_100)).toMatchObject({ need: 0, spare: 800 });
  });

  it('requests more ahead each time until its first round has shown what it uses', () => {
    const { pool, wakes, use, refill } = aPool(aLimit({ amount: 1_000_000 }));
    void pool.fill(10, 0);
    refill(0);
    use(10, 0);
    void pool.fill(10, 0);
    refill(100);
    const before = wakes();

    use(15, 110);
    expect(wakes()).toBe(before);
    use(1, 110);

    expect(wakes()).toBe(before + 1);
    expect(refill(110)).toMatchObject({ first: 0, need: 0, spare: 40 });
  });
});

describe('a pool of a window', () => {
  const second = aLimit({ amount: 1_000_000, windowMs: 1_000 });

  it('returns what was idle too long, and keeps what was granted since', () => {
    const { pool, use, refill } = aPool(second);
    void pool.fill(30, 0);
    refill(0);
    use(29, 0);
    void pool.fill(10, 0);
    refill(80);
    expect(pool.available).toBe(19);

    pool.has(1, 101);

    expect(pool.available).toBe(18);
    expect(pool.nextRelease(2)).toMatchObject({
      amount: 19,
      steps: [
        { step: 0, amount: 1 },
        { step: 80, amount: 18 },
      ],
    });
  });

  it('requests no more of a short window ahead than may be held here', () => {
    const { pool, use, refill } = aPool(second);
    for (const at of [0, 500, 1_000]) {
      void pool.fill(100, at);
      refill(at);
      if (at < 1_000) use(100, at);
      if (at < 1_000) pool.endRound(at + ROUND_MS, ROUND_MS);
    }

    use(91, 1_010);

    expect(refill(1_010)?.spare).toBe(20 - 9);
  });
});

describe('a pool whose store has too little, while other processes hold more', () => {
  /** The store's result of the next ask: nothing granted, with this much free and this much held by others. */
  function refusing(limit: Limit) {
    const { pool, wakes } = aPool(limit);
    const outcomes: string[] = [];
    let call = 0;
    return {
      pool,
      wakes,
      outcomes,
      want: (amount: number, now: number) => {
        const name = String(amount);
        pool.fill(amount, now).then(
          () => outcomes.push(`${name} woken`),
          (error: unknown) => outcomes.push(`${name} ${(error as { code: string }).code}`),
        );
      },
      answer: async (now: number, grant: Partial<LimitGrant>) => {
        const ask = pool.nextAsk(now, ++call);
        if (!ask) throw new Error('The pool asks for nothing.');
        const nothing = { granted: 0, free: 0, retryMs: 0, others: 0, step: 0, wasCorrupt: false };
        pool.answer(ask, { ...nothing, ...grant }, now);
        await Promise.resolve();
        return ask;
      },
    };
  }

  it('refuses at once what would not fit beside the holdings of others, and keeps requesting what would', async () => {
    const { want, answer, outcomes } = refusing(aBudget(100));
    want(70, 0);
    want(50, 0);

    await answer(0, { free: 20, others: 40 });
    expect(outcomes).toEqual(['70 budget_exceeded']);
    await answer(10, { granted: 50 });

    expect(outcomes).toEqual(['70 budget_exceeded', '50 woken']);
  });

  it('refuses it when nothing has come back in time, and then caches the refusal for a moment', async () => {
    const { pool, want, answer, outcomes } = refusing(aBudget(100));
    want(50, 0);
    await answer(0, { free: 20, others: 40 });
    expect(pool.has(50, 1)).toBe(false);

    await answer(2_100, { free: 20, others: 40 });

    expect(outcomes).toEqual(['50 budget_exceeded']);
    expect(() => pool.has(50, 2_150)).toThrow(/budget/);
    expect(pool.has(20, 2_150)).toBe(false);
    expect(pool.has(50, 2_201)).toBe(false);
  });

  it('requests again once it has returned what it held when it was refused', async () => {
    const { pool, want, answer, outcomes } = refusing(aBudget(100));
    want(60, 0);
    await answer(0, { granted: 60 });
    pool.take(60, 0);
    want(50, 1);
    await answer(2_100, { free: 20 });
    expect(outcomes).toEqual(['60 woken', '50 budget_exceeded']);

    pool.settle(60, 5, null);
    pool.nextRelease(9);

    expect(pool.available).toBe(0);
    expect(pool.has(70, 2_110)).toBe(false);
    expect(() => pool.has(76, 2_110)).toThrow(/budget/);
  });

  it('lets a smaller request that fits overtake one that waits', async () => {
    const { want, answer } = refusing(aBudget(100));
    want(50, 0);
    want(10, 0);
    await answer(0, { free: 20, others: 40 });

    expect(await answer(1, { granted: 10 })).toMatchObject({ first: 10 });
  });

  it('requests no more often while it waits, however many requests join', async () => {
    const { want, answer, wakes } = refusing(slots(1));
    want(1, 0);
    await answer(0, { others: 1 });
    const before = wakes();

    for (let at = 0; at < 100; at++) want(1, 1);

    expect(wakes()).toBe(before);
  });

  it('serves waiting requests from units that its own requests return', async () => {
    const { pool, want, answer, outcomes } = refusing(slots(2));
    want(1, 0);
    await answer(0, { granted: 1 });
    const taken = pool.take(1, 0);
    want(1, 1);
    await answer(1, { others: 1 });

    pool.settle(taken, 0, null);
    await Promise.resolve();

    expect(outcomes).toEqual(['1 woken', '1 woken']);
  });
});
