import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { aCaller } from '../../../test/support/gateway.js';
import { aBudget, aLimit, slots } from '../../../test/support/limits.js';
import { MemoryLimitStore } from '../../../test/support/memory-limit-store.js';
import type { Limit, Policy } from '../../common/limits/limit.js';
import { type LimitAsk, LimitFault, type LimitReturn } from '../ports.js';
import { findProvider } from '../../providers/catalog/registry.js';
import type { Target } from '../types/target.js';
import { type LimitReservation, UNUSED } from '../types/limit-reservation.js';
import { limitCounts } from './limit-metrics.js';
import { type LimitDemand, Limiter } from './limiter.js';

const target: Target = {
  provider: findProvider('openai'),
  origin: 'https://api.openai.com',
  basePath: '/v1',
  query: '',
  virtualKey: null,
  credentials: { key: null, fields: {} },
  isCustomHost: false,
  forwarded: null,
};

let store: MemoryLimitStore;
let limiter: Limiter;
beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setInterval', 'setTimeout', 'Date', 'performance'],
    now: Date.UTC(2026, 0, 31, 23),
  });
  store = new MemoryLimitStore();
  limiter = aLimiter(store);
});
afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(limiters.splice(0).map((each) => each.onApplicationShutdown()));
});

const limiters: Limiter[] = [];
function aLimiter(of: MemoryLimitStore): Limiter {
  const made = new Limiter(of);
  limiters.push(made);
  return made;
}

const wants = (limits: readonly Limit[], wishes: Partial<LimitDemand> = {}): LimitDemand => ({
  caller: aCaller({ limits: { limits, policies: [] } }),
  target,
  model: 'gpt-4o',
  metadata: null,
  isFirst: true,
  estimate: { tokens: 10, costNanoUsd: 10 },
  unreadable: null,
  ...wishes,
});
const cost = (costNanoUsd: number, tokens = 0) => ({ costNanoUsd, tokens, isCountedLater: false });
/** The result of a reservation, or the code of its error. */
const outcome = async (wanted: LimitDemand): Promise<LimitReservation | string> => {
  try {
    return await limiter.reserve(wanted);
  } catch (error) {
    return (error as { code: string }).code;
  }
};
const reserve = async (wanted: LimitDemand): Promise<LimitReservation> => limiter.reserve(wanted);

