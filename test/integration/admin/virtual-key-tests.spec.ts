import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { AdminApp, type Json } from '../../support/admin-app.js';

const SECRET = 'sk-canary-4711';
const MODELS = { data: [{ id: 'gpt-4o' }, { id: 'house-model' }] };

type Reply = (request: IncomingMessage, response: ServerResponse) => void;

const answering =
  (status: number, body: unknown): Reply =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };

/** Lists its models to who brings the secret, and refuses everybody else. */
const careful: Reply = (request, response) =>
  request.headers.authorization === `Bearer ${SECRET}`
    ? answering(200, MODELS)(request, response)
    : answering(401, { error: { message: `No such key: ${request.headers.authorization}` } })(
        request,
        response,
      );

describe('tests of credentials', () => {
  let app: AdminApp;
  let upstream: Server;
  let host: string;
  let reply: Reply;
  let requests: string[];

  beforeAll(async () => {
    upstream = createServer((request, response) => {
      requests.push(`${request.method} ${request.url}`);
      reply(request, response);
    });
    await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
    const { port } = upstream.address() as AddressInfo;
    host = `http://127.0.0.1:${port}/v1`;
    app = await AdminApp.start({ GATEHOUSE_EGRESS_ALLOW: `127.0.0.1:${port}` });
  });
  beforeEach(() => {
    reply = careful;
    requests = [];
  });
  afterAll(async () => {
    await app.close();
    upstream.closeAllConnections();
    upstream.close();
  });

  const test = (more: object = {}) =>
    app.call('POST', '/v1/virtual-keys/test', {
      body: {
        provider: 'openai',
        key: SECRET,
        custom_host: host,
        workspace_id: app.first.workspace_id,
        ...more,
      },
    });

  async function stored(key = SECRET): Promise<string> {
    const body = {
      name: 'Tested',
      provider: 'openai',
      key,
      custom_host: host,
      workspace_id: app.first.workspace_id,
    };
    return (await app.call('POST', '/v1/virtual-keys', { body })).body.data.slug;
  }

  it('reports which models a credential reaches, and how many have no price', async () => {
    const { status, body } = await test();

    expect([status, body]).toEqual([
      200,
      expect.objectContaining({
        outcome: 'works',
        status: 200,
        models: ['gpt-4o', 'house-model'],
        total_models: 2,
        unpriced_models: 1,
        reason: null,
      }),
    ]);
    expect(body.latency_ms).toBeGreaterThanOrEqual(0);
    expect(requests[0]).toBe('GET /v1/models');
  });

  it('sends the stored credential of a virtual key, and says what the provider says', async () => {
    const [good, bad] = [await stored(), await stored('sk-wrong')];

    expect((await app.call('POST', `/v1/virtual-keys/${good}/test`)).body).toMatchObject({
      outcome: 'works',
    });
    expect((await app.call('POST', `/v1/virtual-keys/${bad}/test`)).body).toMatchObject({
      outcome: 'refused',
      status: 401,
      models: [],
      reason: 'No such key: Bearer ***',
    });
  });

  it('shows the secret nowhere, also when the provider repeats it', async () => {
    const slug = await stored('sk-repeated');
    reply = (request, response) =>
      answering(403, `<p>${request.headers.authorization}</p>`)(request, response);
    const answers = [
      await app.call('POST', `/v1/virtual-keys/${slug}/test`),
      await test({ key: 'sk-repeated' }),
    ];

    expect(answers.map(({ body }: Json) => body.reason)).toEqual(['<p>Bearer ***</p>', '<p>Bearer ***</p>']);
    for (const text of [...answers.map(({ text: one }) => one), JSON.stringify(await app.audited())])
      expect(text).not.toContain('sk-repeated');
  });

  it('reports that a public list proves nothing', async () => {
    reply = answering(200, MODELS);
    expect((await test()).body).toMatchObject({
      outcome: 'inconclusive',
      status: 200,
      total_models: 2,
      reason: expect.stringContaining('without a credential'),
    });
  });

  it.each([
    [404, { error: 'no such page' }, 'no such page'],
    [500, 'broken', 'broken'],
    [302, '', ''],
  ])('says nothing of the credential after a %i', async (status, body, reason) => {
    reply = answering(status, body);
    expect((await test()).body).toMatchObject({ outcome: 'inconclusive', status, reason });
  });

  it('ends for a provider that never responds, sends too much, or breaks off', async () => {
    reply = (_request, response) => response.destroy();
    expect((await test()).body).toMatchObject({ outcome: 'unreachable', status: null });
    reply = (_request, response) => response.end(Buffer.alloc(5 * 1024 * 1024, 32));
    expect((await test()).body).toMatchObject({ outcome: 'unreachable', status: null });
    reply = () => undefined;
    const startedAt = Date.now();
    expect((await test()).body).toMatchObject({
      outcome: 'unreachable',
      reason: 'The provider did not respond within 8 seconds.',
    });
    expect(Date.now() - startedAt).toBeLessThan(10_000);
  }, 20_000);

  it('sends nothing to closed addresses', async () => {
    const refused = await test({ custom_host: 'http://169.254.169.254/v1' });

    expect([refused.status, refused.body.error.code]).toEqual([403, 'custom_host_blocked']);
    expect(requests).toEqual([]);
  });

  it('refuses what could not be stored: no secret, unknown fields, an absent key', async () => {
    const codes = [
      await test({ key: undefined }),
      await test({ fields: { nonsense: 'x' } }),
      await test({ nonsense: 1 }),
      await app.call('POST', '/v1/virtual-keys/absent/test'),
    ].map(({ status, body }) => [status, body.error.code]);

    expect(codes).toEqual([
      [400, 'credential_required'],
      [400, 'invalid_request'],
      [400, 'invalid_request'],
      [404, 'not_found'],
    ]);
  });

  it('works at once for the sandbox, and not for signed requests', async () => {
    const more = { custom_host: undefined };
    expect((await test({ provider: 'sandbox', key: undefined, ...more })).body).toMatchObject({
      outcome: 'works',
      unpriced_models: 0,
    });
    expect(
      (await test({ provider: 'bedrock', fields: { 'aws-region': 'us-east-1' }, ...more })).body,
    ).toMatchObject({ outcome: 'not_testable' });
  });

  it('is recorded in the audit log with its outcome', async () => {
    const slug = await stored();
    await app.call('POST', `/v1/virtual-keys/${slug}/test`);
    const last = (await app.audited()).at(-1);

    expect(last).toMatchObject({
      action: 'virtual_keys.test',
      path: `/v1/virtual-keys/${slug}/test`,
      after: { test: { outcome: 'works', status: 200 } },
      outcome: 'success',
    });
  });

  it('lets two run at the same time, and others wait or be refused', async () => {
    reply = (request, response) => setTimeout(() => careful(request, response), 3_000);
    const statuses = (await Promise.all([test(), test(), test()])).map(({ status }) => status);

    expect(statuses.sort()).toEqual([200, 200, 503]);
  }, 20_000);
});

