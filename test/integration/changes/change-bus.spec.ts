import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { PostgresChangeBus } from '../../../src/adapters/postgres-change-bus.js';
import { RedisChangeBus } from '../../../src/adapters/redis-change-bus.js';
import type { Change } from '../../../src/common/changes/change-bus.js';
import { Secret } from '../../../src/common/crypto/secret.js';
import { createDataSource } from '../../../src/common/database/data-source.js';
import { UnitOfWork } from '../../../src/common/database/unit-of-work.js';
import { type TestDatabase, freshDatabase } from '../../support/database.js';
import { type FakeRedis, startFakeRedis } from '../../support/fake-redis.js';

type Bus = PostgresChangeBus | RedisChangeBus;

interface Listening {
  readonly bus: Bus;
  readonly heard: (Change | null)[];
}

let database: TestDatabase;
let work: UnitOfWork;
let redis: FakeRedis;
const buses: Bus[] = [];

beforeAll(async () => {
  database = await freshDatabase();
  work = new UnitOfWork(database.dataSource);
  redis = await startFakeRedis();
});

afterEach(() => Promise.all(buses.splice(0).map((bus) => bus.onApplicationShutdown())));

afterAll(async () => {
  await redis.close();
  await database.drop();
});

const listening = async (makeBus: () => Bus): Promise<Listening> => {
  const bus = makeBus();
  buses.push(bus);
  const heard: (Change | null)[] = [];
  bus.subscribe((change) => heard.push(change));
  await expect.poll(() => heard, { timeout: 5_000 }).toEqual([null]);
  heard.length = 0;
  return { bus, heard };
};

const aChange = (): Change => ({ resource: 'api_key', id: randomUUID() });
const changesIn = (heard: readonly (Change | null)[]) => heard.filter((change) => change !== null);

const kinds: [string, () => Bus, () => Promise<void>][] = [
  [
    'PostgresChangeBus',
    () => new PostgresChangeBus(work, new Secret(database.url)),
    async () => {
      await database.dataSource.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'gatehouse changes' AND datname = current_database()",
      );
    },
  ],
  [
    'RedisChangeBus over the stand-in',
    () => new RedisChangeBus(work, new Secret(redis.url)),
    async () => redis.dropConnections(),
  ],
];
const outside = process.env['TEST_REDIS_URL'];
if (outside)
  kinds.push([
    'RedisChangeBus over Redis',
    () => new RedisChangeBus(work, new Secret(outside)),
    async () => {
      const { Redis } = await import('ioredis');
      const client = new Redis(outside);
      await client.client('KILL', 'TYPE', 'pubsub');
      client.disconnect();
    },
  ]);

describe.each(kinds)('%s', (_name, makeBus, cutConnections) => {
  it('tells every process of a change, the one that made it too, within a second', async () => {
    const [here, there] = [await listening(makeBus), await listening(makeBus)];
    const change = aChange();

    await here.bus.publish(change);

    await expect.poll(() => changesIn(there.heard), { timeout: 1_000 }).toEqual([change]);
    await expect.poll(() => changesIn(here.heard), { timeout: 1_000 }).toEqual([change]);
  });

  it('is silent until the unit of work commits', async () => {
    const { bus, heard } = await listening(makeBus);
    const change = aChange();

    await work.run(async () => {
      await bus.publish(change);
      await new Promise((resolve) => setTimeout(resolve, 150));
      expect(heard).toEqual([]);
    });

    await expect.poll(() => changesIn(heard)).toEqual([change]);
  });

  it('never tells of what was rolled back', async () => {
    const { bus, heard } = await listening(makeBus);
    const [undone, done] = [aChange(), aChange()];

    await work
      .run(async () => {
        await bus.publish(undone);
        throw new Error('undo');
      })
      .catch(() => undefined);
    await bus.publish(done);

    await expect.poll(() => changesIn(heard)).toEqual([done]);
  });

  it('says that messages may have been missed when its connection was cut, and hears again', async () => {
    const { bus, heard } = await listening(makeBus);

    await cutConnections();

    await expect.poll(() => heard, { timeout: 10_000 }).toContain(null);
    const change = aChange();
    await bus.publish(change);
    await expect.poll(() => changesIn(heard)).toContainEqual(change);
  });

  it('tells all listeners, whatever one of them does', async () => {
    const { bus, heard } = await listening(() => {
      const made = makeBus();
      made.subscribe(() => {
        throw new Error('a listener that fails');
      });
      return made;
    });
    const change = aChange();

    await bus.publish(change);

    await expect.poll(() => changesIn(heard)).toEqual([change]);
  });
});

describe('PostgresChangeBus', () => {
  it('takes a message that it cannot read for one that it missed', async () => {
    const { heard } = await listening(() => new PostgresChangeBus(work, new Secret(database.url)));
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query("SELECT pg_notify('gatehouse_changes', 'from a newer version')");
    await client.end();

    await expect.poll(() => heard).toEqual([null]);
  });

  it('goes on trying while the database is away, and stops when told to', async () => {
    const bus = new PostgresChangeBus(work, new Secret('postgres://nobody@127.0.0.1:1/none'));
    bus.subscribe(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 300));

    await bus.onApplicationShutdown();
  });

  it('fails to publish when the database is away, so that the change fails with it', async () => {
    const away = createDataSource('postgres://nobody@127.0.0.1:1/none');
    const bus = new PostgresChangeBus(new UnitOfWork(away), new Secret(database.url));

    await expect(bus.publish(aChange())).rejects.toThrow();
  });
});

describe('RedisChangeBus', () => {
  it('leaves a change made when Redis cannot be told of it', async () => {
    const away = await startFakeRedis();
    await away.close();
    const bus = new RedisChangeBus(work, new Secret(away.url));
    buses.push(bus);

    await expect(work.run(() => bus.publish(aChange()))).resolves.toBeUndefined();
  });

  it('opens a new connection when the old one is silent for two heartbeats', async () => {
    const heard: (Change | null)[] = [];
    const bus = new RedisChangeBus(work, new Secret(redis.url), 50);
    buses.push(bus);
    bus.subscribe((change) => heard.push(change));
    await expect.poll(() => heard).toEqual([null]);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(heard).toEqual([null]);

    redis.mute();

    await expect.poll(() => heard, { timeout: 5_000 }).toEqual([null, null]);
  });
});
