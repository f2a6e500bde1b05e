import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PostgresLimitStore } from '../../../src/adapters/postgres-limit-store.js';
import { RedisLimitStore } from '../../../src/adapters/redis-limit-store.js';
import { Secret } from '../../../src/common/crypto/secret.js';
import type { Limit } from '../../../src/common/limits/limit.js';
import type { LimitStore } from '../../../src/gateway/ports.js';
import { freshDatabase, type TestDatabase } from '../../support/database.js';
import { aBudget, aLimit, asks, slots } from '../../support/limits.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await freshDatabase();
});
afterAll(() => database.drop());

const postgres = (): LimitStore => new PostgresLimitStore(database.dataSource, randomUUID());

const one = async (store: LimitStore, limit: Limit, wishes: Parameters<typeof asks>[1] = {}) => {
  const [grant] = await store.take([asks(limit, wishes)]);
  if (!grant) throw new Error('the store did not answer');
  return grant;
};

const redisUrl = process.env['TEST_REDIS_URL'];
const opened: RedisLimitStore[] = [];
const redis = (): LimitStore => {
  const store = new RedisLimitStore(postgres(), new Secret(redisUrl ?? ''));
  opened.push(store);
  return store;
};
afterAll(() => Promise.all(opened.map((store) => store.onApplicationShutdown())));

/** Redis itself is asked where the caller of the tests gave one. */
const STORES: [string, () => LimitStore][] = [['PostgreSQL', postgres]];
if (redisUrl) STORES.push(['Redis', redis]);

describe.each(STORES)('a store of limits in %s', (_name, open) => {
  it('grants from a window until it is full, and says when more is free', async () => {
    const store = open();
    const limit = aLimit({ amount: 3 });

    expect(await one(store, limit, { first: 2 })).toMatchObject({ granted: 2, free: 1 });
    expect(await one(store, limit, { first: 2 })).toMatchObject({ granted: 0, free: 1 });
    expect(await one(store, limit)).toMatchObject({ granted: 1, free: 0 });
    const { granted, retryMs } = await one(store, limit);

    expect(granted).toBe(0);
    expect(retryMs).toBeGreaterThan(50_000);
    expect(retryMs).toBeLessThanOrEqual(60_000);
  });

  it('fills a window again as time passes', async () => {
    const store = open();
    const limit = aLimit({ amount: 2, windowMs: 3_000 });
    await one(store, limit, { first: 2 });
    const { retryMs } = await one(store, limit);

    await delay(retryMs + 5);

    expect(await one(store, limit, { first: 2 })).toMatchObject({ granted: 2 });
  });

  it('takes back what was not used of a window', async () => {
    const store = open();
    const limit = aLimit({ amount: 10 });
    await one(store, limit, { first: 10 });

    await store.giveBack([{ ...asks(limit), amount: 4 }]);

    expect(await one(store, limit, { first: 4 })).toMatchObject({ granted: 4, free: 0 });
  });

  it('counts what was used beyond the limit', async () => {
    const store = open();
    const limit = aLimit({ amount: 10 });

    expect(await one(store, limit, { first: 0, need: 0, debt: 15 })).toMatchObject({ granted: 0, free: -5 });
    expect(await one(store, limit)).toMatchObject({ granted: 0 });
  });

  it('serves all who wait where there is enough, and otherwise the first alone', async () => {
    const store = open();
    const limit = aLimit({ amount: 10 });

    expect(await one(store, limit, { first: 2, need: 7 })).toMatchObject({ granted: 7 });
    expect(await one(store, limit, { first: 2, need: 7 })).toMatchObject({ granted: 2 });
    expect(await one(store, limit, { first: 2, need: 7 })).toMatchObject({ granted: 0, free: 1 });
  });

  it('grants more than is needed only where there is plenty', async () => {
    const store = open();
    const limit = aLimit({ amount: 1_000 });

    expect((await one(store, limit, { first: 1, need: 1, spare: 500 })).granted).toBe(32);
    await one(store, limit, { first: 940 });
    expect((await one(store, limit, { first: 1, need: 1, spare: 500 })).granted).toBe(1);
  });

  it('answers several asks in their order', async () => {
    const store = open();
    const [small, large] = [aLimit({ amount: 1 }), aLimit({ amount: 5 })];

    const grants = await store.take([asks(large, { first: 3 }), asks(small, { first: 2 }), asks(slots(4))]);

    expect(grants.map(({ granted }) => granted)).toEqual([3, 0, 1]);
  });

  it('counts slots of all holders together', async () => {
    const [mine, other] = [open(), open()];
    const limit = slots(3);

    expect(await one(mine, limit, { first: 2 })).toMatchObject({ granted: 2 });
    expect(await one(other, limit, { first: 2 })).toMatchObject({ granted: 0, free: 1 });
    await mine.giveBack([{ ...asks(limit), amount: 1 }]);

    expect(await one(other, limit, { first: 2 })).toMatchObject({ granted: 2, free: 0 });
  });

  it.each([
    ['window', () => aLimit({ amount: 100 })],
    ['slots', () => slots(100)],
  ])('grants exactly what there is of a %s to many who ask at once', async (_kind, make) => {
    const stores = Array.from({ length: 4 }, open);
    const limit = make();

    const grants = await Promise.all(
      Array.from({ length: 300 }, (_, at) => one(stores[at % 4] as LimitStore, limit)),
    );

    expect(grants.filter(({ granted }) => granted === 1)).toHaveLength(100);
  });
});

describe('budgets in PostgreSQL', () => {
  it('lease exactly what there is to many who ask at once', async () => {
    const stores = Array.from({ length: 4 }, postgres);
    const limit = aBudget(100);

    const grants = await Promise.all(
      Array.from({ length: 300 }, (_, at) => one(stores[at % 4] as LimitStore, limit)),
    );

    expect(grants.filter(({ granted }) => granted === 1)).toHaveLength(100);
  });

  it('never wait in a circle, whatever the order of the counters', async () => {
    const stores = Array.from({ length: 4 }, postgres);
    const limits = Array.from({ length: 6 }, () => aBudget(1_000_000));

    const rounds = Array.from({ length: 80 }, (_, at) => {
      const mixed = [...limits].sort(() => Math.random() - 0.5);
      const store = stores[at % 4] as LimitStore;
      return at % 3 === 0
        ? store.giveBack(mixed.map((limit) => ({ ...asks(limit), amount: 1 })))
        : store.take(mixed.map((limit) => asks(limit, { first: 10 })));
    });

    await expect(Promise.all(rounds)).resolves.toHaveLength(80);
  });

  it('tell that they are exhausted once, when they do not cover a request any more', async () => {
    const store = postgres();
    const limit = aBudget(10);

    await one(store, limit, { first: 11 });
    await one(store, limit, { first: 12 });

    const events: { kind: string }[] = await database.dataSource.query(
      'SELECT kind FROM limit_events WHERE limit_id = $1',
      [limit.id],
    );
    expect(events).toEqual([{ kind: 'exhausted' }]);
  });

  it('are not exhausted by what is only leased', async () => {
    const [mine, other] = [postgres(), postgres()];
    const limit = aBudget(10);
    await one(mine, limit, { first: 10 });

    await one(other, limit, { first: 5 });

    expect(
      await database.dataSource.query('SELECT 1 FROM limit_events WHERE limit_id = $1', [limit.id]),
    ).toEqual([]);
  });
});
