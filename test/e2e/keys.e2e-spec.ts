import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CreatedKey } from '../support/administration.js';
import { type Answer, jsonOf } from '../support/http-client.js';
import { rawExchange } from '../support/raw-client.js';
import { expectRefusal, Vitals } from '../support/refusals.js';
import { header } from '../support/upstreams/echo.js';
import { inParallel, sleep } from '../support/waiting.js';
import { World } from '../support/world.js';

/** Section F: API keys, from both sides of the service. */
const REVOCATION_MS = 2_000;
/** `REVOCATIONS=200 npx vitest run --project e2e test/e2e/keys -t F11` is the long run. */
const REVOCATIONS = Number(process.env['REVOCATIONS'] ?? 40);
const REVOCATIONS_AT_ONCE = 4;
/** So long nobody let the key pass: nobody will any more. */
const QUIET_MS = 600;
/** Long enough that a busy machine asks twice before it is over. */
const SHORT_OVERLAP_MS = 5_000;

let world: World;
let vitals: Vitals;

beforeAll(async () => {
  world = await World.create('keys');
  vitals = new Vitals(world.service);
});
afterAll(async () => {
  await vitals.check();
  await world.close();
});

const probe = (key: string, headers: Record<string, string> = {}): Promise<Answer> =>
  world.service.client.call({
    path: '/v1/probe',
    headers: { 'x-gateway-virtual-key': world.virtualKey, 'x-gateway-api-key': key, ...headers },
  });

/** The status on a connection of its own, so that any of the gateway processes may answer. */
async function freshStatus(key: string): Promise<number> {
  const headers = { 'x-gateway-virtual-key': world.virtualKey, 'x-gateway-api-key': key };
  return (await world.service.client.call({ path: '/v1/probe', headers, fresh: true })).status;
}

const aKey = (): Promise<CreatedKey> =>
  world.administration.createKey(`keys-${randomBytes(4).toString('hex')}`);

const changedAt = (key: string, at: number): string => {
  const other = key[at] === 'a' ? 'b' : 'a';
  return `${key.slice(0, at)}${other}${key.slice(at + 1)}`;
};

/** Like the key, and not it. */
const guessed = (key: string): string => changedAt(key, 20);

