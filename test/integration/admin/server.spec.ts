import { request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildAdministrationApi } from '../../../src/admin/openapi/document.js';
import { administer } from '../../support/administer.js';
import { AdminApp } from '../../support/admin-app.js';

const USER_KEYS = '/v1/api-keys/workspace/user';
const MIB = 1024 * 1024;
const nested = (depth: number) => `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`;

describe('the web server of the administration', () => {
  let app: AdminApp;
  beforeAll(async () => {
    app = await AdminApp.start();
    await app.app.listen(0, '127.0.0.1');
  });
  afterAll(() => app.close());

  const valid = () => JSON.stringify({ name: 'A', workspace_id: 'ws-default', scopes: ['logs.view'] });
  const post = (body: string, headers: Record<string, string> = {}) =>
    app.call('POST', USER_KEYS, { body, headers });

  /** Over a real socket, with the headers as they are; the request is left open when it announces more than it sends. */
  const raw = (headers: Record<string, string>, body: string) =>
    new Promise<{ status: number | undefined; connection: string | undefined }>((resolve, reject) => {
      const { port } = app.app.getHttpServer().address() as AddressInfo;
      const all = { 'x-gateway-api-key': app.first.admin_api_key, ...headers };
      const sent = httpRequest({ port, path: USER_KEYS, method: 'POST', headers: all }, (answer) => {
        resolve({ status: answer.statusCode, connection: answer.headers.connection });
        sent.destroy();
      });
      sent.on('error', reject).write(body);
    });

  it.each([
    ['application/json garbage', 415],
    ['application/jsonx', 415],
    ['application/json, text/plain', 415],
    ['text/plain', 415],
    ['text/json', 415],
    ['application/x-www-form-urlencoded', 415],
    ['multipart/form-data; boundary=x', 415],
    ['application/json; charset=utf-8', 200],
    ['Application/JSON', 200],
  ])('returns for a body of type "%s" status %i', async (type, status) => {
    const answer = await post(valid(), { 'content-type': type });

    expect(answer.status).toBe(status);
    if (status === 415) expect(answer.body.error.code).toBe('unsupported_media_type');
  });

  it.each([
    ['OPTIONS', '/v1/admin/me', 'GET, HEAD'],
    ['PUT', '/v1/admin/me', 'GET, HEAD'],
    ['PATCH', '/v1/configs/some-config', 'DELETE, GET, HEAD, PUT'],
    ['OPTIONS', '/v1/api-keys/revoke', 'POST'],
  ] as const)(
    'returns for %s %s status 405 and the methods of the path: %s',
    async (method, path, allowed) => {
      const answer = await app.call(method, path);
      expect([answer.status, answer.body.error.code]).toEqual([405, 'method_not_allowed']);
      expect(answer.headers['allow']).toBe(allowed);
    },
  );

  it.each([
    ['GET', '/v1/admin/me', 400, 'body_not_allowed'],
    ['GET', '/v1/admin/invites/accept', 405, 'method_not_allowed'],
    ['GET', '/v1/no-such-path', 404, 'not_found'],
  ] as const)('refuses the body of %s %s with %i %s', async (method, path, status, code) => {
    const answer = await app.call(method, path, { body: '{}' });
    expect([answer.status, answer.body.error.code]).toEqual([status, code]);
  });

  it.each([
    [
      'POST',
      '/v1/api-keys',
      405,
      'Send a POST to /v1/api-keys/organisation/service, /v1/api-keys/workspace/service, /v1/api-keys/workspace/user, /v1/api-keys/revoke.',
    ],
    ['POST', '/v1/api-keys/workspaces/service', 404, '(did you mean /v1/api-keys/workspace/service?).'],
    ['GET', '/v1/analytics/graphs/costs', 404, '(did you mean /v1/analytics/graphs/cost?).'],
    ['GET', '/v1/configs/', 404, '(did you mean /v1/configs?).'],
    ['POST', '/chat/completions', 404, "(did you mean /v1/chat/completions?). Set the client's base URL to"],
  ] as const)('says what %s %s may have meant: %i', async (method, path, status, words) => {
    const answer = await app.call(method, path);
    expect(answer.status).toBe(status);
    expect(answer.body.error.message).toContain(words);
  });

  it('returns an error of its own for an invalid URL, and for a parameter of 4 KiB', async () => {
    expect((await app.call('GET', '/v1/configs/%zz')).body.error.code).toBe('path_invalid');
    const long = await app.call('GET', `/v1/configs/${'x'.repeat(4096)}`);
    expect([long.status, long.body.error.code]).toEqual([404, 'not_found']);
  });

  it('does not care for the type of a GET, which has no body', async () => {
    const answer = await app.call('GET', '/v1/admin/me', { headers: { 'content-type': 'text/plain' } });
    expect(answer.status).toBe(200);
  });

  it('requires a type with a body', async () => {
    expect((await raw({ 'content-length': '2' }, '{}')).status).toBe(415);
  });

  it('refuses 2 GiB as soon as they are announced, and ends the connection', async () => {
    const { status, connection } = await raw(
      { 'content-type': 'application/json', 'content-length': '2147483648' },
      '{',
    );

    expect(status).toBe(413);
    expect(connection).toBe('close');
  });

  it.each(['  application/json', '\tapplication/json'])('validates what comes as "%s"', async (type) => {
    expect((await raw({ 'content-type': type, 'content-length': '14' }, '{"nonsense":1}')).status).toBe(400);
  });

  it.each([
    ['not JSON', '{"name":', 400, 'invalid_json'],
    ['an array', '[]', 400, 'invalid_request'],
    ['__proto__', '{"__proto__":{"scopes":["logs.view"]}}', 400, 'invalid_json'],
    ['constructor.prototype', '{"constructor":{"prototype":{"x":1}}}', 400, 'invalid_json'],
    ['a NUL', '{"name":"a\\u0000"}', 400, 'invalid_json'],
    ['deep nesting', nested(65), 400, 'invalid_json'],
    ['very deep nesting', nested(300_000), 400, 'invalid_json'],
    ['more than 1 MiB', `{"name":"${'x'.repeat(MIB)}"}`, 413, 'body_too_large'],
  ])('refuses a body that has %s', async (_, body, status, code) => {
    const refused = await post(body);

    expect(refused.status).toBe(status);
    expect(refused.body.error.code).toBe(code);
  });

  it.each([
    ['GET', '/v1/api-keys?workspace_id=%00', 400],
    ['GET', '/v1/admin/workspaces?name=a%00b', 400],
    ['GET', '/v1/admin/workspaces?exact_name=%00', 400],
    ['GET', '/v1/admin/workspaces/%00', 404],
    ['GET', '/v1/admin/workspaces/a%00b/users', 404],
    ['DELETE', '/v1/admin/workspaces/a%00b', 404],
    ['DELETE', '/v1/model-configs/pricing/openai/%00', 404],
    ['DELETE', '/v1/model-configs/pricing/a%00b/gpt', 404],
  ] as const)(
    'returns for %s %s, which PostgreSQL could not store, status %i',
    async (method, path, status) => {
      expect(await app.call(method, path)).toMatchObject({ status });
    },
  );

  it('prices no model whose name has a NUL', async () => {
    const body = { pay_as_you_go: { request_token: { price: 1 }, response_token: { price: 1 } } };

    expect(await app.call('PUT', '/v1/model-configs/pricing/openai/a%00b', { body })).toMatchObject({
      status: 400,
    });
  });

  it('gives every response the same headers', async () => {
    const answers = [
      await app.call('GET', '/v1/virtual-keys'),
      await app.call('GET', '/v1/virtual-keys', { key: '' }),
      await app.call('GET', '/v1/virtual-keys/none'),
      await app.call('GET', '/v1/api-keys/workspace/nowhere/at/all'),
      await post('{'),
      await post(valid(), { 'content-type': 'text/plain' }),
    ];
    for (const { status, headers, body } of answers) {
      expect(headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
      expect(headers['x-gateway-request-id']).toMatch(/^[0-9a-f-]{36}$/);
      if (status < 400) continue;
      expect(headers['x-gateway-error-source']).toBe('gateway');
      expect(body).toEqual({
        error: {
          message: expect.stringMatching(/\.$/),
          type: expect.stringMatching(/_error$/),
          code: expect.any(String),
          param: null,
          request_id: headers['x-gateway-request-id'],
        },
      });
    }
  });

  it('returns the compatible header names to clients that use them', async () => {
    const { headers } = await app.call('GET', '/v1/virtual-keys', {
      key: '',
      headers: { 'x-portkey-api-key': app.first.admin_api_key },
    });

    expect(headers['x-portkey-request-id']).toBe(headers['x-gateway-request-id']);
  });

  it('returns the same 401 for every refused key, unless the whole secret of an ended key is presented', async () => {
    const { id, key: revoked } = await app.workspaceKey();
    await app.call('DELETE', `/v1/api-keys/${id}`);
    const expired = await app.workspaceKey();
    await app.dataSource.query("UPDATE api_keys SET expires_at = now() - interval '1 s' WHERE id = $1", [
      expired.id,
    ]);
    const hash = (
      await app.dataSource.query('SELECT encode(key_hash, $1) AS hash FROM api_keys LIMIT 1', ['hex'])
    )[0].hash;
    const texts = await Promise.all(
      ['nonsense', `${hash}${hash}`, hash, `${revoked.slice(0, -1)}!`].map(async (key) => {
        const { status, text, body } = await app.call('GET', '/v1/virtual-keys', { key });
        expect(status).toBe(401);
        return text.replace(body.error.request_id, '');
      }),
    );

    expect(new Set(texts).size).toBe(1);
    for (const [key, words] of [
      [revoked, 'This API key was revoked at '],
      [expired.key, 'This API key expired at '],
    ] as const) {
      const { status, body } = await app.call('GET', '/v1/virtual-keys', { key });
      expect([status, body.error.code]).toEqual([401, 'api_key_ended']);
      expect(body.error.message).toContain(words);
    }
  });

  it.each([
    '/v1/API-KEYS',
    '/v1/api%2Dkeys/organisation/service',
    '/v1/api-keys//organisation/service',
    '/v1/api-keys/',
  ])('opens no other door at %s', async (path) => {
    const { key } = await app.workspaceKey(['logs.view']);

    expect((await app.call('POST', path, { key, body: valid() })).status).toBeGreaterThanOrEqual(400);
  });

  it('describes each of its operations', () => {
    const { paths } = buildAdministrationApi(app.app);
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    const ids = Object.values(paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );

    expect(operations).toEqual(
      expect.arrayContaining([
        'POST /v1/api-keys/organisation/service',
        'POST /v1/api-keys/workspace/service',
        'POST /v1/api-keys/workspace/user',
        'GET /v1/api-keys',
        'GET /v1/api-keys/{id}',
        'PUT /v1/api-keys/{id}',
        'DELETE /v1/api-keys/{id}',
        'POST /v1/api-keys/{id}/rotate',
        'POST /v2/api-keys/{id}/rotate',
        'POST /v1/virtual-keys',
        'GET /v1/virtual-keys',
        'GET /v1/virtual-keys/{slug}',
        'PUT /v1/virtual-keys/{slug}',
        'DELETE /v1/virtual-keys/{slug}',
      ]),
    );
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('is closed to everyone without a key, at each of its operations but those whose body is the credential', async () => {
    const PUBLIC = [
      'post /v1/admin/invites/accept',
      'post /v1/auth/passkeys/request-options',
      'post /v1/auth/passkeys/sign-in',
      'post /v1/auth/set-up',
      'post /v1/auth/sign-in',
      'post /v1/auth/single-sign-on',
      'post /v1/auth/single-sign-on/back-channel-logout',
      'get /v1/auth/single-sign-on/callback/{provider}',
      'get /v1/auth/single-sign-on/start',
      'get /v1/model-configs/pricing/{provider}/{model}',
    ];
    const { paths } = buildAdministrationApi(app.app, { withDeprecated: true });
    for (const [path, methods] of Object.entries(paths))
      for (const method of Object.keys(methods)) {
        if (PUBLIC.includes(`${method} ${path}`)) continue;
        const url = path.replaceAll(/\{\w+\}/g, 'x');
        const { status } = await app.call(method.toUpperCase(), url, {
          key: '',
          ...(method === 'get' ? {} : { body: {} }),
        });
        expect([method, path, status === 401 || status === 429]).toEqual([method, path, true]);
      }
  });
});

describe('the administration while its database is unavailable', () => {
  it('returns 503, and recovers with the database', async () => {
    const app = await AdminApp.start();
    const name = new URL(app.url).pathname.slice(1);
    const server = Object.assign(new URL(app.url), { pathname: '/postgres' }).href;
    await app.call('GET', '/v1/virtual-keys');
    await administer(server, `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
    await administer(
      server,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`,
    );
    const body = { name: 'A', provider: 'sandbox', workspace_id: 'ws-default' };
    const away = [
      await app.call('GET', '/v1/virtual-keys'),
      await app.call('POST', '/v1/virtual-keys', { body }),
    ];
    await administer(server, `ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);

    for (const { status, headers, text } of away) {
      expect(status).toBe(503);
      expect(headers['retry-after']).toBe('1');
      expect(text).not.toMatch(/pg|sql|postgres|connect/i);
    }
    expect((await app.call('POST', '/v1/virtual-keys', { body })).status).toBe(200);
    await app.close();
  });
});
