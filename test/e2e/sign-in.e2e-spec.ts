import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, jsonOf } from '../support/http-client.js';
import { World } from '../support/world.js';

/** Signing in through the running service: two gateway processes in front of the administration. */
let world: World;
let cookie = '';
beforeAll(async () => {
  world = await World.create('sign-in');
});
afterAll(() => world.close());

const PASSWORD = 'seven-lanterns-in-quiet-harbour';
const OWN = { 'sec-fetch-site': 'same-origin', 'x-gateway-csrf': '1' };

/** Over a connection of its own, so that either process may get it. */
const call = (
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: object,
): Promise<Answer> =>
  world.service.client.call({ method, path, headers, ...(body ? { body } : {}), fresh: true });

const cookieOf = (answer: Answer): string =>
  answer.rawHeaders.find(([name]) => name.toLowerCase() === 'set-cookie')?.[1].split(';')[0] ?? '';

describe('the owner of a first start', () => {
  it('follows the set-up link once and is signed in', async () => {
    const { setup_url, base_url } = world.service.bootstrap;
    expect(setup_url.startsWith(`${base_url}/ui/set-up#`)).toBe(true);
    expect(world.service.output).toContain('bootstrap.json');
    expect(world.service.output).not.toContain(setup_url);
    const token = new URL(setup_url).hash.slice(1);
    const answer = await call('POST', '/v1/auth/set-up', OWN, { token, password: PASSWORD });

    expect(answer.status, answer.body.toString()).toBe(200);
    cookie = cookieOf(answer);
    for (let round = 0; round < 6; round++)
      expect(jsonOf(await call('GET', '/v1/auth/session', { cookie }))).toMatchObject({
        user: { role: 'owner' },
      });
    expect((await call('POST', '/v1/auth/set-up', OWN, { token, password: PASSWORD })).status).toBe(410);
  });

  it('signs in with the password from then on', async () => {
    const answer = await call('POST', '/v1/auth/sign-in', OWN, {
      email: 'owner@localhost',
      password: PASSWORD,
    });

    expect(answer.status, answer.body.toString()).toBe(200);
    cookie = cookieOf(answer);
  });
});

describe('the cookie of a session', () => {
  const MODELS = ['/v1/chat/completions', '/v1/models', '/v1/proxy/v1/auth/session', '/v1/anything/at/all'];

  it.each(MODELS)('is no credential on the data plane: %s', async (path) => {
    const before = world.upstream.ledger.length;
    const headers = { cookie, ...OWN, 'x-gateway-virtual-key': world.virtualKey };
    for (const method of ['GET', 'POST'])
      expect(
        (await call(method, path, headers, method === 'POST' ? { model: 'm', messages: [] } : undefined))
          .status,
      ).toBe(401);
    expect(world.upstream.ledger).toHaveLength(before);
  });

  it('is in the way of no application there, and reaches no provider', async () => {
    world.upstream.on('/base/v9/cookies', { body: 'ok' });
    const answer = await call('GET', '/v1/cookies', { ...world.headers, cookie });

    expect(answer.status).toBe(200);
    const received = world.upstream.ledger.at(-1);
    expect(JSON.stringify(received?.headers)).not.toContain(cookie.split('=')[1]);
    expect(received?.headers.some(([name]) => name.toLowerCase() === 'cookie')).toBe(false);
  });

  it('cannot be replaced or removed by a provider', async () => {
    world.upstream.on('/base/v9/hostile', {
      headers: [
        ['Set-Cookie', 'gatehouse_session=planted; Path=/'],
        ['Set-Cookie', '__Host-gatehouse=planted; Path=/; Secure'],
        ['Clear-Site-Data', '"*"'],
        ['Set-Cookie', 'theirs=1'],
      ],
      body: 'ok',
    });
    const { rawHeaders } = await call('GET', '/v1/hostile', world.headers);
    const kept = rawHeaders.filter(([name]) => /^(set-cookie|clear-site-data)$/i.test(name));

    expect(kept).toEqual([['Set-Cookie', 'theirs=1']]);
  });

  it('beside a key is ambiguous for the administration', async () => {
    const answer = await call('GET', '/v1/admin/me', { cookie, 'x-gateway-api-key': world.apiKey.key });

    expect([answer.status, jsonOf(answer).error.code]).toEqual([400, 'ambiguous_credentials']);
  });

  it('changes nothing for a page of another origin, and a sign-out ends it in both processes', async () => {
    const evil = { cookie, 'x-gateway-csrf': '1', 'sec-fetch-site': 'cross-site' };
    expect((await call('POST', '/v1/auth/sign-out', evil)).status).toBe(403);
    const { host } = new URL(world.service.baseUrl);
    const old = { cookie, 'x-gateway-csrf': '1', origin: `http://${host}`, host };
    expect((await call('POST', '/v1/auth/sign-out', old)).status).toBe(200);
    for (let round = 0; round < 6; round++)
      expect(jsonOf(await call('GET', '/v1/auth/session', { cookie })).error.code).toBe('session_ended');
  });
});
