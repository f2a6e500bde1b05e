import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PostgresLimitStore } from '../../../src/adapters/limits/postgres-limit-store.js';
import { RedisLimitStore } from '../../../src/adapters/limits/redis-limit-store.js';
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

const postgres = (slotLeaseMs?: number): LimitStore =>
  new PostgresLimitStore(
    database.dataSource,
    randomUUID(),
    slotLeaseMs === undefined ? undefined : `${slotLeaseMs} milliseconds`,
  );

const one = async (store: LimitStore, limit: Limit, wishes: Parameters<typeof asks>[1] = {}) => {
  const [grant] = await store.take([asks(limit, wishes)]);
  if (!grant) throw new Error('the store did not answer');
  return grant;
};

const redisUrl = process.env['TEST_REDIS_URL'];
const opened: RedisLimitStore[] = [];
/** With its connection open, because a call that waits for that too may be too late. */
const redis = async (slotLeaseMs?: number): Promise<LimitStore> => {
  const store = new RedisLimitStore(postgres(), new Secret(redisUrl ?? ''), slotLeaseMs);
  opened.push(store);
  const probe = [{ ...asks(slots(1)), amount: 0 }];
  const answers = () =>
    store.giveBack(probe).then(
      () => true,
      () => false,
    );
  await expect.poll(answers, { timeout: 20_000 }).toBe(true);
  return store;
};
afterAll(() => Promise.all(opened.map((store) => store.onApplicationShutdown())));

/** Redis itself is asked where the caller of the tests gave one. */
const STORES: [string, (slotLeaseMs?: number) => LimitStore | Promise<LimitStore>][] = [
  ['PostgreSQL', postgres],
];
if (redisUrl) STORES.push(['Redis', redis]);

describe.each(STORES)('a store of limits in %s', (_name, open) => {
  it('grants from a window until it is full, and says when more is free', async () => {
    const store = await open();
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
    const store = await open();
    const limit = aLimit({ amount: 2, windowMs: 3_000 });
    await one(store, limit, { first: 2 });
    const { retryMs } = await one(store, limit);

    await delay(retryMs + 5);

    expect(await one(store, limit, { first: 2 })).toMatchObject({ granted: 2 });
  });

  it('takes back what was not used of a window', async () => {
    const store = await open();
    const limit = aLimit({ amount: 10 });
    await one(store, limit, { first: 10 });

    await store.giveBack([{ ...asks(limit), amount: 4 }]);

    expect(await one(store, limit, { first: 4 })).toMatchObject({ granted: 4, free: 0 });
  });

  it('counts what was used beyond the limit', async () => {
    const store = await open();
    const limit = aLimit({ amount: 10 });

    expect(await one(store, limit, { first: 0, need: 0, debt: 15 })).toMatchObject({ granted: 0, free: -5 });
    expect(await one(store, limit)).toMatchObject({ granted: 0 });
  });

  it('serves all who wait where there is enough, and otherwise the first alone', async () => {
    const store = await open();
    const limit = aLimit({ amount: 10 });

    expect(await one(store, limit, { first: 2, need: 7 })).toMatchObject({ granted: 7 });
    expect(await one(store, limit, { first: 2, need: 7 })).toMatchObject({ granted: 2 });
    expect(await one(store, limit, { first: 2, need: 7 })).toMatchObject({ granted: 0, free: 1 });
  });

  it('grants more than is needed only where there is plenty', async () => {
    const store = await open();
    const limit = aLimit({ amount: 1_000 });

    expect((await one(store, limit, { first: 1, need: 1, spare: 500 })).granted).toBe(32);
    await one(store, limit, { first: 940 });
    expect((await one(store, limit, { first: 1, need: 1, spare: 500 })).granted).toBe(1);
  });

  it('answers several asks in their order', async () => {
    const store = await open();
    const [small, large] = [aLimit({ amount: 1 }), aLimit({ amount: 5 })];

    const grants = await store.take([asks(large, { first: 3 }), asks(small, { first: 2 }), asks(slots(4))]);

    expect(grants.map(({ granted }) => granted)).toEqual([3, 0, 1]);
  });

  it('counts slots of all holders together', async () => {
    const [mine, other] = await Promise.all([open(), open()]);
    const limit = slots(3);

    expect(await one(mine, limit, { first: 2 })).toMatchObject({ granted: 2 });
    expect(await one(other, limit, { first: 2 })).toMatchObject({ granted: 0, free: 1 });
    await mine.giveBack([{ ...asks(limit, { holds: 1 }), amount: 1 }]);

    expect(await one(other, limit, { first: 2 })).toMatchObject({ granted: 2, free: 0 });
  });

  it.each([
    ['window', () => aLimit({ amount: 100 })],
    ['slots', () => slots(100)],
  ])('grants exactly what there is of a %s to many who ask at once', async (_kind, make) => {
    const stores = await Promise.all(Array.from({ length: 12 }, async () => open()));
    const limit = make();

    const grants = await Promise.all(stores.map((store) => one(store, limit, { first: 10 })));

    expect(grants.filter(({ granted }) => granted === 10)).toHaveLength(10);
  });

  it('undoes what a call did whose answer got lost', async () => {
    const [mine, other] = await Promise.all([open(), open()]);
    const limit = slots(10);
    await one(mine, limit, { first: 4, call: 1 });
    await one(mine, limit, { first: 3, call: 5, holds: 4 });

    expect(await one(mine, limit, { first: 2, call: 6, unsureSince: 1, holds: 4 })).toMatchObject({
      granted: 2,
      free: 4,
    });

    expect(await one(other, limit, { first: 5 })).toMatchObject({ granted: 0, free: 4 });
  });

  it('takes back once what is given back again because its answer got lost', async () => {
    const [mine, other] = await Promise.all([open(), open()]);
    const limit = slots(10);
    await one(mine, limit, { first: 8, call: 1 });

    await mine.giveBack([{ ...asks(limit, { call: 2, holds: 5 }), amount: 3 }]);
    await mine.giveBack([{ ...asks(limit, { call: 3, unsureSince: 1, holds: 5 }), amount: 3 }]);

    expect(await one(other, limit, { first: 6 })).toMatchObject({ granted: 0, free: 5 });
  });

  it('takes the slots away from a process that says nothing any more', async () => {
    const [dead, other] = await Promise.all([open(300), open()]);
    const limit = slots(1);
    await one(dead, limit);
    expect(await one(other, limit)).toMatchObject({ granted: 0 });

    await expect.poll(() => one(other, limit), { timeout: 10_000 }).toMatchObject({ granted: 1 });
  });
});