describe('Limiter', () => {
  it('admits exactly as many requests at once as the budget pays for', async () => {
    const budget = aBudget(1_000);

    const outcomes = await Promise.all(Array.from({ length: 500 }, () => outcome(wants([budget]))));

    expect(outcomes.filter((each) => typeof each === 'object')).toHaveLength(100);
    expect(outcomes.filter((each) => each === 'budget_exceeded')).toHaveLength(400);
    expect(store.leased.get(budget.id)).toBe(1_000);
    expect(store.calls).toBeLessThan(150);
  });

  it('decides synchronously from the lease', async () => {
    const limit = aLimit({ amount: 1_000 });
    await Promise.all([reserve(wants([limit])), reserve(wants([limit]))]);
    await vi.advanceTimersByTimeAsync(10);
    await reserve(wants([limit]));

    expect(limiter.reserve(wants([limit]))).not.toBeInstanceOf(Promise);
  });

  it('gives the difference back when the attempt cost less, and all of it when it cost nothing', async () => {
    const budget = aBudget(10);

    const first = await reserve(wants([budget]));
    expect(first.attempt.settle(cost(4))).toEqual([
      { counter: budget.id, holder: 'this-process', measure: 'cost', leased: 4 },
    ]);
    const second = await reserve(wants([budget], { estimate: { tokens: 0, costNanoUsd: 6 } }));
    second.attempt.settle(UNUSED);

    await expect(
      reserve(wants([budget], { estimate: { tokens: 0, costNanoUsd: 6 } })),
    ).resolves.toBeDefined();
  });

  it('settles once, however often it is called', async () => {
    const budget = aBudget(10);
    const { attempt } = await reserve(wants([budget]));

    attempt.settle(cost(10));

    expect(attempt.settle(cost(10))).toEqual([]);
    expect(await outcome(wants([budget], { estimate: { tokens: 0, costNanoUsd: 1 } }))).toBe(
      'budget_exceeded',
    );
  });

  it('charges what an attempt cost beyond its estimate', async () => {
    const budget = aBudget(100);
    const { attempt } = await reserve(wants([budget]));

    attempt.settle(cost(95));
    await vi.advanceTimersByTimeAsync(1_000);

    expect(store.leased.get(budget.id)).toBe(95);
    expect(await outcome(wants([budget]))).toBe('budget_exceeded');
  });

  it('keeps the reserve of text that is counted later', async () => {
    const budget = aBudget(10);
    const { attempt } = await reserve(wants([budget]));

    const charges = attempt.settle({ costNanoUsd: null, tokens: null, isCountedLater: true });

    expect(charges).toMatchObject([{ leased: 10 }]);
    expect(await outcome(wants([budget], { estimate: { tokens: 0, costNanoUsd: 1 } }))).toBe(
      'budget_exceeded',
    );
  });

  it('takes nothing of any limit when one of them refuses', async () => {
    const [budget, few] = [aBudget(100), aLimit({ amount: 0 })];

    expect(await outcome(wants([budget, few]))).toBe('rate_limited');
    await vi.advanceTimersByTimeAsync(2_000);

    expect(store.leased.get(budget.id)).toBe(0);
  });

  it('gives a refused request the limit, the remainder and the time of the next try', async () => {
    const limit = aLimit({ amount: 1, windowMs: 60_000 });
    await reserve(wants([limit]));
    await vi.advanceTimersByTimeAsync(20_000);

    await expect(reserve(wants([limit]))).rejects.toMatchObject({
      code: 'rate_limited',
      details: { limit: 1, remaining: 0, retryAfter: 40, reset: 40 },
    });
  });

  it('queries no store again before anything can be free', async () => {
    const limit = aLimit({ amount: 1, windowMs: 60_000 });
    await reserve(wants([limit]));
    await outcome(wants([limit]));
    const { calls } = store;

    for (let at = 0; at < 100; at++) expect(await outcome(wants([limit]))).toBe('rate_limited');

    expect(store.calls).toBe(calls);
  });

  it('frees a slot when the request ends, not when its attempt does', async () => {
    const limit = slots(1);
    const { request, attempt } = await reserve(wants([limit]));

    attempt.settle(UNUSED);
    expect(await outcome(wants([limit]))).toBe('concurrency_limited');
    request?.settle(UNUSED);
    await vi.advanceTimersByTimeAsync(100);

    expect(await outcome(wants([limit]))).toBeTypeOf('object');
  });

  it('counts a request once and its attempts by what they cost', async () => {
    const [requests, budget] = [aLimit({ amount: 1 }), aBudget(20)];
    await reserve(wants([requests, budget]));

    await expect(reserve(wants([requests, budget], { isFirst: false }))).resolves.toBeDefined();
    expect(await outcome(wants([requests, budget], { isFirst: false }))).toBe('budget_exceeded');
  });

  it('holds an attempt to the limits of its virtual key', async () => {
    const limits = [aLimit({ amount: 1, subject: 'the virtual key "a"' })];
    const limited = wants([], { target: { ...target, virtualKey: { id: '1', slug: 'a', limits } } });
    await reserve(limited);

    await expect(reserve({ ...limited, isFirst: false })).rejects.toMatchObject({
      code: 'rate_limited',
      details: { subject: 'the virtual key "a"' },
    });
  });

  it('refuses a model without a price under a budget in dollars, and lets it pass under one in tokens', async () => {
    const estimate = { tokens: 5, costNanoUsd: null };

    expect(await outcome(wants([aBudget(10)], { estimate }))).toBe('price_unknown');
    expect(await outcome(wants([aBudget(10, { type: 'tokens' })], { estimate }))).toBeTypeOf('object');
  });

  it('lets a request whose estimate is above a whole rate limit take all of it, and charges the rest after', async () => {
    const limit = aLimit({ measure: 'tokens', amount: 100 });
    const { attempt } = await reserve(wants([limit], { estimate: { tokens: 5_000, costNanoUsd: 0 } }));
    expect(await outcome(wants([limit]))).toBe('rate_limited');

    attempt.settle(cost(0, 30));
    await vi.advanceTimersByTimeAsync(61_000);

    expect(await outcome(wants([limit], { estimate: { tokens: 100, costNanoUsd: 0 } }))).toBeTypeOf('object');
  });

  it('begins a new period at the first of the month', async () => {
    const budget = aBudget(10, { periodic_reset: 'monthly' });
    await reserve(wants([budget]));
    expect(await outcome(wants([budget]))).toBe('budget_exceeded');

    await vi.advanceTimersByTimeAsync(3_600_000);

    expect(await outcome(wants([budget]))).toBeTypeOf('object');
    expect([...store.leased.keys()]).toEqual([
      `${budget.id}@${Date.UTC(2026, 0) / 1000}`,
      `${budget.id}@${Date.UTC(2026, 1) / 1000}`,
    ]);
  });

  it('returns idle amounts', async () => {
    const budget = aBudget(1_000_000);
    for (let at = 0; at < 5; at++) (await reserve(wants([budget]))).attempt.settle(UNUSED);
    expect(store.leased.get(budget.id)).toBeGreaterThan(0);

    await vi.advanceTimersByTimeAsync(2_000);

    expect(store.leased.get(budget.id)).toBe(0);
  });

  it('takes a changed limit over for the counter that is there', async () => {
    const budget = aBudget(10);
    await reserve(wants([budget]));

    expect(await outcome(wants([{ ...budget, amount: 5 }]))).toBe('budget_exceeded');
    await vi.advanceTimersByTimeAsync(1_000);

    expect(await outcome(wants([{ ...budget, amount: 20 }]))).toBeTypeOf('object');
  });
});

