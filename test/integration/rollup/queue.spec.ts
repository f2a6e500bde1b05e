import { getQueueToken } from '@nestjs/bullmq';
import type { INestApplicationContext } from '@nestjs/common';
import { Queue } from 'bullmq';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Secret } from '../../../src/common/settings/secret.js';
import { uuidV7 } from '../../../src/common/ids/uuid-v7.js';
import { BoundedWorker } from '../../../src/jobs/queues/bounded-worker.js';
import { AGGREGATE_LOGS } from '../../../src/jobs/queues/aggregate-logs.queue.js';
import type { QueueSettings } from '../../../src/jobs/queues/queue-backend.js';
import { QueueBackend } from '../../../src/jobs/queues/queue-backend.js';
import { BullBatchQueue } from '../../../src/jobs/shipping/bull-batch-queue.js';
import { SweepBatches } from '../../../src/jobs/sweep-batches.js';
import { emptyDatabase, freshDatabase, type TestDatabase } from '../../support/database.js';
import { OwnRedis } from '../../support/own-redis.js';
import { freePort } from '../../support/ports.js';
import { ROLLUP_TABLES, rolledUp, startJobs, summedUp, waitingBatches } from '../../support/rollup.js';
import { storeBatch } from '../../support/stored-batches.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { eventually, sleep } from '../../support/waiting.js';

let database: TestDatabase;
const ownRedis = await OwnRedis.start();
beforeAll(async () => void (database = await freshDatabase()));
afterAll(async () => {
  await ownRedis?.kill();
  await database.drop();
});
beforeEach(() => database.dataSource.query(`TRUNCATE ${ROLLUP_TABLES}`));

const someRequests = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ model: `model-${at % 4}`, duration_ms: at }));

const untilAggregated = () =>
  eventually(async () => (await waitingBatches(database.dataSource)) === 0, { what: 'the aggregation' });

const expectCountedOnce = async () =>
  expect(await rolledUp(database.dataSource)).toEqual(await summedUp(database.dataSource));

const redisUrl = ownRedis?.url;
const backends: [string, () => QueueSettings][] = [
  ['PostgreSQL', () => ({ databaseUrl: new Secret(database.url), redisUrl: undefined })],
  ...(redisUrl
    ? [
        ['Redis', () => ({ databaseUrl: undefined, redisUrl: new Secret(redisUrl) })] as [
          string,
          () => QueueSettings,
        ],
      ]
    : []),
];

describe.each(backends)('the queue on %s', (_, settings) => {
  let jobs: INestApplicationContext;
  let announcer: BullBatchQueue;
  let queue: Queue;

  beforeEach(async () => {
    jobs = await startJobs(database.dataSource, settings());
    announcer = jobs.get(BullBatchQueue);
    queue = jobs.get<Queue>(getQueueToken(AGGREGATE_LOGS));
  });
  afterEach(() => jobs.close());

  it('has an announced batch aggregated because of the announcement: the sweep looks at none so young', async () => {
    await announcer.enqueue(await storeBatch(database.dataSource, someRequests(50)));

    await untilAggregated();
    await expectCountedOnce();
  });

  it('counts a batch once that is announced again and again while workers of two processes take jobs', async () => {
    const other = await startJobs(database.dataSource, settings());
    const batches = await Promise.all(
      Array.from({ length: 20 }, () => storeBatch(database.dataSource, someRequests(30))),
    );

    for (let round = 0; round < 5; round++)
      await Promise.all(
        batches.flatMap((batch) => [announcer.enqueue(batch), other.get(BullBatchQueue).enqueue(batch)]),
      );

    await untilAggregated();
    await expectCountedOnce();
    await other.close();
  });

  it('keeps nothing of finished jobs, so that each batch can be announced again', async () => {
    const early = uuidV7(Date.now());
    await announcer.enqueue(early);
    await eventually(async () => (await queue.getJobCountByTypes('wait', 'active', 'delayed')) === 0, {
      what: 'the end of the job',
    });
    expect(await queue.getJob(`batch-${early}`)).toBeUndefined();

    const batch = await storeBatch(database.dataSource, someRequests(3));
    await database.dataSource.query(
      'ALTER TABLE log_batches ADD CONSTRAINT broken CHECK (aggregated_at IS NULL) NOT VALID',
    );
    await announcer.enqueue(batch);
    await eventually(async () => (await queue.getDelayedCount()) === 1, {
      what: 'the first failure',
    });
    await database.dataSource.query('ALTER TABLE log_batches DROP CONSTRAINT broken');

    await untilAggregated();
    await expectCountedOnce();
  });

  it('finds a batch that was never enqueued', async () => {
    await storeBatch(database.dataSource, someRequests(10), { ageS: 31 });
    await storeBatch(database.dataSource, someRequests(10), { ageS: 5 });

    await jobs.get(SweepBatches).sweep();

    await eventually(async () => (await waitingBatches(database.dataSource)) === 1, {
      what: 'the sweep',
    });
  });
});

