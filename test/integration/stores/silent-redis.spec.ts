import { randomUUID } from 'node:crypto';
import { Queue, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RedisChangeFeed } from '../../../src/adapters/changes/redis-change-feed.js';
import {
  redisReplyWithin,
  connectForChanges,
  connectForRequests,
} from '../../../src/adapters/redis-connection.js';
import { Secret } from '../../../src/common/settings/secret.js';
import { REDIS_TIMEOUTS } from '../../../src/common/net/store-timeouts.js';
import { QueueBackend } from '../../../src/jobs/queues/queue-backend.js';
import { checkRedis } from '../../../src/cli/doctor/check-redis.js';
import { OwnRedis } from '../../support/own-redis.js';
import { Started } from '../../support/started.js';
import { type ProxyMode, TcpProxy } from '../../support/tcp-proxy.js';
import { eventually, sleep } from '../../support/waiting.js';

const redis = await OwnRedis.start();
const started = new Started();
const ignore = (): void => undefined;

beforeAll(() => started.add(redis, (it) => it?.kill()));
afterAll(() => started.end());

async function behind(): Promise<{ proxy: TcpProxy; url: Secret }> {
  const { proxy, url } = await TcpProxy.before(redis?.url ?? '');
  started.add(proxy, (it) => it.stop());
  return { proxy, url: new Secret(url) };
}

const SILENCES: readonly ProxyMode[] = ['blackhole', 'halfopen'];

describe.runIf(redis)('a Redis that accepts and never responds', { concurrent: true }, () => {
  it.each(SILENCES)('costs a request its response timeout only, and nothing after it (%s)', async (mode) => {
    const { proxy, url } = await behind();
    const client: Redis = started.add(connectForRequests(url, 'limits'), (it) => it.disconnect());
    await eventually(() => redisReplyWithin(client.ping()), { what: 'the first answer' });

    proxy.mode = mode;
    if (mode === 'halfopen') client.stream.destroy();
    const beganAt = performance.now();
    await expect(redisReplyWithin(client.ping())).rejects.toThrow('did not respond');
    expect(performance.now() - beganAt).toBeLessThan(1_000);
    await sleep(REDIS_TIMEOUTS.requests.commandMs + 1_000);

    proxy.mode = 'pass';
    const withinMs = REDIS_TIMEOUTS.requests.commandMs + 3_000;
    await eventually(() => redisReplyWithin(client.ping()), { withinMs, what: 'an answer' });
  });

  it('costs the publisher of a change its time limit, and the next one is published', async () => {
    const { proxy, url } = await behind();
    const wishes = { lazyConnect: true, maxRetriesPerRequest: 1 };
    const client = started.add(connectForChanges(url, wishes), (it) => it.disconnect());
    await client.publish('x', 'first');

    proxy.mode = 'blackhole';
    const { commandMs } = REDIS_TIMEOUTS.changes;
    const beganAt = performance.now();
    await expect(client.publish('x', 'lost')).rejects.toThrow();
    expect(performance.now() - beganAt).toBeLessThan(commandMs + 2_000);

    proxy.mode = 'pass';
    const withinMs = commandMs + 5_000;
    await eventually(() => client.publish('x', 'later').then(() => true), { withinMs, what: 'the next' });
  });

  it('costs the change bus a reconnection, after which its listeners drop their caches', async () => {
    const { proxy, url } = await behind();
    const feed = started.add(new RedisChangeFeed(url, 1_000), (it) => it.onApplicationShutdown());
    let stood = 0;
    feed.subscribe((change) => {
      if (change === null) stood += 1;
    });
    await eventually(() => stood === 1, { what: 'the first subscription' });

    proxy.mode = 'blackhole';
    await sleep(4_000);
    proxy.mode = 'pass';
    await eventually(() => stood === 2, { withinMs: 15_000, what: 'the second subscription' });
  });

  it('delays jobs by the time limit of queues, and none is lost', async () => {
    const { proxy, url } = await behind();
    const backend = new QueueBackend({ databaseUrl: undefined, redisUrl: url });
    const options = await backend.prepare();
    const name = `silence-${randomUUID()}`;
    const done: string[] = [];
    const worker = new Worker(
      name,
      async (job) => {
        done.push(job.name);
      },
      options,
    );
    started.add(worker, (it) => it.close(true)).on('error', ignore);
    const queue = started.add(new Queue(name, options), (it) => it.close()).on('error', ignore);
    await queue.add('before', {});
    await eventually(() => done.includes('before'), { what: 'the first job' });

    proxy.mode = 'blackhole';
    const adding = queue.add('during', {});
    await sleep(2_000);
    proxy.mode = 'pass';
    const withinMs = 2 * REDIS_TIMEOUTS.queues.commandMs;
    await eventually(() => done.includes('during'), { withinMs, what: 'the job of the silence' });
    await adding;
  });

  it('fails the check of doctor within its time limit', async () => {
    const { proxy, url } = await behind();
    proxy.mode = 'halfopen';
    const beganAt = performance.now();
    expect(await checkRedis(url)).toMatchObject([{ check: 'Redis', result: 'failed' }]);
    expect(performance.now() - beganAt).toBeLessThan(REDIS_TIMEOUTS.probing.commandMs + 2_000);
  });
});
