import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PostgresLimitStore } from '../../../src/adapters/limits/postgres-limit-store.js';
import { GIVE_BACK, TAKE } from '../../../src/adapters/limits/redis-limit-scripts.js';
import { RedisLimitStore } from '../../../src/adapters/limits/redis-limit-store.js';
import { Secret } from '../../../src/common/settings/secret.js';
import type { Limit } from '../../../src/common/limits/limit.js';
import { type LimitAsk, LimitFault, type LimitGrant, RETURNED } from '../../../src/gateway/ports.js';
import { freshDatabase, type TestDatabase } from '../../support/database.js';
import { ReferenceCounter } from '../../support/limit-reference.js';
import { aBudget, aLimit, asks, slots } from '../../support/limits.js';
import { OwnRedis } from '../../support/own-redis.js';
import { SeededRandom } from '../../support/random.js';
import { ModelProcess } from '../../support/limit-processes.js';

/**
 * Random lives of two processes, in PostgreSQL and in Redis side by side, compared with a reference after every call:
 * takes and returns of several counters at once, calls that get lost on the way there or back, calls that arrive again after later ones,
 * killed processes whose leases expire, counters that become corrupt, and a clock that goes on, jumps ahead and is set back.
 *
 * Both stores must answer exactly what the reference does, and never with an error. What differs by design is left out:
 * - Slots are asked for without spare ones. Redis grants those more freely than PostgreSQL.
 * - After a jump ahead of all leases, Redis knows the slots of others again with their next round, 500 ms later. PostgreSQL waits for that.
 * - A lease in PostgreSQL ends when somebody asks about its counter after it has expired. A clock that is set back before that revives it.
 * - A call that arrives again when its process has given everything back holds slots in Redis until the process's next call.
 *
 * A window counts in hundredths, so its shortest span is 99 of them. `LIMITS_SEED` repeats a run, `LIMITS_STEPS` makes it longer.
 */
const SEED = SeededRandom.seedFrom('LIMITS_SEED');
const STEPS = Number(process.env['LIMITS_STEPS'] ?? 100_000);
const COUNTERS_OF_KIND = 12;
const HOUR_MS = 3_600_000;
/** Slots of a dead process expire within this; the lease of its budgets ends when its records are stored. */
const SLOT_LEASE_MS = 30_000;
/** For how long PostgreSQL goes on counting a lease that it finds expired. */
const DOUBT_MS = 2_000;
const CLOCK = 'model:now';

/** Only this test's session and scripts have another clock: the functions find this one first, the scripts are rewritten. */
const FAKE_CLOCK = `
  CREATE SCHEMA model;
  CREATE FUNCTION model.clock_timestamp() RETURNS timestamptz LANGUAGE sql
    AS $$ SELECT to_timestamp(current_setting('model.now')::float8 / 1000) $$;
  SET search_path = model, public, pg_catalog`;
const withFakeClock = (script: string): string => {
  const faked = script.replace(
    /local clock = .*\n\s*local now = .*/,
    `local now = tonumber(redis.call('GET', '${CLOCK}'))`,
  );
  if (faked === script) throw new Error('The script does not read its clock where the test expects it.');
  return faked;
};

const FAKED_SCRIPTS = { take: withFakeClock(TAKE), giveBack: withFakeClock(GIVE_BACK) };

let database: TestDatabase;
let session: pg.Client;
let ownRedis: OwnRedis | null;
let redis: Redis | null = null;
beforeAll(async () => {
  [database, ownRedis] = await Promise.all([freshDatabase(), OwnRedis.start()]);
  session = new pg.Client({ connectionString: database.url });
  await session.connect();
  await session.query(FAKE_CLOCK);
  await session.query('SET synchronous_commit = off');
  if (ownRedis) redis = new Redis(ownRedis.url);
});
afterAll(async () => {
  await redis?.quit();
  await session.end();
  await ownRedis?.kill();
  await database.drop();
});

const queryable = {
  query: async <Row>(sql: string, parameters?: unknown[]): Promise<Row[]> =>
    (await session.query(sql, parameters)).rows as Row[],
};

/** A process and its connections. A killed one is followed by another one with another name. */
interface Running {
  readonly process: ModelProcess;
  readonly postgres: PostgresLimitStore;
  readonly redis: RedisLimitStore | null;
}

