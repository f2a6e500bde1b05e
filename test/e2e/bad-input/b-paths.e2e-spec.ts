import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type RawAnswer, rawExchange } from '../../support/raw-client.js';
import { expectRefusal, Vitals } from '../../support/refusals.js';
import { CanaryListener } from '../../support/upstreams/canary-listener.js';
import { type Logged, World } from '../../support/world.js';

/** Section B: paths. Sent as raw bytes, because clients repair them on the way. */
let world: World;
let canary: CanaryListener;
let vitals: Vitals;

beforeAll(async () => {
  world = await World.create('paths');
  canary = await CanaryListener.start();
  vitals = new Vitals(world.service);
});
beforeEach(() => world.upstream.reset());
afterEach(async () => {
  await vitals.check();
  expect(canary.hits, 'the canary was reached').toBe(0);
});
afterAll(async () => {
  await canary.stop();
  await world.close();
});

async function ask(
  target: string,
  method = 'GET',
  logged: Logged = 'at most once',
  more = '',
): Promise<RawAnswer> {
  const headers = Object.entries(world.headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = method === 'POST' ? 'content-length: 2\r\ncontent-type: application/json\r\n' : '';
  const body = method === 'POST' ? '{}' : '';
  const head = `${method} ${target} HTTP/1.1\r\nhost: gateway.example\r\n${headers.join('')}${length}${more}\r\n${body}`;
  const { answers } = await rawExchange(world.service.baseUrl, head, { answers: 1 });
  const [answer] = answers;
  if (!answer) throw new Error('No answer came.');
  world.note(answer.headers.get('x-gateway-request-id') ?? '', logged);
  return answer;
}

const targets = (): string[] => world.upstream.ledger.map(({ target }) => target);

const REFUSED: readonly (readonly [id: string, target: string])[] = [
  ['B01', 'http://evil.com/v1/models'],
  ['B01', 'http://127.0.0.1:CAN/v1/models'],
  ['B01', '*'],
  ['B04', '/v1/../admin'],
  ['B04', '/v1/x/../../admin'],
  ['B04', '/v1/./models'],
  ['B05', '/v1/%2e%2e/admin'],
  ['B05', '/v1/.%2E/admin'],
  ['B05', '/v1/%2e/models'],
  ['B08', '/v1/..%2fadmin'],
  ['B08', '/v1/a%2f..%2fb'],
  ['B08', '/v1/..%5cadmin'],
  ['B08', '/v1/..\\admin'],
  ['B08', '/v1/a\\..\\b'],
  ['B12', '/v1/a%00b'],
  ['B12', '/v1/a%0d%0aX:1'],
  ['B12', '/v1/a%zz'],
  ['B29', '/v1/x#frag'],
  ['B29', '/v1/#@evil.com/x'],
];

describe('B: a path', () => {
  it.each(REFUSED.map(([id, target]) => ({ id, target })))('$id: $target is refused', async ({ target }) => {
    const answer = await ask(target.replace('CAN', String(canary.port)));
    expect(answer.status).toBe(400);
    expectRefusal(answer.body, 'path_invalid');
    expect(targets()).toEqual([]);
  });

  it.each(['/v1/a\0b', '/v1/a\u0001b', '/v1/a b', '/v1/a\u00ffb'])(
    'B12: raw bytes in %j are refused',
    async (target) => {
      const answer = await ask(target);
      expect(answer.status).toBe(400);
      expect(targets()).toEqual([]);
    },
  );

  it.each([
    '/v1/a%2fb',
    '/v1/files/%E2%82%AC/content',
    '/v1/models/org%2Fmodel',
    '/v1/x;v=1/y',
    '/v1/x:batch',
    '/v1/~me/*',
  ])('B10: %s is forwarded as it was written', async (target) => {
    const answer = await ask(target, 'GET', 'once');
    expect(answer.status).toBe(200);
    expect(targets()).toEqual([`/base/v9${target.slice(3)}`]);
  });

  it.each(['/v1//evil.com/x', '/v1///evil.com', '/v1/@evil.com/x', '/v1/:80/x'])(
    'B15, B17: %s cannot leave the provider that the virtual key names',
    async (target) => {
      const answer = await ask(target, 'GET', 'at most once');
      if (answer.status === 400) return;
      expect(answer.status).toBe(200);
      expect(targets()).toEqual([`/base/v9${target.slice(3)}`]);
    },
  );

  it.each(['/%76%31/models', '/v%31/x', '/V1/models', '/v2/models', '//v1/models', '/v1x/y'])(
    'B20: %s is not a path',
    async (target) => {
      const answer = await ask(target, 'GET', 'never');
      expect([400, 404]).toContain(answer.status);
      expect(targets()).toEqual([]);
    },
  );

  it('B20: / describes the gateway, and reaches no provider', async () => {
    expect((await ask('/', 'GET', 'never')).status).toBe(200);
    expect(targets()).toEqual([]);
  });

  it.each([
    ['/v1', '/base/v9'],
    ['/v1/', '/base/v9/'],
  ])("B20: %s is the provider's base URL", async (target, expected) => {
    expect((await ask(target, 'GET', 'once')).status).toBe(200);
    expect(targets()).toEqual([expected]);
  });

  it('B25: a path of the administration never goes to a provider, whatever the headers say', async () => {
    const answer = await ask('/v1/api-keys/organisation/service', 'GET', 'never');
    expect([404, 405]).toContain(answer.status);
    expect(targets()).toEqual([]);
  });

  it.each([
    '/v1/api%2Dkeys/organisation/service',
    '/v1/API-KEYS/organisation/service',
    '/v1/api-keys/',
    '/v1/api-keys//organisation/service',
    '/v1/api-keys%2forganisation%2fservice',
    '/v1/api-keys;x=1/organisation/service',
    '/v1/Virtual%2DKeys',
    '/v1/logs%2fexports',
    '/v1/audit-logs',
    '/v1/admin/users',
  ])('B26: %s is the administration’s in every spelling, and no provider gets the key', async (target) => {
    const answer = await ask(target, 'POST', 'never');
    expect([400, 403, 404, 405]).toContain(answer.status);
    expect(targets()).toEqual([]);
  });

  it.each(['?a=1&a=2&b=%2f..&c', '?', '?=&&', '?x=%zz', '?a=../..', '?x[]=1&y={z}|`^', "?q='or''='"])(
    'B30: the query %s is forwarded byte for byte',
    async (query) => {
      await ask(`/v1/x${query}`, 'GET', 'once');
      expect(targets()).toEqual([`/base/v9/x${query}`]);
    },
  );

  it('/v1/proxy/<path> forwards a path that would be the administration’s', async () => {
    const answer = await ask('/v1/proxy/api-keys/x?y=1', 'GET', 'once');
    expect(answer.status).toBe(200);
    expect(targets()).toEqual(['/base/v9/api-keys/x?y=1']);
  });

  it('15 KiB of path are forwarded whole or refused as too large', async () => {
    const long = `/v1/${'a'.repeat(15_000)}`;
    const answer = await ask(long, 'GET', 'at most once');
    if (answer.status === 200) expect(targets()).toEqual([`/base/v9${long.slice(3)}`]);
    else expect([400, 414, 431]).toContain(answer.status);
  });
});

describe('after all of this', () => {
  it('the log has one row per request', () => world.checkLog());
  it('no secret appears anywhere', () => world.checkCanaries());
});