describe('Limiter without its store', () => {
  it('lets rates pass, serves budgets from what is leased, and refuses beyond that', async () => {
    const [rate, budget] = [aLimit({ amount: 1 }), aBudget(1_000_000)];
    const { attempt } = await reserve(wants([budget]));
    attempt.settle(UNUSED);
    store.isUnavailable = true;

    expect(await outcome(wants([budget]))).toBeTypeOf('object');
    expect(await outcome(wants([budget]))).toBe('limits_unavailable');
    for (let at = 0; at < 5; at++) expect(await outcome(wants([rate]))).toBeTypeOf('object');
  });

  it('queries it once a second, and recovers when it does', async () => {
    const rate = aLimit({ amount: 1 });
    store.isUnavailable = true;
    for (let at = 0; at < 20; at++) await outcome(wants([rate]));
    expect(store.calls).toBe(1);
    store.isUnavailable = false;

    await vi.advanceTimersByTimeAsync(1_100);
    await outcome(wants([rate]));

    expect(await outcome(wants([rate]))).toBe('rate_limited');
  });
});

describe('a limit whose store is unavailable', () => {
  it.each([
    ['a rate', (failsClosed: boolean) => aLimit({ amount: 1, failsClosed })],
    ['concurrency', (failsClosed: boolean) => ({ ...slots(1), failsClosed })],
  ])('is open or closed, as it was chosen for it: %s', async (_kind, make) => {
    const [open, closed] = [make(false), make(true)];
    store.isUnavailable = true;

    for (let at = 0; at < 5; at++) expect(await outcome(wants([open]))).toBeTypeOf('object');
    for (let at = 0; at < 5; at++) expect(await outcome(wants([open, closed]))).toBe('limits_unavailable');
    expect(await outcome(wants([{ ...closed, failsClosed: false }]))).toBeTypeOf('object');
  });

  it('is noticed within seconds by a process that has no use for it', async () => {
    limiter.onApplicationBootstrap();
    await vi.advanceTimersByTimeAsync(20_000);
    const { calls } = store;
    const before = limitCounts.storesUnavailable;

    store.isUnavailable = true;
    await vi.advanceTimersByTimeAsync(5_500);
    expect(limitCounts.storesUnavailable).toBe(before + 1);
    store.isUnavailable = false;
    await vi.advanceTimersByTimeAsync(1_500);

    expect(limitCounts.storesUnavailable).toBe(before);
    expect(calls, 'probes in 20 s').toBeLessThanOrEqual(5);
  });

  it('counts every request that passes without it, and none that a lease covers', async () => {
    const [rate, leased] = [aLimit({ amount: 1 }), aLimit({ amount: 1_000 })];
    await Promise.all(Array.from({ length: 3 }, () => reserve(wants([leased]))));
    await reserve(wants([leased]));
    const before = limitCounts.failedOpen;
    store.isUnavailable = true;

    await reserve(wants([leased]));
    expect(limitCounts.failedOpen - before).toBe(0);
    await Promise.all(Array.from({ length: 20 }, () => reserve(wants([rate, slots(1)]))));
    for (let at = 0; at < 30; at++) await reserve(wants([rate]));

    expect(limitCounts.failedOpen - before).toBe(50);
  });

  it('reports the outage and its start to operators, until the store responds again', async () => {
    const before = limitCounts.storesUnavailable;
    expect(await limiter.problem()).toBeNull();
    store.isUnavailable = true;
    const since = new Date().toISOString();

    expect(await limiter.problem()).toBe(
      `The limit store is unavailable. Budgets serve only what is already leased and rates are not limited since ${since}.`,
    );
    expect(limitCounts.storesUnavailable - before).toBe(1);
    store.isUnavailable = false;
    await reserve(wants([aLimit()])).catch(() => undefined);
    await vi.advanceTimersByTimeAsync(1_100);

    expect(await limiter.problem()).toBeNull();
    expect(limitCounts.storesUnavailable).toBe(before);
  });
});