class World {
  private readonly random = new SeededRandom(SEED);
  private readonly counters: ReferenceCounter[];
  private readonly running: Running[] = [];
  private now = Date.UTC(2026, 0, 1);
  /** The latest that the clock has ever said. */
  private latest = this.now;
  /** Killed, and still known to the stores. */
  private dead: ModelProcess[] = [];
  private killedAt = 0;
  steps = 0;

  constructor() {
    const makers: (() => Limit)[] = [
      () => aLimit({ amount: this.random.whole(1, 200), windowMs: this.random.of([6_000, 60_000, HOUR_MS]) }),
      () => slots(this.random.whole(1, 20)),
      () => aBudget(this.random.of([50, 5_000, 5_000_000])),
    ];
    this.counters = makers.flatMap((make) =>
      Array.from({ length: COUNTERS_OF_KIND }, () => new ReferenceCounter(make())),
    );
  }

  async run(steps: number): Promise<void> {
    await this.setClock(this.now);
    for (let at = 0; at < 2; at++) await this.startProcess();
    while (this.steps < steps) {
      await this.act();
      this.checkInvariants();
    }
    await this.finish();
  }

  private act(): Promise<void> {
    const { random } = this;
    const chance = random.next();
    if (chance < 0.5) return this.take();
    if (chance < 0.72) return this.giveBack(random.of(this.running), this.some());
    if (chance < 0.84) return this.spendAndStore();
    if (chance < 0.94) return this.moveClock();
    if (chance < 0.96) return this.kill();
    if (chance < 0.98) return this.jump();
    return this.corrupt();
  }

  private async take(): Promise<void> {
    const one = this.random.of(this.running);
    const asks = this.some().map((counter) => one.process.ask(counter.limit, this.random));
    const fate = this.random.is(0.05) ? 'late' : this.fate();
    if (fate === 'answered' || fate === 'lost after') await this.doTake(one, asks, fate === 'answered');
    if (fate !== 'answered') for (const ask of asks) one.process.unanswered(ask);
    if (fate === 'late') for (const ask of asks.filter(isLease)) one.process.isLate(ask);
    this.steps += asks.length;
  }

  /** Both stores do the call, and must say what the reference says. */
  private async doTake(one: Running, asks: readonly LimitAsk[], isHeard: boolean): Promise<void> {
    const { process } = one;
    const expected = asks.map((ask) =>
      this.counterOf(ask).take(process.holder, ask, this.now, process.unstoredOf(ask)),
    );
    const inPostgres = await one.postgres.take(asks);
    expect(inPostgres.map(said), this.where('PostgreSQL')).toEqual(expected);
    if (one.redis) {
      const inRedis = await one.redis.take(asks.filter(isNoBudget));
      expect(inRedis.map(said), this.where('Redis')).toEqual(
        expected.filter((_, at) => isNoBudget(asks[at] as LimitAsk)),
      );
    }
    if (isHeard) expected.forEach((grant, at) => this.hear(process, asks[at] as LimitAsk, grant));
    await this.deliverLate(one, asks);
  }

  private hear(process: ModelProcess, ask: LimitAsk, grant: LimitGrant): void {
    const counter = this.counterOf(ask);
    counter.overused += ask.debt;
    counter.use(grant.step, grant.granted);
    process.granted(ask, grant);
  }

  private async giveBack(
    one: Running,
    counters: readonly ReferenceCounter[],
    fate = this.fate(),
  ): Promise<void> {
    const { process } = one;
    const returns = counters
      .filter(({ isCorrupt }) => !isCorrupt)
      .map(({ limit }) => process.giveBack(limit, this.random));
    if (fate !== 'lost before') {
      for (const each of returns) {
        this.counterOf(each).giveBack(process.holder, each, this.now, process.unstoredOf(each));
        for (const { step, amount } of each.steps) this.counterOf(each).use(step, -amount);
      }
      const done = await one.postgres.giveBack(returns);
      const doneInRedis = (await one.redis?.giveBack(returns.filter(isNoBudget))) ?? [];
      expect(
        [...done, ...doneInRedis].filter((answer) => answer !== RETURNED),
        this.where('returns'),
      ).toEqual([]);
      await this.deliverLate(one, returns);
    }
    for (const each of returns) {
      if (fate === 'answered') process.returned(each);
      else process.keptBack(each);
    }
    this.steps += returns.length;
  }

