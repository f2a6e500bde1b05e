import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PostgresLimitStore } from '../../../src/adapters/limits/postgres-limit-store.js';
import { RedisLimitStore } from '../../../src/adapters/limits/redis-limit-store.js';
import { Secret } from '../../../src/common/settings/secret.js';
import type { Limit } from '../../../src/common/limits/limit.js';
import { Limiter } from '../../../src/gateway/limits/limiter.js';
import type { LimitStore } from '../../../src/gateway/ports.js';
import { freshDatabase, type TestDatabase } from '../../support/database.js';
import { attemptUnder, end, isAdmitted, outcomeOf } from '../../support/limited-attempts.js';
import { aBudget, aLimit, slots } from '../../support/limits.js';
import { OwnRedis } from '../../support/own-redis.js';
import { SeededRandom } from '../../support/random.js';

/** Several gateway processes, each with a limiter and a connection of its own, that share their stores. */
const started: { limiter: Limiter; store: LimitStore }[] = [];
let database: TestDatabase;
let redis: OwnRedis | null;
beforeAll(async () => {
  [database, redis] = await Promise.all([freshDatabase(), OwnRedis.start()]);
});
afterEach(async () => {
  for (const { limiter, store } of started.splice(0)) {
    await limiter.onApplicationShutdown();
    if (store instanceof RedisLimitStore) await store.onApplicationShutdown();
  }
});
afterAll(async () => {
  await redis?.kill();
  await database.drop();
});

const STORES = ['PostgreSQL', 'Redis'] as const;

async function processes(name: (typeof STORES)[number], count: number): Promise<Limiter[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const postgres = new PostgresLimitStore(database.dataSource, randomUUID());
      const store = name === 'Redis' ? new RedisLimitStore(postgres, new Secret(redis?.url ?? '')) : postgres;
      await expect
        .poll(() =>
          store.giveBack([]).then(
            () => true,
            () => false,
          ),
        )
        .toBe(true);
      const limiter = new Limiter(store);
      started.push({ limiter, store });
      return limiter;
    }),
  );
}
const admit = async (limiter: Limiter, limits: readonly Limit[], amount = 1): Promise<boolean> => {
  const outcome = await outcomeOf(limiter, attemptUnder(limits, amount));
  if (isAdmitted(outcome)) end(outcome, amount);
  return isAdmitted(outcome);
};
const count = (all: readonly boolean[]): number => all.filter(Boolean).length;

describe.each(STORES)('limits that processes share in %s', (name) => {
  beforeEach(({ skip }) => {
    skip(name === 'Redis' && !redis, 'There is no redis-server on this machine.');
  });

  it('admit exactly the rate after bursts whose leases went back, and exactly the slots', async () => {
    const [one, other] = (await processes(name, 2)) as [Limiter, Limiter];
    const [rate, slot] = [aLimit({ amount: 600, windowMs: 60_000 }), slots(2)];
    // Arrivals a few milliseconds apart make a busy process lease ahead; what it leased ahead goes back between bursts.
    const arriving = async (limiter: Limiter, at: number): Promise<boolean> => {
      await delay(at * 4);
      return admit(limiter, [rate]);
    };

    let admitted = 0;
    for (let burst = 0; burst < 6; burst++) {
      const all = [one, other].map((limiter) => Array.from({ length: 6 }, (_, at) => arriving(limiter, at)));
      admitted += count(await Promise.all(all.flat()));
      await delay(1_300);
    }
    for (let tick = 0; tick < 150; tick++) {
      admitted += count(await Promise.all([one, other, one, other].map((limiter) => admit(limiter, [rate]))));
      await delay(25);
    }
    const held = await Promise.all(
      Array.from({ length: 10 }, (_, at) => outcomeOf(at % 2 ? one : other, attemptUnder([slot]))),
    );

    expect(admitted).toBe(600);
    expect(held.filter(isAdmitted)).toHaveLength(2);
  });

  it.each([
    ['a rate', () => aLimit({ amount: 5, windowMs: 3_600_000 })],
    ['a budget', () => aBudget(5)],
  ])('count %s that was raised after refusals within two seconds', async (_kind, make) => {
    const all = await processes(name, 2);
    const limit = make();
    const spend = async (under: Limit, times: number): Promise<number> => {
      const seen: boolean[] = [];
      for (let at = 0; at < times; at++) seen.push(await admit(all[at % 2] as Limiter, [under]));
      return count(seen);
    };
    expect(await spend(limit, 8)).toBe(5);

    const raised = { ...limit, amount: 20 };
    await delay(1_500);

    expect(await spend(raised, 20)).toBe(15);
  });

  it('hold a lowered limit from the next request on, whatever was leased under the old one', async () => {
    const [one] = (await processes(name, 1)) as [Limiter];
    const limit = aLimit({ amount: 10_000, windowMs: 3_600_000 });
    for (let at = 0; at < 3; at++) await Promise.all(Array.from({ length: 20 }, () => admit(one, [limit])));

    const lowered = { ...limit, amount: 61 };
    const after = await Promise.all(Array.from({ length: 20 }, () => admit(one, [lowered])));

    expect(count(after)).toBeLessThanOrEqual(1);
  });
});

describe('a budget that four processes share', () => {
  it('never refuses a sequential client while enough is left', { timeout: 120_000 }, async () => {
    const seed = SeededRandom.seedFrom('LIMITS_SEED');
    console.log(`LIMITS_SEED=${seed}`);
    const random = new SeededRandom(seed);
    const limiters = await processes('PostgreSQL', 4);
    const budget = aBudget(1_000_000);
    let left = budget.amount;
    let requests = 0;
    const refused: string[] = [];

    while (left > 0 && requests < 600) {
      requests += 1;
      const wanted = requests % 7 === 0 ? left : Math.max(1, Math.floor(left * random.next() ** 3));
      const limiter = random.of(limiters);
      const outcome = await outcomeOf(limiter, attemptUnder([budget], wanted));
      if (!isAdmitted(outcome)) {
        refused.push(`request ${requests}: ${outcome} for ${wanted} of ${left}`);
        continue;
      }
      const used = Math.floor(wanted * random.next() * 0.05);
      end(outcome, used);
      left -= used;
    }

    expect(refused).toEqual([]);
  });

  it('refuses a request that does not fit at once, and serves the next one that does', async () => {
    const limiters = await processes('PostgreSQL', 2);
    const budget = aBudget(100);

    expect(await outcomeOf(limiters[0] as Limiter, attemptUnder([budget], 101))).toBe('budget_exceeded');
    for (const limiter of limiters)
      expect(isAdmitted(await outcomeOf(limiter, attemptUnder([budget], 50)))).toBe(true);
  });

  it('counts a changed period at once', async () => {
    const [limiter] = (await processes('PostgreSQL', 1)) as [Limiter];
    const budget = aBudget(10);
    expect(await admit(limiter, [budget], 10)).toBe(true);
    expect(await admit(limiter, [budget], 10)).toBe(false);
    const rule = { ...budget.budget, periodic_reset: 'monthly' } as NonNullable<Limit['budget']>;

    expect(await admit(limiter, [{ ...budget, budget: rule }], 10)).toBe(true);
  });
});