describe('a store that refuses writes', () => {
  it('is unavailable until it takes one, whatever calls without a write succeed meanwhile', async () => {
    const [used, rate, slot] = [aLimit({ amount: 1 }), aLimit({ amount: 3 }), slots(1)];
    await reserve(wants([used]));
    const before = limitCounts.storesUnavailable;
    store.refusesWrites = true;

    expect(await outcome(wants([rate]))).toBeTypeOf('object');
    for (let at = 0; at < 8; at++) {
      await vi.advanceTimersByTimeAsync(700);
      await outcome(wants([at % 2 ? used : slot]));
      expect(limitCounts.storesUnavailable - before, `after ${at} rounds`).toBe(1);
      expect(await limiter.problem()).toContain('The limit store is unavailable.');
    }
    store.refusesWrites = false;
    await vi.advanceTimersByTimeAsync(1_100);

    expect(limitCounts.storesUnavailable).toBe(before);
    expect(await limiter.problem()).toBeNull();
  });

  it('is noticed by a process that has no use for it', async () => {
    limiter.onApplicationBootstrap();
    const before = limitCounts.storesUnavailable;
    store.refusesWrites = true;
    await vi.advanceTimersByTimeAsync(6_000);
    expect(limitCounts.storesUnavailable - before).toBe(1);
    store.refusesWrites = false;
    await vi.advanceTimersByTimeAsync(1_100);
    expect(limitCounts.storesUnavailable).toBe(before);
  });

  it('still refuses what is used up', async () => {
    const used = aLimit({ amount: 1 });
    await reserve(wants([used]));
    store.refusesWrites = true;

    expect(await outcome(wants([used]))).toBe('rate_limited');
  });
});

describe('a store that fails for one counter', () => {
  const broken = aLimit({ amount: 1 });
  const faulty = () =>
    new (class extends MemoryLimitStore {
      override async take(asks: readonly LimitAsk[]) {
        const answers = await super.take(asks);
        return answers.map((answer, at) =>
          asks[at]?.key === broken.id ? new LimitFault(new Error('ERR this counter')) : answer,
        );
      }
      override async giveBack(returns: readonly LimitReturn[]) {
        const answers = await super.giveBack(returns);
        return answers.map((answer, at) =>
          returns[at]?.key === broken.id ? new LimitFault(new Error('ERR this counter')) : answer,
        );
      }
    })();

  it('limits all others as before, and is not called unavailable', async () => {
    limiter = aLimiter(faulty());
    const [rate, slot, budget] = [aLimit({ amount: 3 }), slots(2), aBudget(20)];

    for (let at = 0; at < 5; at++) expect(await outcome(wants([broken]))).toBeTypeOf('object');
    for (const [limit, admitted] of [[rate, 3] as const, [slot, 2] as const, [budget, 2] as const]) {
      const all = await Promise.all(Array.from({ length: 6 }, () => outcome(wants([limit]))));
      expect(all.filter((each) => typeof each === 'object')).toHaveLength(admitted);
    }
    await vi.advanceTimersByTimeAsync(2_000);

    expect(await outcome(wants([rate]))).toBe('rate_limited');
    expect(await limiter.problem()).toBeNull();
  });

  it('refuses requests under that counter where it is closed', async () => {
    limiter = aLimiter(faulty());

    expect(await outcome(wants([{ ...broken, failsClosed: true }]))).toBe('limits_unavailable');
  });
});