describe('the queue on PostgreSQL', () => {
  const settings = (url = database.url): QueueSettings => ({
    databaseUrl: new Secret(url),
    redisUrl: undefined,
  });

  it('is set up by several processes at once', async () => {
    const empty = await emptyDatabase();

    await Promise.all(Array.from({ length: 8 }, () => new QueueBackend(settings(empty.url)).prepare()));

    const client = new pg.Client(empty.url);
    await client.connect();
    const { rows } = await client.query(
      "SELECT count(*)::int AS tables FROM pg_tables WHERE schemaname = 'bullmq'",
    );
    expect(rows[0].tables).toBeGreaterThan(5);
    await client.end();
    await empty.drop();
  });

  it('continues after its connections were cut', async () => {
    const jobs = await startJobs(database.dataSource, settings());
    await jobs.get(BullBatchQueue).enqueue(await storeBatch(database.dataSource, someRequests(5)));
    await untilAggregated();

    await database.dataSource.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name IN ('gatehouse-queues', $1)`,
      [AGGREGATE_LOGS],
    );
    // One that is on its way just then fails with its connection; the batch is announced again, or swept.
    const batch = await storeBatch(database.dataSource, someRequests(5));
    const isTaken = (): Promise<boolean> =>
      jobs
        .get(BullBatchQueue)
        .enqueue(batch)
        .then(
          () => true,
          () => false,
        );
    await eventually(isTaken, { what: 'an announcement that is taken' });

    await untilAggregated();
    await expectCountedOnce();
    await jobs.close();
  });

  it('is awaited by a worker that starts while the database is unavailable, and that leaves the process to others', async () => {
    const { hostname, port } = new URL(database.url);
    const proxy = await TcpProxy.start({ host: hostname, port: Number(port) });
    const through = new URL(database.url);
    through.host = `127.0.0.1:${proxy.port}`;
    const options = await new QueueBackend(settings(through.href)).prepare();
    proxy.mode = 'refuse';

    const taken: unknown[] = [];
    let failures = 0;
    const worker = new BoundedWorker(
      'queue-of-an-outage',
      (job): Promise<void> => Promise.resolve(void taken.push(job.data)),
      options,
    );
    // One that asks without a rest would keep this very test from ending.
    worker.on('error', () => (failures += 1) > 1_000 && void worker.close());
    await sleep(2_500);
    expect(failures).toBeGreaterThan(0);
    expect(failures).toBeLessThan(50);

    proxy.mode = 'pass';
    const queue = new Queue('queue-of-an-outage', options);
    await queue.add('job', { of: 'this test' });
    await eventually(() => taken.length === 1, { what: 'the job' });
    await Promise.all([worker.close(), queue.close()]);
    await proxy.stop();
  });

  it('holds no more connections than it says, and none after it was closed', async () => {
    const jobs = await startJobs(database.dataSource, settings());
    const batches = await Promise.all(
      Array.from({ length: 30 }, () => storeBatch(database.dataSource, someRequests(5))),
    );
    const connections = async (): Promise<number> => {
      const [row] = await database.dataSource.query(
        `SELECT count(*)::int AS held FROM pg_stat_activity
         WHERE datname = current_database() AND application_name IN ('gatehouse-queues', $1)`,
        [AGGREGATE_LOGS],
      );
      return row.held;
    };
    await Promise.all(batches.map((batch) => jobs.get(BullBatchQueue).enqueue(batch)));
    expect(await connections()).toBeLessThanOrEqual(5);
    await untilAggregated();

    await jobs.close();

    await eventually(async () => (await connections()) === 0, {
      what: 'closed connections',
    });
  });
});

describe('the queue on an unavailable Redis', () => {
  it('gives an announcement up after two seconds, and the sweep aggregates by itself', async () => {
    const away = `redis://127.0.0.1:${await freePort()}`;
    const jobs = await startJobs(database.dataSource, { databaseUrl: undefined, redisUrl: new Secret(away) });
    await storeBatch(database.dataSource, someRequests(10), { ageS: 121 });

    await expect(jobs.get(BullBatchQueue).enqueue(uuidV7(Date.now()))).rejects.toThrow('in time');
    await jobs.get(SweepBatches).sweep();

    expect(await waitingBatches(database.dataSource)).toBe(0);
    await expectCountedOnce();

    await jobs.close();
  });
});