describe('F: a key that is none', () => {
  const bad: readonly (readonly [id: string, what: string, make: (key: string) => string])[] = [
    ['F01', 'nothing but spaces', () => '   '],
    ['F02', 'random text', () => 'nonsense'],
    ['F02', 'a well-formed key that was never issued', () => `gw_ws_${'a'.repeat(43)}000000`],
    ['F02', 'another prefix', (key) => key.replace(/^gw_[a-z]+_/, 'gw_admin_')],
    ['F02', 'a wrong checksum', (key) => changedAt(key, key.length - 1)],
    ['F02', 'one character changed', (key) => changedAt(key, 20)],
    ['F02', 'cut short', (key) => key.slice(0, -1)],
    ['F02', 'one character more', (key) => `${key}a`],
    ['F02', 'lower case', (key) => key.toLowerCase()],
    ['F02', 'upper case', (key) => key.toUpperCase()],
    ['F03', 'with Bearer before it', (key) => `Bearer ${key}`],
    ['F03', 'twice in one header', (key) => `${key}, ${key}`],
    ['F04', 'SQL', () => "' OR 1=1--"],
    ['F04', 'more SQL', () => "gw_ws_' UNION SELECT * FROM api_keys--"],
    ['F04', 'an expression', () => '${jndi:ldap://127.0.0.1/x}'],
    ['F04', 'an object', () => '{"$gt":""}'],
    ['F04', 'an LDAP filter', () => '*)(uid=*))(|(uid=*'],
  ];

  it.each(bad)('%s: %s is refused', async (_, __, make) => {
    world.upstream.reset();
    const answer = await probe(make(world.apiKey.key));
    expect(answer.status).toBe(401);
    expectRefusal(answer.body, 'unauthenticated');
    expect(world.upstream.ledger).toEqual([]);
  });

  it('F01: no key at all is refused', async () => {
    const answer = await world.service.client.call({
      path: '/v1/probe',
      headers: { 'x-gateway-virtual-key': world.virtualKey },
    });
    expect(answer.status).toBe(401);
    expectRefusal(answer.body, 'unauthenticated');
  });

  it('F04: a key of 100 KB is too large a header', async () => {
    const { answers } = await rawExchange(
      world.service.baseUrl,
      `GET /v1/probe HTTP/1.1\r\nhost: g\r\nx-gateway-api-key: ${'a'.repeat(100_000)}\r\n\r\n`,
      { answers: 1 },
    );
    expect(answers.map(({ status }) => status)).toEqual([431]);
  });

  it('F03: two key headers that differ are refused', async () => {
    const other = await aKey();
    const { answers } = await rawExchange(
      world.service.baseUrl,
      `GET /v1/probe HTTP/1.1\r\nhost: g\r\nx-gateway-api-key: ${world.apiKey.key}\r\nx-gateway-api-key: ${other.key}\r\nx-gateway-virtual-key: ${world.virtualKey}\r\n\r\n`,
      { answers: 1 },
    );
    expect(answers.map(({ status }) => status)).toEqual([expect.toBeOneOf([400, 401])]);
  });

  it('F05: a key that ended is reported to its holder alone: with any other secret it is as unknown as any', async () => {
    const revoked = await aKey();
    const expired = await aKey();
    expect((await probe(expired.key)).status).toBe(200);
    const soon = Date.now() + 1_200;
    await world.administration.ask('PUT', `/v1/api-keys/${expired.id}`, {
      expires_at: new Date(soon).toISOString(),
    });
    await world.administration.deleteKey(revoked.id);
    await sleep(Math.max(REVOCATION_MS, soon - Date.now()));
    const answers = await Promise.all([
      probe(`gw_ws_${'b'.repeat(49)}`),
      probe(guessed(revoked.key)),
      probe(guessed(expired.key)),
    ]);
    const shape = (answer: Answer): unknown => {
      const { error } = jsonOf(answer);
      delete error.request_id;
      const names = answer.rawHeaders
        .map(([name]) => name.toLowerCase())
        .filter((name) => name !== 'x-gateway-request-id');
      return { status: answer.status, error, names };
    };
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401]);
    expect(shape(answers[1])).toEqual(shape(answers[0]));
    expect(shape(answers[2])).toEqual(shape(answers[0]));
    const told = (await Promise.all([probe(revoked.key), probe(expired.key)])).map(jsonOf);
    expect(told.map(({ error }) => error.code)).toEqual(['api_key_ended', 'api_key_ended']);
    expect(told[0].error.message).toContain('revoked');
    expect(told[1].error.message).toContain('expired');
  });

  it('F09: guessing from one address is slowed, and a valid key from it still works', async () => {
    // On one connection, one after the other without waiting: nobody guesses faster, and a slow client is no excuse.
    const guess = `GET /v1/probe HTTP/1.1\r\nhost: g\r\nx-gateway-api-key: gw_ws_guess\r\nx-gateway-virtual-key: ${world.virtualKey}\r\n\r\n`;
    const { answers } = await rawExchange(world.service.baseUrl, guess.repeat(200), { answers: 200 });
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401, 429]));
    const slowed = answers.find(({ status }) => status === 429);
    expect(slowed?.headers.get('retry-after')).toBeTruthy();
    expect((await probe(world.apiKey.key)).status).toBe(200);
    await sleep(1_100);
  });

  it.each([
    [
      'the query',
      (key: string) => ({ path: `/v1/probe?api_key=${key}&x-gateway-api-key=${key}`, headers: {} }),
    ],
    ['a cookie', (key: string) => ({ path: '/v1/probe', headers: { cookie: `x-gateway-api-key=${key}` } })],
    ['the path', (key: string) => ({ path: `/v1/${key}/probe`, headers: {} })],
    [
      'the body',
      (key: string) => ({
        path: '/v1/probe',
        headers: {},
        method: 'POST',
        body: { api_key: key, 'x-gateway-api-key': key },
      }),
    ],
    [
      'Basic credentials',
      (key: string) => ({
        path: '/v1/probe',
        headers: { authorization: `Basic ${Buffer.from(`:${key}`).toString('base64')}` },
      }),
    ],
  ])('F18: a key in %s is no key', async (_, make) => {
    const { headers, ...call } = make(world.apiKey.key);
    world.upstream.reset();
    const answer = await world.service.client.call({
      ...call,
      headers: { 'x-gateway-virtual-key': world.virtualKey, ...headers },
    });
    expect(answer.status).toBe(401);
    expect(world.upstream.ledger).toEqual([]);
  });

  it('F18: a key in a query is masked in the log', async () => {
    world.upstream.on('/base/v9/masked', { body: '{}' });
    const answer = await world.send({
      path: `/v1/masked?api_key=${world.apiKey.key}&token=${world.clientSecret}&keep=1`,
    });
    const row = await world.logs.row(answer.requestId);
    expect(row.path).toContain('keep=1');
    expect(row.path).not.toContain(world.apiKey.key.slice(-20));
  });

  it('F19: a gateway key where the provider’s belongs is refused and goes nowhere', async () => {
    world.upstream.reset();
    const headers = { ...world.hostHeaders(world.upstream.url), authorization: `Bearer ${world.apiKey.key}` };
    const answer = await world.send({ path: '/v1/probe', headers }, 'at most once');
    expect(answer.status).toBe(400);
    expectRefusal(answer.body, 'gateway_key_in_authorization');
    const alone = await world.send(
      {
        path: '/v1/probe',
        headers: {
          ...world.hostHeaders(world.upstream.url),
          'x-gateway-api-key': '',
          authorization: `Bearer ${world.apiKey.key}`,
        },
      },
      'at most once',
    );
    expect([400, 401]).toContain(alone.status);
    expect(world.upstream.ledger).toEqual([]);
  });

  it('an admin key administers and calls no models', async () => {
    world.upstream.reset();
    const answer = await probe(world.service.bootstrap.admin_api_key);
    expect(answer.status).toBe(403);
    expectRefusal(answer.body, 'forbidden');
    expect(world.upstream.ledger).toEqual([]);
  });

  it('a key without completions.write calls no models', async () => {
    world.upstream.reset();
    const { key } = await world.administration.createKey('reader', ['logs.list']);
    const answer = await probe(key);
    expect(answer.status).toBe(403);
    expectRefusal(answer.body, 'forbidden');
    expect(world.upstream.ledger).toEqual([]);
  });
});