describe('what goes back to a window', () => {
  it('is not returned twice when its response got lost: it may have been freed already', async () => {
    const limit = aLimit({ measure: 'tokens', amount: 100_000 });
    const giveBack = vi.spyOn(store, 'giveBack');
    const { attempt } = await reserve(wants([limit], { estimate: { tokens: 5_000, costNanoUsd: 0 } }));
    attempt.settle(cost(0, 10));
    store.isUnavailable = true;
    await vi.advanceTimersByTimeAsync(1_100);
    store.isUnavailable = false;
    await vi.advanceTimersByTimeAsync(3_000);

    const given = giveBack.mock.calls.flatMap(([all]) => all).filter(({ amount }) => amount > 0);
    expect(given.map(({ amount }) => amount)).toEqual([4_990]);
  });

  it('goes to the step in which it was counted, however long its request ran', async () => {
    const limit = aLimit({ measure: 'tokens', amount: 1_000, windowMs: 1_000 });
    const giveBack = vi.spyOn(store, 'giveBack');
    const takenAt = Math.floor(performance.now());
    const { attempt } = await reserve(wants([limit], { estimate: { tokens: 1_000, costNanoUsd: 0 } }));
    await vi.advanceTimersByTimeAsync(5_000);

    attempt.settle(cost(0, 10));
    await vi.advanceTimersByTimeAsync(1_000);

    const steps = giveBack.mock.calls.flatMap(([all]) => all).flatMap((each) => each.steps);
    expect(steps).toEqual([{ step: takenAt, amount: 990 }]);
  });
});

describe('Limiter whose budgets are counted elsewhere', () => {
  it('serves them while the store of the rates is unavailable', async () => {
    const budgets = new MemoryLimitStore();
    const apart = new (class extends MemoryLimitStore {
      override readonly budgets = budgets;
    })();
    apart.isUnavailable = true;
    limiter = aLimiter(apart);
    const [rate, slot, budget] = [aLimit({ amount: 1 }), slots(1), aBudget(1_000)];

    const all = Array.from({ length: 10 }, () => outcome(wants([rate, slot, budget])));

    for (const one of await Promise.all(all)) expect(one).toBeTypeOf('object');
    expect(budgets.leased.get(budget.id)).toBe(100);
  });
});

describe('Limiter whose store responds but whose responses are lost', () => {
  it('reports it with its next call about that counter, until responses arrive again', async () => {
    const limit = aBudget(1_000);
    const [take, giveBack] = [vi.spyOn(store, 'take'), vi.spyOn(store, 'giveBack')];
    await outcome(wants([limit]));
    store.isUnavailable = true;
    await outcome(wants([limit]));
    store.isUnavailable = false;
    await vi.advanceTimersByTimeAsync(1_100);
    await outcome(wants([limit], { estimate: { tokens: 0, costNanoUsd: 300 } }));

    const calls = [...take.mock.calls, ...giveBack.mock.calls]
      .flatMap(([all]): readonly (LimitAsk | LimitReturn)[] => all)
      .sort((one, other) => one.call - other.call);
    const [first, lost, next, ...others] = calls.map(({ unsureSince }) => unsureSince);
    expect([first, lost, next]).toEqual([null, null, calls[0]?.call]);
    expect(others.at(-1)).toBeNull();
  });

  it('gives the same back again, and says that it may have been taken already', async () => {
    const limit = aBudget(1_000);
    const giveBack = vi.spyOn(store, 'giveBack');
    const { attempt } = await reserve(wants([limit]));
    attempt.settle(UNUSED);
    store.isUnavailable = true;
    await vi.advanceTimersByTimeAsync(1_100);
    store.isUnavailable = false;
    await vi.advanceTimersByTimeAsync(1_100);

    const returns = giveBack.mock.calls.flatMap(([all]) => all);
    const tries = returns.filter(({ amount }) => amount > 0);
    expect(tries.length).toBeGreaterThan(1);
    expect(new Set(tries.map(({ amount }) => amount))).toEqual(new Set([10]));
    expect(tries.map(({ unsureSince }) => unsureSince === null)).toEqual([
      true,
      ...tries.slice(1).map(() => false),
    ]);
    expect(new Set(returns.map(({ call }) => call)).size).toBe(returns.length);
  });
});