  /** A call that its process has given up arrives after a later one, and must change nothing: the next answers show it. */
  private async deliverLate(
    { process, postgres, redis }: Running,
    later: readonly { key: string; holds: number }[],
  ) {
    for (const { key, holds } of later) {
      const late = process.takeLate(key);
      if (!late) continue;
      const stores = isBudget(late) ? [postgres] : [postgres, ...(redis && holds > 0 ? [redis] : [])];
      for (const store of stores) {
        const [answer] = await store.take([late]);
        expect(answer, this.where('late')).toMatchObject({ granted: 0 });
      }
      this.steps += 1;
    }
  }

  private async spendAndStore(): Promise<void> {
    const { process } = this.random.of(this.running);
    process.spend(this.random);
    if (this.random.is(0.5)) await this.storeRecords(process);
  }

  private async storeRecords(process: ModelProcess): Promise<void> {
    const charges = process.takeRecords();
    await session.query('SELECT charge_limits($1)', [JSON.stringify(charges)]);
    for (const { counter, amount } of charges) {
      const reference = this.counterOf({ key: counter });
      reference.spent += amount;
      reference.leases.set(process.holder, (reference.leases.get(process.holder) ?? 0) - amount);
    }
  }

  private async startProcess(): Promise<void> {
    const postgres = new PostgresLimitStore(queryable, randomUUID());
    const store =
      ownRedis &&
      new RedisLimitStore(postgres, new Secret(ownRedis.url), {
        slotLeaseMs: SLOT_LEASE_MS,
        scripts: FAKED_SCRIPTS,
        // A busy machine may let Redis wait; what a lost answer does is a step of its own.
        answerMs: 20_000,
      });
    const isThere = () =>
      store?.giveBack([]).then(
        () => true,
        () => false,
      ) ?? true;
    await expect.poll(isThere).toBe(true);
    this.running.push({ process: new ModelProcess(postgres.holder), postgres, redis: store });
  }

  private async kill(): Promise<void> {
    const [killed] = this.running.splice(this.random.whole(0, 1), 1);
    if (!killed) return;
    if (this.dead.length === 0) this.killedAt = this.now;
    this.dead.push(killed.process);
    await killed.redis?.onApplicationShutdown();
    await this.startProcess();
  }

  /** Records of the dead are stored, then their budgets are free again; their slots expire by themselves. Those of the living stay. */
  private async expire(): Promise<void> {
    const everyone = this.counters.filter(isLease).map(({ limit }) => asks(limit, { first: 0 }));
    for (const wait of [SLOT_LEASE_MS + 1, DOUBT_MS + 1]) {
      await this.setClock(this.latest + wait);
      await this.roundOfAll();
      await new PostgresLimitStore(queryable, 'somebody else').take(everyone);
    }
    for (const process of this.dead) {
      await this.storeRecords(process);
      await endLeasesOfBudgets(process.holder);
      for (const counter of this.counters) counter.leases.delete(process.holder);
    }
    this.dead = [];
  }

  private async roundOfAll(): Promise<void> {
    for (const one of this.running) await this.giveBack(one, this.counters, 'answered');
  }

  private async moveClock(): Promise<void> {
    const { random } = this;
    const next = this.now + (random.is(0.8) ? random.whole(0, 700) : random.whole(0, 15_000));
    if (this.dead.length > 0 && next - this.killedAt > 20_000) return this.expire();
    await this.setClock(next);
    await this.roundOfAll();
  }

  /** By hours, ahead or back. Budgets hold also before the living have made their round. */
  private async jump(): Promise<void> {
    await this.expire();
    await this.setClock(this.now + this.random.of([-5, -2, 2, 5]) * HOUR_MS + this.random.whole(0, 999));
    for (const counter of this.counters) counter.forgetUse();
    const one = this.random.of(this.running);
    const wanted = this.counters.filter(isBudget).map(({ limit }) => one.process.ask(limit, this.random));
    await this.doTake(one, wanted, true);
    await this.roundOfAll();
  }