describe('a window whose clock was set back by hours', () => {
  const HOURS_MS = 3 * 3_600_000;
  const aheadOf = (limit: Limit): number => Math.floor((Date.now() + HOURS_MS) / (limit.windowMs / 100));

  it('begins anew in PostgreSQL, instead of refusing until then', async () => {
    const limit = aLimit({ amount: 5 });
    await database.dataSource.query('INSERT INTO limit_windows (key, marks) VALUES ($1, $2)', [
      limit.id,
      JSON.stringify({ [aheadOf(limit)]: 5 }),
    ]);

    expect(await one(postgres(), limit, { first: 5 })).toMatchObject({ granted: 5, free: 0 });
  });

  it.runIf(redisUrl)('begins anew in Redis, instead of refusing until then', async () => {
    const limit = aLimit({ amount: 5 });
    const client = new Redis(redisUrl ?? '');
    await client.hset(`{gatehouse-limits}:${limit.id}`, String(aheadOf(limit)), '5');
    await client.quit();

    expect(await one(await redis(), limit, { first: 5 })).toMatchObject({ granted: 5, free: 0 });
  });
});

describe.runIf(redisUrl)('slots in a Redis that has forgotten them', () => {
  it('are what the processes say that they hold', async () => {
    const [mine, other] = await Promise.all([redis(), redis()]);
    const limit = slots(3);

    await mine.giveBack([{ ...asks(limit, { holds: 2 }), amount: 0 }]);

    expect(await one(other, limit, { first: 2 })).toMatchObject({ granted: 0, free: 1 });
  });
});

describe('budgets in PostgreSQL', () => {
  it('undo what a call did whose answer got lost, whatever was charged meanwhile', async () => {
    const [mine, other] = [new PostgresLimitStore(database.dataSource, 'lost'), postgres()];
    const limit = aBudget(100);
    await one(mine, limit, { first: 40, call: 1 });
    await one(mine, limit, { first: 30, call: 2 });
    const charge = [{ counter: limit.id, holder: 'lost', leased: 25, amount: 20 }];
    await database.dataSource.query('SELECT charge_limits($1)', [JSON.stringify(charge)]);

    await mine.giveBack([{ ...asks(limit, { call: 3, unsureSince: 1 }), amount: 5 }]);

    expect(await one(other, limit, { first: 100 })).toMatchObject({ granted: 0, free: 100 - 20 - 10 });
  });

  it('do nothing for a call that a later one has overtaken', async () => {
    const [mine, other] = [postgres(), postgres()];
    const limit = aBudget(100);

    await one(mine, limit, { first: 10, call: 8, unsureSince: 0 });

    expect(await one(mine, limit, { first: 30, call: 7 })).toMatchObject({ granted: 0 });
    await mine.giveBack([{ ...asks(limit, { call: 6 }), amount: 10 }]);
    expect(await one(other, limit, { first: 100 })).toMatchObject({ granted: 0, free: 90 });
  });

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