describe('a rate of 100 a second under 500 a second', () => {
  // Ten thousand steps of a clock that the test moves.
  it('admits 100 in each second, and never more in any', { timeout: 60_000 }, async () => {
    const limit = aLimit({ amount: 100, windowMs: 1_000 });
    const admitted: number[] = [];

    for (let ms = 0; ms < 20_000; ms += 2) {
      const wanted = wants([limit]);
      if (typeof (await outcome(wanted)) === 'object') admitted.push(performance.now());
      await vi.advanceTimersByTimeAsync(2);
    }

    expect(admitted).toHaveLength(2_000);
    admitted.forEach((at, index) =>
      expect((admitted[index + 100] ?? Infinity) - at).toBeGreaterThanOrEqual(1_000),
    );
  });
});

describe('policies', () => {
  const limit = aLimit({ amount: 1, subject: 'the policy "p"' });
  const policy = (wishes: Partial<Policy>): Policy => ({
    limit: { ...limit, id: crypto.randomUUID() },
    conditions: [{ key: 'provider', value: 'openai' }],
    groups: [],
    ...wishes,
  });
  const under = (one: Policy, wishes: Partial<LimitDemand> = {}): LimitDemand =>
    wants([], { caller: aCaller({ limits: { limits: [], policies: [one] } }), ...wishes });

  it('count each group apart, and requests without the value together', async () => {
    const one = policy({ groups: ['metadata._user'] });
    const of = (user: string | null) => under(one, { metadata: user === null ? null : { _user: user } });

    expect(await outcome(of('ann'))).toBeTypeOf('object');
    expect(await outcome(of('bob'))).toBeTypeOf('object');
    expect(await outcome(of('ann'))).toBe('rate_limited');
    expect(await outcome(of(null))).toBeTypeOf('object');
    expect(await outcome(of(null))).toBe('rate_limited');
  });

  it.each([
    ['that concern it', { conditions: [{ key: 'model', value: 'gpt-4o' }] }],
    ['that group by it', { groups: ['model'] }],
  ] as const)('%s know a model whatever its spelling', async (_, wishes) => {
    const one = policy(wishes);
    expect(await outcome(under(one, { model: 'gpt-4o' }))).toBeTypeOf('object');
    for (const model of ['GPT-4o', 'gpt-4o ', ' gpt-4o', 'openai/gpt-4o'])
      expect(await outcome(under(one, { model }))).toBe('rate_limited');
  });

  it.each([
    [{ key: 'provider', value: 'anthropic' }, false],
    [{ key: 'model', value: ['gpt-4o', 'o3'] }, true],
    [{ key: 'model', value: 'GPT-4o' }, true],
    [{ key: 'model', value: 'gpt-4' }, false],
    [{ key: 'api_key', value: '*' }, true],
    [{ key: 'metadata.team', value: '*' }, false],
    [{ key: 'virtual_key', value: 'a' }, false],
  ] as const)('concern requests that meet %j: %s', async (condition, isLimited) => {
    const one = policy({ conditions: [condition], groups: [] });
    await outcome(under(one));

    expect(await outcome(under(one))).toEqual(isLimited ? 'rate_limited' : expect.any(Object));
  });
});