  private async corrupt(): Promise<void> {
    const counter = this.random.of(this.counters.filter(({ limit }) => limit.kind === 'window'));
    counter.isCorrupt = true;
    counter.forgetUse();
    const { id } = counter.limit;
    await session.query(
      `INSERT INTO limit_windows (key, marks) VALUES ($1, '"broken"') ON CONFLICT (key) DO UPDATE SET marks = '"broken"'`,
      [id],
    );
    await redis?.set(`{gatehouse-limits}:${id}`, 'broken');
  }

  private async setClock(now: number): Promise<void> {
    this.now = now;
    this.latest = Math.max(this.latest, now);
    await session.query(`SELECT set_config('model.now', $1, false)`, [String(now)]);
    await redis?.set(CLOCK, now);
  }

  /** Computed from what processes know, and not from what the stores or the reference say. */
  private checkInvariants(): void {
    const all = [...this.running.map(({ process }) => process), ...this.dead];
    for (const counter of this.counters) {
      const { limit, spent, overused } = counter;
      const leased = all.reduce((sum, one) => sum + one.holds(limit) + one.unstoredOf({ key: limit.id }), 0);
      const used = limit.kind === 'window' ? counter.usedWithin(this.now) : spent + leased;
      expect(used, this.where(`${limit.kind} of ${limit.amount}`)).toBeLessThanOrEqual(
        limit.amount + overused,
      );
    }
  }

  /** When all requests have ended, all that was not spent can be had by anybody. */
  private async finish(): Promise<void> {
    await this.expire();
    for (const one of this.running) {
      await this.storeRecords(one.process);
      one.process.releaseAll();
      await this.giveBack(one, this.counters, 'answered');
    }
    await this.setClock(this.latest + 2 * HOUR_MS);
    await this.startProcess();
    const one = this.running.at(-1) as Running;
    for (const counter of this.counters) {
      const { limit, spent } = counter;
      const first = Math.max(0, limit.amount - spent);
      for (const store of isBudget(counter) ? [one.postgres] : [one.postgres, one.redis]) {
        const [answer] = (await store?.take([asks(limit, { first })])) ?? [];
        if (answer) expect(answer, this.where(`idle ${limit.kind}`)).toMatchObject({ granted: first });
      }
    }
    for (const { redis: store } of this.running) await store?.onApplicationShutdown();
  }

  private some(): ReferenceCounter[] {
    return this.counters.filter(() => this.random.is(0.5));
  }

  /** A call is answered, or gets lost on its way there or back. */
  private fate(): 'answered' | 'lost before' | 'lost after' {
    if (this.random.is(0.9)) return 'answered';
    return this.random.is(0.5) ? 'lost before' : 'lost after';
  }

  private counterOf({ key }: { readonly key: string }): ReferenceCounter {
    const found = this.counters.find(({ limit }) => limit.id === key);
    if (!found) throw new Error(`There is no counter ${key}.`);
    return found;
  }

  private where(what: string): string {
    return `${what}, step ${this.steps}, LIMITS_SEED=${SEED}`;
  }
}

const isBudget = ({ limit }: { readonly limit: Limit }): boolean => limit.kind === 'budget';
const isNoBudget = (one: { readonly limit: Limit }): boolean => !isBudget(one);
const isLease = ({ limit }: { readonly limit: Limit }): boolean => limit.kind !== 'window';
const said = (answer: unknown): unknown => (answer instanceof LimitFault ? answer.cause : answer);
/** Of a dead process. Its slots are left to expire. */
const endLeasesOfBudgets = (holder: string) =>
  session.query(
    `DELETE FROM limit_leases l USING limit_counters c WHERE c.key = l.counter AND c.measure <> 'concurrency' AND l.holder = $1`,
    [holder],
  );

describe('stores of limits', () => {
  it(
    'behave as the reference does through losses, crashes and clock steps',
    { timeout: 600_000 },
    async () => {
      console.log(
        `LIMITS_SEED=${SEED} LIMITS_STEPS=${STEPS}${ownRedis ? '' : ' (no redis-server on this machine)'}`,
      );
      const world = new World();

      await world.run(STEPS);

      expect(world.steps).toBeGreaterThanOrEqual(STEPS);
    },
  );
});
