import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PostgresLimitStore } from '../../../src/adapters/limits/postgres-limit-store.js';
import { RedisRateUse } from '../../../src/adapters/limits/redis-rate-use.js';
import { RedisLimitStore } from '../../../src/adapters/limits/redis-limit-store.js';
import { Secret } from '../../../src/common/settings/secret.js';
import type { Limit } from '../../../src/common/limits/limit.js';
import {
  type AskAnswer,
  LimitFault,
  type LimitGrant,
  type LimitStore,
  RETURNED,
} from '../../../src/gateway/ports.js';
import type { Queryable } from '../../../src/database/queryable.js';
import { Limiter } from '../../../src/gateway/limits/limiter.js';
import { limitCounts } from '../../../src/gateway/limits/limit-metrics.js';
import { attemptUnder, outcomeOf } from '../../support/limited-attempts.js';
import { eventually } from '../../support/waiting.js';
import { OwnRedis } from '../../support/own-redis.js';
import { freshDatabase, type TestDatabase } from '../../support/database.js';
import { aBudget, aLimit, asks, returns, slots } from '../../support/limits.js';

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

function granted(answer: AskAnswer | undefined): LimitGrant {
  if (answer && !(answer instanceof LimitFault)) return answer;
  throw new Error('The store did not grant or refuse.', { cause: answer?.cause });
}

const one = async (store: LimitStore, limit: Limit, wishes: Parameters<typeof asks>[1] = {}) => {
  const [grant] = await store.take([asks(limit, wishes)]);
  return granted(grant);
};

