import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Queue } from 'bullmq';
import { PostgresChangeFeed } from '../../../src/adapters/changes/postgres-change-feed.js';
import { Secret } from '../../../src/common/settings/secret.js';
import { createDataSource } from '../../../src/schema/data-source.js';
import { LogDatabase } from '../../../src/request-log/reading/log-database.js';
import {
  postgresClient,
  postgresPool,
  type PostgresUse,
} from '../../../src/database/sessions/postgres-connections.js';
import { QueryPool } from '../../../src/database/sessions/query-pool.js';
import { UnitOfWork } from '../../../src/database/unit-of-work.js';
import { POSTGRES_TIMEOUTS } from '../../../src/common/net/store-timeouts.js';
import { QueueBackend } from '../../../src/jobs/queues/queue-backend.js';
import { freshDatabase, type TestDatabase } from '../../support/database.js';
import { Started } from '../../support/started.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { eventually, sleep } from '../../support/waiting.js';

/** One way in which the service uses PostgreSQL. */
interface Way {
  readonly use: PostgresUse;
  /** Operations at once: more than the pool has connections. */
  readonly width: number;
  readonly open: (url: string) => Promise<Opened>;
}
interface Opened {
  readonly run: () => Promise<unknown>;
  readonly close: () => Promise<void>;
}

const POOL = 2;
const ignore = (): void => undefined;

const readingLogs = (read: (logs: LogDatabase) => Promise<unknown>) => async (url: string) => {
  const dataSource = createDataSource(url, 1);
  const logs = new LogDatabase(dataSource, new UnitOfWork(dataSource));
  return { run: () => read(logs), close: () => logs.onApplicationShutdown() };
};

const WAYS: Readonly<Record<string, Way>> = {
  'a statement of the administration': {
    use: 'requests',
    width: 4,
    open: async (url) => {
      const dataSource = await createDataSource(url, POOL).initialize();
      return { run: () => dataSource.query('SELECT 1'), close: () => dataSource.destroy() };
    },
  },
  'a transaction of the administration': {
    use: 'requests',
    width: 4,
    open: async (url) => {
      const dataSource = await createDataSource(url, POOL).initialize();
      return {
        run: () => dataSource.transaction((manager) => manager.query('SELECT 1')),
        close: () => dataSource.destroy(),
      };
    },
  },
  'a read of the gateway': {
    use: 'requests',
    width: 4,
    open: async (url) => {
      const pool = new QueryPool(url, POOL);
      return { run: () => pool.query('SELECT 1'), close: () => pool.close() };
    },
  },
  'a list of logs': {
    use: 'logReading',
    width: 12,
    open: readingLogs((logs) => logs.read('SELECT 1', [])),
  },
  'an export of logs': {
    use: 'logReading',
    width: 4,
    open: readingLogs((logs) => logs.each('SELECT 1', [], ignore)),
  },
  'a rollup of the worker': {
    use: 'background',
    width: 4,
    open: async (url) => {
      const dataSource = await createDataSource(url, POOL, 'background').initialize();
      return { run: () => dataSource.query('SELECT 1'), close: () => dataSource.destroy() };
    },
  },
  'a statement of the shipper': {
    use: 'background',
    width: 4,
    open: async (connectionString) => {
      const config = { connectionString, max: POOL, application_name: 'test' };
      const pool = postgresPool('background', config, ignore);
      return { run: () => pool.query('SELECT 1'), close: () => pool.end() };
    },
  },
  'a job of a queue': {
    use: 'queues',
    width: 4,
    open: async (url) => {
      const backend = new QueueBackend({ databaseUrl: new Secret(url), redisUrl: undefined });
      const queue = new Queue('silence', await backend.prepare());
      queue.on('error', ignore);
      return { run: () => queue.add('one', {}), close: () => queue.close() };
    },
  },
};

/** A rejection also arrives late where an operation first waits for a connection. */
const MARGIN_MS = 3_000;

async function within(work: Promise<unknown>, ms: number): Promise<'answered' | 'refused' | 'never'> {
  const settled = work.then(
    () => 'answered' as const,
    () => 'refused' as const,
  );
  return Promise.race([settled, sleep(ms).then(() => 'never' as const)]);
}

describe.concurrent('a PostgreSQL connection that falls silent', () => {
  const started = new Started();
  let database: TestDatabase;

  beforeAll(async () => {
    database = await freshDatabase();
  });
  afterAll(async () => {
    await started.end();
    await database.drop();
  });

  async function opened({ open }: Way) {
    const { proxy, url } = await TcpProxy.before(database.url);
    started.add(proxy, (it) => it.stop());
    const way = started.add(await open(url), (it) => it.close());
    await eventually(() => way.run().then(() => true), { what: 'the first answer' });
    return { proxy, way };
  }

  it.each(Object.entries(WAYS))('costs %s its time limit, and nothing afterwards', async (_, way) => {
    const { connectMs, commandMs } = POSTGRES_TIMEOUTS[way.use];
    const { proxy, way: opening } = await opened(way);
    await Promise.all(Array.from({ length: way.width }, () => opening.run()));

    proxy.mode = 'blackhole';
    const during = Array.from({ length: way.width }, () =>
      within(opening.run(), connectMs + 2 * commandMs + MARGIN_MS),
    );
    expect(new Set(await Promise.all(during))).toEqual(new Set(['refused']));

    proxy.mode = 'pass';
    const after = Array.from({ length: way.width }, () =>
      within(
        eventually(() => opening.run().then(() => true), { what: 'an answer' }),
        connectMs + commandMs,
      ),
    );
    expect(new Set(await Promise.all(after))).toEqual(new Set(['answered']));
  });

  it('costs the change bus five seconds after its next check, and then it listens again', async () => {
    const { proxy, url } = await TcpProxy.before(database.url);
    started.add(proxy, (it) => it.stop());
    const feed = started.add(new PostgresChangeFeed(new Secret(url)), (it) => it.onApplicationShutdown());
    let stood = 0;
    feed.subscribe((change) => {
      if (change === null) stood += 1;
    });
    await eventually(() => stood === 1, { what: 'the first subscription' });

    proxy.mode = 'blackhole';
    await sleep(1_000);
    proxy.mode = 'pass';
    await eventually(() => stood === 2, { withinMs: 20_000, what: 'the second subscription' });
  });

  it('costs a command of the operator its connection time when the server accepts and never responds', async () => {
    const { proxy, url } = await TcpProxy.before(database.url);
    started.add(proxy, (it) => it.stop());
    proxy.mode = 'halfopen';
    const client = postgresClient('commands', { connectionString: url, application_name: 'test' });

    expect(await within(client.connect(), POSTGRES_TIMEOUTS.commands.connectMs + MARGIN_MS)).toBe('refused');
  });
});