describe('the provider catalogue', () => {
  let app: AdminApp;
  beforeAll(async () => {
    app = await AdminApp.start();
  });
  afterAll(() => app.close());

  it('says what an account of each provider has, so that a virtual key can be made from it', async () => {
    const { body } = await app.call('GET', '/v1/provider-catalog');
    const byId = new Map<string, Json>(body.data.map((entry: Json) => [entry.id, entry]));

    expect(body.total).toBeGreaterThan(100);
    expect(byId.get('openai')).toMatchObject({ name: 'OpenAI', key: 'required', custom_host: 'optional' });
    expect(byId.get('ollama')).toMatchObject({ key: 'none', custom_host: 'required' });
    expect(byId.get('sandbox')).toMatchObject({ key: 'none', custom_host: 'none' });
    expect(byId.get('bedrock').is_testable).toBe(false);
    expect(byId.get('azure-openai').fields).toContainEqual(
      expect.objectContaining({ name: 'azure-resource-name', is_required: true, is_in_address: true }),
    );
  });

  it('names fields and examples that a virtual key takes, for every provider', async () => {
    const { data } = (await app.call('GET', '/v1/provider-catalog')).body;
    const refused: string[] = [];
    for (const { id, key, custom_host, fields } of data) {
      const made = await app.call('POST', '/v1/virtual-keys', {
        body: {
          name: id,
          provider: id,
          workspace_id: app.first.workspace_id,
          ...(key === 'required' && { key: 'sk-canary' }),
          ...(custom_host === 'required' && { custom_host: 'https://llm.example.com/v1' }),
          fields: Object.fromEntries(
            fields
              .filter(({ is_required }: Json) => is_required)
              .map(({ name, example }: Json) => [name, example]),
          ),
        },
      });
      if (made.status !== 200) refused.push(`${id}: ${made.body.error.message}`);
    }
    expect(refused).toEqual([]);
  }, 30_000);
});