describe('F10: a secret is shown once', () => {
  it('with no-store, and never again in list, read or update', async () => {
    const { workspace_id } = world.service.bootstrap;
    const created = await world.administration.call('POST', '/v1/api-keys/workspace/service', {
      name: 'once',
      workspace_id,
      scopes: ['logs.list'],
    });
    expect(created.status).toBeLessThan(300);
    expect(created.headers['cache-control']).toBe('no-store');
    const { id, key } = jsonOf(created);
    expect(key).toMatch(/^gw_[a-z]+_[0-9A-Za-z]{43,55}$/);
    world.canaries.watch('shown-once', key);
    world.keep('read', await world.administration.call('GET', `/v1/api-keys/${id}`));
    world.keep(
      'list',
      await world.administration.call('GET', `/v1/api-keys?workspace_id=${workspace_id}&page_size=100`),
    );
    world.keep('update', await world.administration.call('PUT', `/v1/api-keys/${id}`, { name: 'twice' }));
    const listed = jsonOf(
      await world.administration.call('GET', `/v1/api-keys?workspace_id=${workspace_id}&page_size=100`),
    );
    expect(listed).toMatchObject({ object: 'list' });
    expect(listed.data.map((entry: { id: string }) => entry.id)).toContain(id);
    for (const entry of listed.data) {
      expect(entry.key ?? '').not.toBe(key);
      expect(Object.keys(entry).filter((name) => /hash|digest|pepper/i.test(name))).toEqual([]);
    }
    const read = jsonOf(await world.administration.call('GET', `/v1/api-keys/${id}`));
    expect(read).toMatchObject({
      id,
      name: 'twice',
      object: 'api-key',
      type: 'workspace-service',
      status: 'active',
      scopes: ['logs.list'],
    });
  });
});

