import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PostgresLimitStore } from '../../../src/adapters/limits/postgres-limit-store.js';
import { PostgresRateUse } from '../../../src/adapters/limits/postgres-rate-use.js';
import { RedisLimitStore } from '../../../src/adapters/limits/redis-limit-store.js';
import { RedisRateUse } from '../../../src/adapters/limits/redis-rate-use.js';
import { Secret } from '../../../src/common/settings/secret.js';
import { limitsOfRules } from '../../../src/common/limits/limit.js';
import type { RateUse } from '../../../src/common/limits/rate-use.js';
import type { RateRule } from '../../../src/common/limits/rules.js';
import type { LimitStore } from '../../../src/gateway/ports.js';
import { freshDatabase, type TestDatabase } from '../../support/database.js';
import { asks, returns } from '../../support/limits.js';
import { OwnRedis } from '../../support/own-redis.js';
import { eventually } from '../../support/waiting.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await freshDatabase();
});
afterAll(() => database.drop());

const ownRedis = await OwnRedis.start();
const redisUrl = ownRedis?.url;
afterAll(() => ownRedis?.kill());

interface Pair {
  readonly store: LimitStore;
  readonly use: RateUse;
  readonly close: () => Promise<void>;
}

const SLOT_LEASE_MS = 300;

function inPostgres(): Pair {
  const { dataSource } = database;
  const store = new PostgresLimitStore(dataSource, randomUUID(), `${SLOT_LEASE_MS} milliseconds`);
  return { store, use: new PostgresRateUse(dataSource), close: async () => undefined };
}

function inRedis(): Pair {
  const url = new Secret(redisUrl ?? '');
  const budgets = new PostgresLimitStore(database.dataSource, randomUUID());
  const store = new RedisLimitStore(budgets, url, { slotLeaseMs: SLOT_LEASE_MS, answerMs: 20_000 });
  const use = new RedisRateUse(url);
  return {
    store,
    use,
    close: async () => {
      await Promise.all([store.onApplicationShutdown(), use.onApplicationShutdown()]);
    },
  };
}

const PAIRS: [string, () => Pair][] = [['PostgreSQL', inPostgres]];
if (redisUrl) PAIRS.push(['Redis', inRedis]);

const rate = (more: Partial<RateRule> = {}): RateRule => ({
  ...{ id: randomUUID(), type: 'requests', unit: 'rpm', value: 100 },
  ...more,
});
const limitFor = (rule: RateRule) => {
  const owner = { organizationId: randomUUID(), subject: 'this API key' };
  const [limit] = limitsOfRules(owner, { rate_limits: [rule], usage_limits: null });
  if (!limit) throw new Error('No limit was made of the rule.');
  return limit;
};

describe.each(PAIRS)('the use of rates in %s', (_, open) => {
  let pair: Pair;
  beforeAll(async () => {
    pair = open();
    await eventually(() => pair.use.read([rate()]), { what: 'the store of the rates' });
  });
  afterAll(() => pair.close());

  const used = async (rule: RateRule): Promise<number | undefined> =>
    (await pair.use.read([rule])).get(rule.id);

  it('is what was taken and not given back, of each rule by its id, and nothing of one that was never used', async () => {
    const [one, other, unused] = [rate(), rate({ unit: 'rpw', type: 'tokens', value: 1_000 }), rate()];
    const [grant] = await pair.store.take([asks(limitFor(one), { first: 7 })]);
    await pair.store.take([asks(limitFor(other), { first: 500 })]);
    expect(await pair.use.read([one, other, unused])).toEqual(
      new Map([
        [one.id, 7],
        [other.id, 500],
        [unused.id, 0],
      ]),
    );

    const step = grant && 'step' in grant ? grant.step : 0;
    await pair.store.giveBack([returns(limitFor(one), 3, { step, call: 1 })]);
    expect(await used(one)).toBe(4);
  });

  it('leaves with its window', async () => {
    const rule = rate({ unit: 'rps' });
    await pair.store.take([asks(limitFor(rule), { first: 5 })]);
    expect(await used(rule)).toBe(5);
    await expect.poll(() => used(rule)).toBe(0);
  });

  it('of concurrency ends with the lease of a process that is silent', async () => {
    const rule = rate({ type: 'concurrency', unit: null, value: 10 });
    await pair.store.take([asks(limitFor(rule), { first: 4, call: 1 })]);
    expect(await used(rule)).toBe(4);
    await expect.poll(() => used(rule)).toBe(0);
  });
});
