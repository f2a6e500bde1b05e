import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { PostgresChangeFeed } from '../../../src/adapters/changes/postgres-change-feed.js';
import { PostgresChangePublisher } from '../../../src/adapters/changes/postgres-change-publisher.js';
import { RedisChangeFeed } from '../../../src/adapters/changes/redis-change-feed.js';
import { RedisChangePublisher } from '../../../src/adapters/changes/redis-change-publisher.js';
import type { Change, ChangeFeed, ChangePublisher } from '../../../src/common/changes/change.js';
import { Secret } from '../../../src/common/settings/secret.js';
import { createDataSource } from '../../../src/schema/data-source.js';
import { UnitOfWork } from '../../../src/database/unit-of-work.js';
import { type TestDatabase, freshDatabase } from '../../support/database.js';
import { type FakeRedis, startFakeRedis } from '../../support/fake-redis.js';
import { OwnRedis } from '../../support/own-redis.js';

/** Both ends of a change bus. */
interface Bus {
  readonly feed: ChangeFeed;
  readonly publisher: ChangePublisher;
}

interface Listening {
  readonly publisher: ChangePublisher;
  readonly heard: (Change | null)[];
}

let database: TestDatabase;
let work: UnitOfWork;
let redis: FakeRedis;
const ownRedis = await OwnRedis.start();
const closers: (() => Promise<void>)[] = [];

beforeAll(async () => {
  database = await freshDatabase();
  work = new UnitOfWork(database.dataSource);
  redis = await startFakeRedis();
});

afterEach(() => Promise.all(closers.splice(0).map((close) => close())));

const closed = <End extends { onApplicationShutdown(): Promise<void> }>(end: End): End => {
  closers.push(() => end.onApplicationShutdown());
  return end;
};
const overPostgres = (): Bus => ({
  feed: closed(new PostgresChangeFeed(new Secret(database.url))),
  publisher: new PostgresChangePublisher(work),
});
const overRedis = (url: string): Bus => ({
  feed: closed(new RedisChangeFeed(new Secret(url))),
  publisher: closed(new RedisChangePublisher(work, new Secret(url))),
});

afterAll(async () => {
  await redis.close();
  await ownRedis?.kill();
  await database.drop();
});

const listening = async (makeBus: () => Bus): Promise<Listening> => {
  const { feed, publisher } = makeBus();
  const heard: (Change | null)[] = [];
  feed.subscribe((change) => heard.push(change));
  await expect.poll(() => heard).toEqual([null]);
  heard.length = 0;
  return { publisher, heard };
};

/** Longer than a busy machine keeps a process from answering. */
const HEARTBEAT_MS = 400;

const aChange = (): Change => ({ resource: 'api_key', id: randomUUID() });
const changesIn = (heard: readonly (Change | null)[]) => heard.filter((change) => change !== null);

const kinds: [string, () => Bus, () => Promise<void>][] = [
  [
    'a change bus over PostgreSQL',
    overPostgres,
    async () => {
      await database.dataSource.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'gatehouse changes' AND datname = current_database()",
      );
    },
  ],
  [
    'a change bus over the stand-in for Redis',
    () => overRedis(redis.url),
    async () => redis.dropConnections(),
  ],
];
const redisUrl = ownRedis?.url;
if (redisUrl)
  kinds.push([
    'a change bus over Redis',
    () => overRedis(redisUrl),
    async () => {
      const client = new Redis(redisUrl);
      await client.client('KILL', 'TYPE', 'pubsub');
      client.disconnect();
    },
  ]);

describe.each(kinds)('%s', (_name, makeBus, cutConnections) => {
  it('notifies every process of a change, the one that made it too, within a second', async () => {
    const [here, there] = [await listening(makeBus), await listening(makeBus)];
    const change = aChange();

    await here.publisher.publish(change);

    await expect.poll(() => changesIn(there.heard), { timeout: 1_000 }).toEqual([change]);
    await expect.poll(() => changesIn(here.heard), { timeout: 1_000 }).toEqual([change]);
  });

  it('is silent until the unit of work commits', async () => {
    const { publisher, heard } = await listening(makeBus);
    const change = aChange();

    await work.run(async () => {
      await publisher.publish(change);
      await new Promise((resolve) => setTimeout(resolve, 150));
      expect(heard).toEqual([]);
    });

    await expect.poll(() => changesIn(heard)).toEqual([change]);
  });

  it('never announces what was rolled back', async () => {
    const { publisher, heard } = await listening(makeBus);
    const [undone, done] = [aChange(), aChange()];

    await work
      .run(async () => {
        await publisher.publish(undone);
        throw new Error('undo');
      })
      .catch(() => undefined);
    await publisher.publish(done);

    await expect.poll(() => changesIn(heard)).toEqual([done]);
  });

  it('reports possibly missed messages when its connection was cut, and receives again', async () => {
    const { publisher, heard } = await listening(makeBus);

    await cutConnections();

    await expect.poll(() => heard).toContain(null);
    const change = aChange();
    await publisher.publish(change);
    await expect.poll(() => changesIn(heard)).toContainEqual(change);
  });

  it('notifies all listeners, whatever one of them does', async () => {
    const { publisher, heard } = await listening(() => {
      const made = makeBus();
      made.feed.subscribe(() => {
        throw new Error('a listener that fails');
      });
      return made;
    });
    const change = aChange();

    await publisher.publish(change);

    await expect.poll(() => changesIn(heard)).toEqual([change]);
  });
});

describe('PostgresChangeFeed and its publisher', () => {
  it('takes a message that it cannot read for one that it missed', async () => {
    const { heard } = await listening(overPostgres);
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query("SELECT pg_notify('gatehouse_changes', 'from a newer version')");
    await client.end();

    await expect.poll(() => heard).toEqual([null]);
  });

  it('keeps retrying while the database is unavailable, and stops on request', async () => {
    const feed = new PostgresChangeFeed(new Secret('postgres://nobody@127.0.0.1:1/none'));
    feed.subscribe(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 300));

    await feed.onApplicationShutdown();
  });

  it('fails to publish when the database is unavailable, so that the change fails with it', async () => {
    const away = createDataSource('postgres://nobody@127.0.0.1:1/none');
    const publisher = new PostgresChangePublisher(new UnitOfWork(away));

    await expect(publisher.publish(aChange())).rejects.toThrow();
  });
});

describe('RedisChangeFeed and its publisher', () => {
  it('keeps a change when Redis cannot be notified of it', async () => {
    const away = await startFakeRedis();
    await away.close();
    const { publisher } = overRedis(away.url);

    await expect(work.run(() => publisher.publish(aChange()))).resolves.toBeUndefined();
  });

  it('opens a new connection when the old one is silent for two heartbeats', async () => {
    const heard: (Change | null)[] = [];
    const feed = closed(new RedisChangeFeed(new Secret(redis.url), HEARTBEAT_MS));
    feed.subscribe((change) => heard.push(change));
    await expect.poll(() => heard).toEqual([null]);
    await new Promise((resolve) => setTimeout(resolve, 3 * HEARTBEAT_MS));
    expect(heard).toEqual([null]);

    redis.mute();

    await expect.poll(() => heard).toEqual([null, null]);
  });
});