/** The value that this share of all do not exceed: of fewer than 100, p99 is the largest. */
const rankOf = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(share * values.length) - 1] ?? Number.NaN;

/** When a key that all processes knew was good for the last time, in milliseconds since its revocation was asked for, and since it was confirmed. */
interface LastSuccess {
  readonly sinceAsked: number;
  readonly sinceConfirmed: number;
}

async function lastSuccessOfRevoked(): Promise<LastSuccess> {
  const key = await aKey();
  const warm = await inParallel(Array.from({ length: 16 }), 16, () => freshStatus(key.key));
  expect(new Set(warm)).toEqual(new Set([200]));
  const asked = Date.now();
  let [lastSuccess, confirmed] = [asked, Infinity];
  const deleted = world.administration.deleteKey(key.id).then(() => (confirmed = Date.now()));
  while (
    Date.now() - Math.max(lastSuccess, confirmed) <= QUIET_MS &&
    lastSuccess - confirmed <= 2 * REVOCATION_MS
  ) {
    // What was asked before the change arrived may be answered after it: the moment of asking counts.
    const moment = Date.now();
    const statuses = await inParallel(Array.from({ length: 8 }), 8, () => freshStatus(key.key));
    if (statuses.includes(200)) lastSuccess = moment;
    await sleep(10);
  }
  await deleted;
  return { sinceAsked: lastSuccess - asked, sinceConfirmed: Math.max(0, lastSuccess - confirmed) };
}

