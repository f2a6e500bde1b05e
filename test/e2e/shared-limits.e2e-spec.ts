import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Administration, type CreatedKey } from '../support/administration.js';
import { type Answer, jsonOf } from '../support/http-client.js';
import { OwnRedis } from '../support/own-redis.js';
import { portRange } from '../support/ports.js';
import { type OwnService, startService } from '../support/service.js';
import { sharedStore } from '../support/shared-store.js';
import { Started } from '../support/started.js';
import { steadyLoad } from '../support/steady-load.js';
import { BillingUpstream, priceOf } from '../support/upstreams/billing.js';
import { eventually, inParallel, sleep } from '../support/waiting.js';

/** Two instances of one gateway process each, which share PostgreSQL and, where this machine has one, Redis. */
const started = new Started();
const instances: OwnService[] = [];
let redis: OwnRedis | null;
let administration: Administration;
let upstream: BillingUpstream;
let virtualKey: string;

beforeAll(async () => {
  const store = started.add(await sharedStore(), (it) => it.stop());
  redis = await OwnRedis.start();
  if (redis) started.add(redis, (it) => it.kill());
  const egressPorts = await portRange(4);
  upstream = started.add(await BillingUpstream.start(egressPorts), (it) => it.stop());
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-shared-limits-'));
  started.add(folder, (it) => rmSync(it, { recursive: true, force: true }));
  for (const name of ['one', 'two']) {
    const instance = await startService({
      dataDir: join(folder, name),
      bootstrapDir: store.bootstrapDir ?? join(folder, 'one'),
      egressPorts,
      env: {
        ...store.env,
        DATABASE_URL: store.databaseUrl,
        ...(redis ? { REDIS_URL: redis.url } : {}),
        GATEHOUSE_PROCESSES: '1',
        GATEHOUSE_DRAIN_DELAY_MS: '0',
      },
    });
    instances.push(started.add(instance, (it) => it.dispose()));
  }
  administration = new Administration(instances[0] as OwnService);
  virtualKey = await administration.createVirtualKey({
    name: 'billing',
    secret: 'sk-billing',
    customHost: `${upstream.url}/v1`,
  });
});
afterAll(() => started.end());

const bodyOf = (maxTokens = 10, user = 'plain'): string =>
  JSON.stringify({
    model: 'gpt-4o-mini',
    max_tokens: maxTokens,
    messages: [{ role: 'user', content: 'Hello' }],
    stream: user === 'silent',
    user,
  });
const callOf = (key: CreatedKey, body: string, slug: string) => ({
  method: 'POST',
  path: '/v1/chat/completions',
  headers: {
    'x-gateway-api-key': key.key,
    'x-gateway-virtual-key': slug,
    'content-type': 'application/json',
  },
  body,
});
const ask = (key: CreatedKey, at: number, { body = bodyOf(), slug = virtualKey } = {}): Promise<Answer> =>
  (instances[at % 2] as OwnService).client.call(callOf(key, body, slug));
const statusesOf = async (times: number, send: (at: number) => Promise<Answer>): Promise<number[]> => {
  const statuses: number[] = [];
  for (let at = 0; at < times; at++) statuses.push((await send(at)).status);
  return statuses;
};
const admitted = (statuses: readonly number[]): number => statuses.filter((status) => status === 200).length;
const keyWith = (limits: object): Promise<CreatedKey> =>
  administration.createKey('limited', ['completions.write'], limits);