const ownRedis = await OwnRedis.start();
const redisUrl = ownRedis?.url;
afterAll(() => ownRedis?.kill());
const opened: RedisLimitStore[] = [];
/** With its connection open, because a call that waits for that too may be too late. */
const redis = async (slotLeaseMs?: number): Promise<LimitStore> => {
  const store = new RedisLimitStore(postgres(), new Secret(redisUrl ?? ''), { slotLeaseMs });
  opened.push(store);
  const probe = [returns(slots(1), 0)];
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

/** Puts something that is no window where a window is counted. */
const inPostgres = (marks: () => unknown) => (key: string) =>
  database.dataSource.query(
    'INSERT INTO limit_windows (key, marks) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET marks = $2',
    [key, JSON.stringify(marks())],
  );
const currentStep = () => String(Math.floor(Date.now() / (aLimit().windowMs / 100)));
const inRedis = (write: (client: Redis, key: string) => Promise<unknown>) => async (id: string) => {
  const client = new Redis(redisUrl ?? '');
  const key = `{gatehouse-limits}:${id}`;
  await client.del(key);
  await write(client, key);
  await client.quit();
};
const CORRUPTIONS = [
  [
    'of another type',
    {
      postgres: inPostgres(() => 'a text'),
      redis: inRedis((client, key) => client.set(key, 'a text')),
    },
  ],
  [
    'counted in no numbers',
    {
      postgres: inPostgres(() => ({ [currentStep()]: 'many' })),
      redis: inRedis((client, key) => client.hset(key, currentStep(), 'many')),
    },
  ],
  [
    'counted in steps that are no numbers',
    {
      postgres: inPostgres(() => ({ today: '1' })),
      redis: inRedis((client, key) => client.hset(key, 'today', '1')),
    },
  ],
] as const;

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
    const { step } = await one(store, limit, { first: 10 });

    await store.giveBack([returns(limit, 4, { step })]);

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

  it('grants several requests in their order', async () => {
    const store = await open();
    const [small, large] = [aLimit({ amount: 1 }), aLimit({ amount: 5 })];

    const grants = await store.take([asks(large, { first: 3 }), asks(small, { first: 2 }), asks(slots(4))]);

    expect(grants.map((each) => granted(each).granted)).toEqual([3, 0, 1]);
  });

  it('counts slots of all holders together', async () => {
    const [mine, other] = await Promise.all([open(), open()]);
    const limit = slots(3);

    expect(await one(mine, limit, { first: 2 })).toMatchObject({ granted: 2 });
    expect(await one(other, limit, { first: 2 })).toMatchObject({ granted: 0, free: 1 });
    await mine.giveBack([returns(limit, 1, { holds: 1 })]);

    expect(await one(other, limit, { first: 2 })).toMatchObject({ granted: 2, free: 0 });
  });

  it.each([
    ['window', () => aLimit({ amount: 100 })],
    ['slots', () => slots(100)],
  ])('grants exactly what there is of a %s to simultaneous requests', async (_kind, make) => {
    const stores = await Promise.all(Array.from({ length: 12 }, async () => open()));
    const limit = make();

    const grants = await Promise.all(stores.map((store) => one(store, limit, { first: 10 })));

    expect(grants.filter(({ granted }) => granted === 10)).toHaveLength(10);
  });

  it('undoes what a call did whose response got lost', async () => {
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

  it('takes back once what is returned again because its response got lost', async () => {
    const [mine, other] = await Promise.all([open(), open()]);
    const limit = slots(10);
    await one(mine, limit, { first: 8, call: 1 });

    await mine.giveBack([returns(limit, 3, { call: 2, holds: 5 })]);
    await mine.giveBack([returns(limit, 3, { call: 3, unsureSince: 1, holds: 5 })]);

    expect(await one(other, limit, { first: 6 })).toMatchObject({ granted: 0, free: 5 });
  });

  it('gives back to a window again and again, also when the steps that it counted in are empty', async () => {
    const store = await open();
    const limit = aLimit({ amount: 10, windowMs: 1_000 });
    for (let round = 0; round < 4; round++) {
      const { granted, step } = await one(store, limit, { first: 2 });
      expect(granted).toBe(2);
      expect(await store.giveBack([returns(limit, 2, { step })])).toEqual([RETURNED]);
      await delay(15);
    }

    expect(await one(store, limit, { first: 10 })).toMatchObject({ granted: 10, free: 0 });
  });

  it('frees nothing for what is given back to a step that has left the window, or that counted less', async () => {
    const store = await open();
    const limit = aLimit({ amount: 10, windowMs: 1_000 });
    const { step } = await one(store, limit, { first: 10 });
    await delay(1_050);
    await one(store, limit, { first: 7 });

    await store.giveBack([returns(limit, 10, { step })]);
    await store.giveBack([returns(limit, 3, { step: step + 1 })]);

    expect(await one(store, limit, { first: 4 })).toMatchObject({ granted: 0, free: 3 });
  });

  it('says what other holders of slots may give back', async () => {
    const [mine, other] = await Promise.all([open(), open()]);
    const limit = slots(5);
    await one(other, limit, { first: 3 });

    expect(await one(mine, limit, { first: 3 })).toMatchObject({ granted: 0, free: 2, others: 3 });
  });

  it.each(CORRUPTIONS)(
    'restarts a window that is %s, and serves the other counters of the call',
    async (_what, corrupt) => {
      const store = await open();
      const [sound, broken] = [aLimit({ amount: 5 }), aLimit({ amount: 5 })];
      await one(store, sound, { first: 2 });
      const isRedis = store instanceof RedisLimitStore;
      await corrupt[isRedis ? 'redis' : 'postgres'](broken.id);

      expect(await store.giveBack([returns(sound, 1, { step: 0 }), returns(broken, 1, { step: 0 })])).toEqual(
        [RETURNED, expect.any(isRedis ? LimitFault : String)],
      );
      await corrupt[isRedis ? 'redis' : 'postgres'](broken.id);
      const answers = await store.take([
        asks(broken),
        asks(sound, { first: 3 }),
        asks(broken, { key: `${broken.id}/b` }),
      ]);

      expect(answers).toMatchObject([
        { granted: 1, free: 4, wasCorrupt: true },
        { granted: 3, free: 0, wasCorrupt: false },
        { granted: 1, free: 4, wasCorrupt: false },
      ]);
      expect(await one(store, broken)).toMatchObject({ granted: 1, free: 3, wasCorrupt: false });
    },
  );

  it('frees the slots of a process that reports no more', async () => {
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

  it('starts over in PostgreSQL, instead of refusing until then', async () => {
    const limit = aLimit({ amount: 5 });
    await database.dataSource.query('INSERT INTO limit_windows (key, marks) VALUES ($1, $2)', [
      limit.id,
      JSON.stringify({ [aheadOf(limit)]: 5 }),
    ]);

    expect(await one(postgres(), limit, { first: 5 })).toMatchObject({ granted: 5, free: 0 });
  });

  it.runIf(redisUrl)('starts over in Redis, instead of refusing until then', async () => {
    const limit = aLimit({ amount: 5 });
    const client = new Redis(redisUrl ?? '');
    await client.hset(`{gatehouse-limits}:${limit.id}`, String(aheadOf(limit)), '5');
    await client.quit();

    expect(await one(await redis(), limit, { first: 5 })).toMatchObject({ granted: 5, free: 0 });
  });
});

describe.runIf(redisUrl)('slots in a Redis that has lost them', () => {
  it('are what the processes say that they hold', async () => {
    const [mine, other] = await Promise.all([redis(), redis()]);
    const limit = slots(3);

    await mine.giveBack([returns(limit, 0, { holds: 2 })]);

    expect(await one(other, limit, { first: 2 })).toMatchObject({ granted: 0, free: 1 });
  });
});

describe.runIf(ownRedis)('a Redis that takes no writes', () => {
  const WAYS: [string, string[], string[]][] = [
    ['is full', ['CONFIG', 'SET', 'maxmemory', '1'], ['CONFIG', 'SET', 'maxmemory', '0']],
    ['became a replica', ['REPLICAOF', '127.0.0.1', '1'], ['REPLICAOF', 'NO', 'ONE']],
    [
      'has too few replicas',
      ['CONFIG', 'SET', 'min-replicas-to-write', '1'],
      ['CONFIG', 'SET', 'min-replicas-to-write', '0'],
    ],
  ];
  const withAdmin = async (
    work: (call: (command: readonly string[]) => Promise<unknown>) => Promise<void>,
  ) => {
    const admin = new Redis(redisUrl ?? '');
    try {
      await work(([command = '', ...args]) => admin.call(command, args));
    } finally {
      for (const [, , [command = '', ...args]] of WAYS) await admin.call(command, args);
      await admin.quit();
    }
  };

  it.each(WAYS)('is unavailable, and no counter is at fault: it %s', async (_why, begin, stop) => {
    const store = await redis();
    const [rate, slot] = [aLimit(), slots(3)];
    await withAdmin(async (call) => {
      await call(begin);
      await expect(store.take([asks(rate), asks(slot)])).rejects.toThrow(/^(OOM|READONLY|NOREPLICAS) /);
      await expect(store.tryWrite()).rejects.toThrow(/^(OOM|READONLY|NOREPLICAS) /);
      await call(stop);
    });

    expect(await one(store, rate)).toMatchObject({ granted: 1, free: 99 });
    await store.tryWrite();
  });

  it.each(WAYS)(
    'is reported as unavailable all the time, and not in turns with available: it %s',
    async (_why, begin, stop) => {
      const limiter = new Limiter(await redis());
      limiter.onApplicationBootstrap();
      const before = limitCounts.storesUnavailable;
      const [rate, used] = [aLimit({ amount: 1_000 }), aLimit({ amount: 1 })];
      const pass = (limit: Limit) => outcomeOf(limiter, attemptUnder([limit]));
      await pass(used);
      await withAdmin(async (call) => {
        await call(begin);
        await expect.poll(async () => (await pass(rate), limitCounts.storesUnavailable)).toBe(before + 1);
        const seen = new Set<number>();
        for (const ends = Date.now() + 4_000; Date.now() < ends; await delay(50)) {
          await pass(used);
          if ((await limiter.problem()) === null) seen.add(-1);
          seen.add(limitCounts.storesUnavailable - before);
        }
        expect([...seen]).toEqual([1]);
        await call(stop);
      });
      await expect.poll(() => limitCounts.storesUnavailable, { timeout: 10_000 }).toBe(before);
      expect(await limiter.problem()).toBeNull();
      await limiter.onApplicationShutdown();
    },
  );
});

describe('a PostgreSQL that takes no writes', () => {
  it('is unavailable, and no counter is at fault', async () => {
    const readOnly: Queryable = {
      query: <Row>(sql: string, parameters?: readonly unknown[]) =>
        database.dataSource.transaction(async (manager) => {
          await manager.query('SET TRANSACTION READ ONLY');
          return manager.query<Row>(sql, [...(parameters ?? [])]);
        }),
    };
    const store = new PostgresLimitStore(readOnly, randomUUID());

    await expect(store.giveBack([])).rejects.toThrow('read-only transaction');
    for (const limit of [aLimit(), slots(3), aBudget(100)])
      await expect(store.take([asks(limit)]), limit.kind).rejects.toThrow('read-only transaction');
    await expect(store.tryWrite()).rejects.toThrow('read-only transaction');
    await postgres().tryWrite();
  });
});

/** Everything that may stand under a key instead of what belongs there. */
const GARBAGE: readonly (readonly [
  string,
  (client: Redis, key: string, field: string) => Promise<unknown>,
])[] = [
  ['a text', (client, key) => client.set(key, 'a text')],
  ['a list', (client, key) => client.rpush(key, 'a', 'b')],
  ['a set', (client, key) => client.sadd(key, 'a')],
  ['a sorted set', (client, key) => client.zadd(key, 1, 'a')],
  ['a stream', (client, key) => client.xadd(key, '*', 'a', 'b')],
  ['fields of others', (client, key) => client.hset(key, 'a', 'b', '', '')],
  ['a text for a number', (client, key, field) => client.hset(key, field, 'a text')],
  ['infinity', (client, key, field) => client.hset(key, field, '1e999')],
  ['a number without a time', (client, key, field) => client.hset(key, field, '-')],
  ['slots that never end', (client, key) => client.hset(key, 'nobody', `9999999:${Date.now() * 1_000}`)],
  ['bytes', (client, key, field) => client.hset(key, field, Buffer.from([0xff, 0, 0xfe]))],
];

describe.runIf(redisUrl)('a key of limits in Redis that holds garbage', () => {
  const KEYS = ['window', 'slots', 'calls'] as const;
  const OPERATIONS = ['take', 'giveBack'] as const;
  const CELLS = KEYS.flatMap((kind) =>
    OPERATIONS.flatMap((operation) => GARBAGE.map(([what, write]) => ({ kind, operation, what, write }))),
  );

  it.each(CELLS)('is replaced: $what in the key of $kind, found by $operation', async (cell) => {
    const store = await redis();
    const limit = cell.kind === 'window' ? aLimit({ amount: 5 }) : slots(5);
    const id = cell.kind === 'calls' ? `calls/${store.holder}` : limit.id;
    const field = cell.kind === 'window' ? currentStep() : `{gatehouse-limits}:${limit.id}`;
    await inRedis((client, key) => cell.write(client, key, cell.kind === 'slots' ? 'another holder' : field))(
      id,
    );
    const call = (number: number) => ({ call: number, holds: 0 });

    if (cell.operation === 'take') await one(store, limit, call(1));
    else await store.giveBack([returns(limit, 0, { ...call(1), step: 0 })]);
    await store.giveBack([returns(limit, 0, call(2))]);
    const grants = [];
    for (let at = 3; at < 9; at++) {
      const { granted, wasCorrupt } = await one(store, limit, { call: at, holds: Math.min(at - 3, 5) });
      grants.push(granted);
      expect(wasCorrupt).toBe(false);
    }

    const before = cell.kind === 'window' && cell.operation === 'take' ? 1 : 0;
    expect(grants).toEqual([1, 1, 1, 1, 1 - before, 0]);
  });

  it('does not keep a process from its slots for longer than their lease, though its number of calls is too large', async () => {
    const store = await redis(300);
    const limit = slots(5);
    const key = `{gatehouse-limits}:${limit.id}`;
    await inRedis((client, calls) => client.hset(calls, key, '999999999999'))(`calls/${store.holder}`);

    await expect
      .poll(() => one(store, limit, { call: 7 }), { timeout: 10_000 })
      .toMatchObject({ granted: 1 });
  });

  it.each(GARBAGE)('counts as nothing in what a rate is shown to use: %s', async (_what, write) => {
    const use = new RedisRateUse(new Secret(redisUrl ?? ''));
    const rules = [
      { id: randomUUID(), type: 'requests', unit: 'rpm', value: 5 },
      { id: randomUUID(), type: 'concurrency', unit: null, value: 5 },
    ] as const;
    for (const { id } of rules) await inRedis((client, key) => write(client, key, currentStep()))(id);

    const used = await eventually(() => use.read(rules), { what: 'the use of rates' });
    expect([...used.values()]).toEqual([0, 0]);
    await use.onApplicationShutdown();
  });
});

describe.runIf(redisUrl)('slots in Redis', () => {
  it('are not changed by a call that arrives after a later one', async () => {
    const [mine, other] = await Promise.all([redis(), redis()]);
    const limit = slots(3);
    await one(mine, limit, { first: 2, call: 7 });

    await mine.giveBack([returns(limit, 2, { call: 6, holds: 0 })]);
    expect(await one(mine, limit, { call: 5 })).toMatchObject({ granted: 0 });

    expect(await one(other, limit, { first: 2 })).toMatchObject({ granted: 0, free: 1, others: 2 });
  });
});

describe('budgets in PostgreSQL', () => {
  it('are not given out twice when the clock jumps ahead of all leases', async () => {
    const [mine, other] = [postgres(), postgres()];
    const limit = aBudget(100);
    await one(mine, limit, { first: 60, call: 1 });
    // What the clock says in two hours, a lease that was granted now says it two hours ago.
    await database.dataSource.query(
      "UPDATE limit_leases SET expires_at = expires_at - interval '2 hours' WHERE counter = $1",
      [limit.id],
    );

    expect(await one(other, limit, { first: 50 })).toMatchObject({ granted: 0, free: 40, others: 60 });
    await mine.giveBack([]);
    await delay(2_100);
    expect(await one(other, limit, { first: 50 })).toMatchObject({ granted: 0, free: 40 });
    expect(await one(mine, limit, { first: 41, call: 2 })).toMatchObject({ granted: 0, free: 40 });
  });

  it('say which counter failed, and serve the others', async () => {
    const store = postgres();
    const [sound, broken] = [aBudget(100), { ...aBudget(100), id: 'no id at all' }];

    const answers = await store.take([asks(broken), asks(sound)]);

    expect(answers[0]).toBeInstanceOf(LimitFault);
    expect(answers[1]).toMatchObject({ granted: 1, free: 99 });
  });

  it('undo what a call did whose response got lost, whatever was charged meanwhile', async () => {
    const [mine, other] = [new PostgresLimitStore(database.dataSource, 'lost'), postgres()];
    const limit = aBudget(100);
    await one(mine, limit, { first: 40, call: 1 });
    await one(mine, limit, { first: 30, call: 2 });
    const charge = [{ counter: limit.id, holder: 'lost', leased: 25, amount: 20 }];
    await database.dataSource.query('SELECT charge_limits($1)', [JSON.stringify(charge)]);

    await mine.giveBack([returns(limit, 5, { call: 3, unsureSince: 1 })]);

    expect(await one(other, limit, { first: 100 })).toMatchObject({ granted: 0, free: 100 - 20 - 10 });
  });

  it('do nothing for a call that a later one has overtaken', async () => {
    const [mine, other] = [postgres(), postgres()];
    const limit = aBudget(100);

    await one(mine, limit, { first: 10, call: 8, unsureSince: 0 });

    expect(await one(mine, limit, { first: 30, call: 7 })).toMatchObject({ granted: 0 });
    await mine.giveBack([returns(limit, 10, { call: 6 })]);
    expect(await one(other, limit, { first: 100 })).toMatchObject({ granted: 0, free: 90 });
  });

  it('lease exactly what there is to simultaneous requests', async () => {
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
        ? store.giveBack(mixed.map((limit) => returns(limit, 1)))
        : store.take(mixed.map((limit) => asks(limit, { first: 10 })));
    });

    await expect(Promise.all(rounds)).resolves.toHaveLength(80);
  });

  const eventsOf = (limit: Limit): Promise<{ kind: string }[]> =>
    database.dataSource.query('SELECT kind FROM limit_events WHERE limit_id = $1', [limit.id]);
  const spend = (limit: Limit, amount: number): Promise<unknown> =>
    database.dataSource.query('SELECT charge_limits($1)', [
      JSON.stringify([{ counter: limit.id, holder: 'nobody', leased: 0, amount }]),
    ]);
  const isExhausted = async (limit: Limit): Promise<boolean> => {
    const [row] = await database.dataSource.query('SELECT is_exhausted FROM limit_counters WHERE key = $1', [
      limit.id,
    ]);
    return (row as { is_exhausted: boolean }).is_exhausted;
  };

  it('are not exhausted by a request that is larger than what is left', async () => {
    const store = postgres();
    const limit = aBudget(1_000);

    expect(await one(store, limit, { first: 1_001 })).toMatchObject({ granted: 0, free: 1_000 });
    await spend(limit, 980);
    expect(await one(store, limit, { first: 21 })).toMatchObject({ granted: 0, free: 20 });

    expect(await isExhausted(limit)).toBe(false);
    expect(await eventsOf(limit)).toEqual([]);
  });

  it('are exhausted once what was spent reaches the limit', async () => {
    const store = postgres();
    const limit = aBudget(1_000);
    await one(store, limit);

    await spend(limit, 1_000);

    expect(await isExhausted(limit)).toBe(true);
    expect(await eventsOf(limit)).toEqual([{ kind: 'exhausted' }]);
  });

  it('send the alert of their end once when less than a hundredth is left and a request is refused', async () => {
    const store = postgres();
    const limit = aBudget(1_000);
    await one(store, limit);
    await spend(limit, 991);

    await one(store, limit, { first: 10 });
    await one(store, limit, { first: 11 });

    expect(await isExhausted(limit)).toBe(false);
    expect(await eventsOf(limit)).toEqual([{ kind: 'exhausted' }]);
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