describe('F11: revocation', () => {
  it(
    `reaches every process within ${REVOCATION_MS} ms, p99 of ${REVOCATIONS}`,
    { timeout: 600_000 },
    async () => {
      const lasts = await inParallel(
        Array.from({ length: REVOCATIONS }),
        REVOCATIONS_AT_ONCE,
        lastSuccessOfRevoked,
      );

      const shown = (which: keyof LastSuccess): string => {
        const [p50, p99, max] = [0.5, 0.99, 1].map((share) =>
          rankOf(
            lasts.map((last) => last[which]),
            share,
          ),
        );
        return `p50 ${p50} ms, p99 ${p99} ms, max ${max} ms`;
      };
      console.log(
        `${REVOCATIONS} revocations, last success after they were asked for: ${shown('sinceAsked')}; confirmed: ${shown('sinceConfirmed')}`,
      );
      expect(
        rankOf(
          lasts.map(({ sinceConfirmed }) => sinceConfirmed),
          0.99,
        ),
      ).toBeLessThanOrEqual(REVOCATION_MS);
    },
  );

  it('a new key works in every process at once', async () => {
    const key = await aKey();
    const statuses = await inParallel(Array.from({ length: 24 }), 24, () => freshStatus(key.key));
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  it('a key whose scopes were taken stops calling models within the same time', async () => {
    const key = await aKey();
    await inParallel(Array.from({ length: 16 }), 16, () => freshStatus(key.key));
    await world.administration.ask('PUT', `/v1/api-keys/${key.id}`, { scopes: ['logs.list'] });
    await sleep(REVOCATION_MS);
    const statuses = await inParallel(Array.from({ length: 16 }), 16, () => freshStatus(key.key));
    expect(new Set(statuses)).toEqual(new Set([403]));
  });
});

describe('F16: rotation', () => {
  it('keeps the id, gives a new secret, and both work during the overlap', async () => {
    const old = await aKey();
    expect(await freshStatus(old.key)).toBe(200);
    const rotated = await world.administration.ask('POST', `/v1/api-keys/${old.id}/rotate`, {
      key_transition_period_ms: 1_800_000,
    });
    expect(rotated.id).toBe(old.id);
    expect(rotated.key).not.toBe(old.key);
    const until = Date.parse(rotated.key_transition_expires_at);
    expect(until - Date.now()).toBeGreaterThan(1_790_000);
    expect(until - Date.now()).toBeLessThanOrEqual(1_800_000);
    const statuses = await inParallel(Array.from({ length: 32 }), 16, (_, i) =>
      freshStatus(i % 2 === 0 ? old.key : rotated.key),
    );
    expect(new Set(statuses)).toEqual(new Set([200]));
    world.canaries.watch('rotated', rotated.key);
  });

  it('at most two secrets live: a second rotation waits for the promised overlap, or ends all old secrets', async () => {
    const first = await aKey();
    const rotation = `/v1/api-keys/${first.id}/rotate`;
    const second = await world.administration.ask('POST', rotation, {});
    expect((await world.administration.call('POST', rotation, {})).status).toBe(409);
    expect([await freshStatus(first.key), await freshStatus(second.key)]).toEqual([200, 200]);

    const third = await world.administration.ask('POST', rotation, { key_transition_period_ms: 0 });
    await sleep(REVOCATION_MS);
    expect([
      await freshStatus(first.key),
      await freshStatus(second.key),
      await freshStatus(third.key),
    ]).toEqual([401, 401, 200]);
  });

  it(`the old secret ends with its overlap, within ${REVOCATION_MS} ms`, async () => {
    const old = await aKey();
    const rotated = await world.administration.ask('POST', `/v1/api-keys/${old.id}/rotate`, {
      key_transition_period_ms: SHORT_OVERLAP_MS,
    });
    expect([await freshStatus(old.key), await freshStatus(rotated.key)]).toEqual([200, 200]);
    await sleep(Date.parse(rotated.key_transition_expires_at) - Date.now() + REVOCATION_MS);
    const statuses = await inParallel(Array.from({ length: 16 }), 16, () => freshStatus(old.key));
    expect(new Set(statuses)).toEqual(new Set([401]));
    expect(await freshStatus(rotated.key)).toBe(200);
  });

  it.each([-1, 1.5, '60000', 1e15])('an overlap of %j is refused', async (period) => {
    const key = await aKey();
    const answer = await world.administration.call('POST', `/v1/api-keys/${key.id}/rotate`, {
      key_transition_period_ms: period,
    });
    expect(answer.status).toBe(400);
    expectRefusal(answer.body, 'invalid_request');
  });
});

describe('the gateway key and the provider', () => {
  it('never meet, whichever header carried it', async () => {
    world.upstream.reset();
    const carriers: Record<string, string>[] = [
      { 'x-gateway-api-key': world.apiKey.key },
      { 'x-portkey-api-key': world.apiKey.key },
      { authorization: `Bearer ${world.apiKey.key}` },
      { 'x-api-key': world.apiKey.key },
    ];
    for (const headers of carriers)
      await world.send({
        path: '/v1/probe',
        headers: { ...headers, 'x-gateway-virtual-key': world.virtualKey },
      });
    expect(world.upstream.ledger).toHaveLength(carriers.length);
    for (const received of world.upstream.ledger) {
      expect(JSON.stringify(received.headers)).not.toContain(world.apiKey.key);
      expect(header(received, 'authorization')).toBe(`Bearer ${world.providerSecret}`);
    }
  });
});

describe('after all of this', () => {
  it('no secret appears anywhere', () => world.checkCanaries());
});