describe('limits of two instances', () => {
  it('a rate holds after bursts, and concurrency too', { timeout: 180_000 }, async () => {
    const rated = await keyWith({ rate_limits: { type: 'requests', unit: 'rpm', value: 600 } });
    const counted = await keyWith({ rate_limits: { type: 'concurrency', value: 2 } });
    let inBursts = 0;
    const began = performance.now();
    for (let burst = 0; burst < 5; burst++) {
      const all = Array.from({ length: 12 }, (_, at) => at);
      const statuses = await inParallel(all, 12, async (at) => (await ask(rated, at)).status);
      inBursts += admitted(statuses);
      await sleep(1_700);
    }

    const asked = await steadyLoad({
      perSecond: 80,
      forMs: 25_000,
      send: async (at) => (await ask(rated, at)).status,
    });

    const statuses = asked.map(({ status }) => status);
    const total = inBursts + admitted(statuses);
    console.log(`${total} of ${60 + asked.length} requests in ${Math.round(performance.now() - began)} ms`);
    // What a process leases near the end and does not use is at most a hundredth.
    expect(total).toBeLessThanOrEqual(600);
    expect(total).toBeGreaterThanOrEqual(594);
    expect(statuses.filter((status) => status !== 200 && status !== 429)).toEqual([]);

    const open = (at: number) => {
      const { client } = instances[at % 2] as OwnService;
      return client.open({ ...callOf(counted, bodyOf(10, 'silent'), virtualKey), fresh: true });
    };
    const streams = await Promise.all(Array.from({ length: 10 }, (_, at) => open(at)));
    for (const { request, stream } of streams) {
      stream.on('error', () => undefined);
      request.destroy();
    }
    expect(admitted(streams.map(({ status }) => status))).toBe(2);
  });

  const FIVE = { type: 'requests', unit: 'rph', value: 5 };
  const MANY = { ...FIVE, value: 1_000 };
  const update = async (path: string, body: object): Promise<void> => {
    await administration.ask('PUT', path, body);
    await sleep(2_000);
  };
  const workspaceOf = async (name: string, more: object) => {
    const { id } = await administration.ask('POST', '/v1/admin/workspaces', { name, ...more });
    const slug = await administration.createVirtualKey({
      name: `billing of ${name}`,
      secret: 'sk-billing',
      customHost: `${upstream.url}/v1`,
      workspaceId: id,
    });
    return {
      id: id as string,
      slug,
      key: await administration.createKey(name, ['completions.write'], { workspace_id: id }),
    };
  };

  it.each([
    [
      'an API key',
      async () => {
        const key = await keyWith({ rate_limits: FIVE });
        return {
          key,
          slug: virtualKey,
          raise: () => update(`/v1/api-keys/${key.id}`, { rate_limits: MANY }),
        };
      },
    ],
    [
      'an API key whose usage is reset',
      async () => {
        const key = await keyWith({ rate_limits: FIVE });
        return {
          key,
          slug: virtualKey,
          raise: () => update(`/v1/api-keys/${key.id}`, { reset_usage: true }),
        };
      },
    ],
    [
      'a virtual key',
      async () => {
        const customHost = `${upstream.url}/v1`;
        const slug = await administration.createVirtualKey({ name: 'limited', secret: 'sk-1', customHost });
        await update(`/v1/virtual-keys/${slug}`, { rate_limits: FIVE });
        return {
          key: await keyWith({}),
          slug,
          raise: () => update(`/v1/virtual-keys/${slug}`, { rate_limits: MANY }),
        };
      },
    ],
    [
      'a workspace',
      async () => {
        const { id, ...rest } = await workspaceOf('limited workspace', { rate_limits: [FIVE] });
        return { ...rest, raise: () => update(`/v1/admin/workspaces/${id}`, { rate_limits: [MANY] }) };
      },
    ],
    [
      'a policy',
      async () => {
        const { id, ...rest } = await workspaceOf('workspace with a policy', {});
        const policy = await administration.ask('POST', '/v1/policies/rate-limits', {
          conditions: [{ key: 'provider', value: '*' }],
          group_by: [{ key: 'api_key' }],
          workspace_id: id,
          ...FIVE,
        });
        return { ...rest, raise: () => update(`/v1/policies/rate-limits/${policy.id}`, { value: 1_000 }) };
      },
    ],
  ])(
    '%s admits more within two seconds of being raised, also after refusals',
    { timeout: 120_000 },
    async (_what, make) => {
      const { key, slug, raise } = await make();
      expect(admitted(await statusesOf(8, (at) => ask(key, at, { slug })))).toBe(5);

      await raise();

      expect(admitted(await statusesOf(5, (at) => ask(key, at, { slug })))).toBe(5);
    },
  );

  it('a budget admits every request that fits, in sequence, and is not exhausted by one that does not', async () => {
    const cost = priceOf(bodyOf(), 10);
    const key = await keyWith({ usage_limits: { credit_limit: (60 * cost) / 1e9 } });
    const large = bodyOf(16_000);

    expect((await ask(key, 0, { body: large })).status).toBe(402);
    expect(jsonOf(await administration.call('GET', `/v1/api-keys/${key.id}`))).toMatchObject({
      status: 'active',
      usage_limits: { usage: 0 },
    });
    expect(admitted(await statusesOf(60, (at) => ask(key, at)))).toBe(60);
    expect((await ask(key, 0)).status).toBe(402);
    await eventually(
      async () => jsonOf(await administration.call('GET', `/v1/api-keys/${key.id}`)).status === 'exhausted',
      { what: 'an exhausted budget' },
    );
  });

  const verbose = async () =>
    jsonOf(await (instances[0] as OwnService).client.call({ path: '/readyz?verbose' }));
  const metric = async (name: string): Promise<number> => {
    const { body } = await (instances[0] as OwnService).client.call({ path: '/metrics' });
    return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(body.toString())?.[1]);
  };

  it('Redis unavailable: open limits let requests pass and count each, closed ones refuse, and readiness reports it', async ({
    skip,
  }) => {
    if (!redis) return skip('There is no redis-server on this machine.');
    const rate = { type: 'requests', unit: 'rpm', value: 3 };
    const open = await keyWith({ rate_limits: rate });
    const closed = await keyWith({ rate_limits: { ...rate, on_store_failure: 'closed' } });
    for (const key of [open, closed]) expect((await ask(key, 0)).status).toBe(200);
    await redis.kill();
    await eventually(async () => (await metric('gatehouse_limits_store_unavailable')) === 1, {
      what: 'the outage',
    });
    const before = await metric('gatehouse_limits_failed_open_total');

    const passed = await statusesOf(20, () => ask(open, 0));
    const refused = await ask(closed, 0);

    expect(admitted(passed)).toBe(20);
    expect([refused.status, jsonOf(refused).error.code]).toEqual([503, 'limits_unavailable']);
    expect((await metric('gatehouse_limits_failed_open_total')) - before).toBe(20);
    const { status, checks } = await verbose();
    expect(status).toBe('degraded');
    expect(checks).toContainEqual({
      name: 'limits',
      status: 'degraded',
      ms: expect.any(Number),
      detail: expect.stringMatching(/Rates are not limited since 20\d\d-/),
    });

    await redis.start();
    await eventually(async () => (await verbose()).status === 'ready', {
      withinMs: 20_000,
      what: 'Redis again',
    });
    await eventually(async () => (await ask(closed, 0)).status === 200, { what: 'the closed limit' });
    expect(await metric('gatehouse_limits_store_unavailable')).toBe(0);
    expect((await statusesOf(8, () => ask(open, 0))).filter((each) => each === 429).length).toBeGreaterThan(
      4,
    );
  });
});
