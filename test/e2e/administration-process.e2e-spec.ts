import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withDatabase } from '../support/database-dump.js';
import { jsonOf } from '../support/http-client.js';
import { type OwnService, startService } from '../support/service.js';
import { Started } from '../support/started.js';
import { eventually } from '../support/waiting.js';

/** The administration runs in a process of its own, which the gateway processes relay to. */
const started = new Started();
let service: OwnService;

beforeAll(async () => {
  service = await startService({
    env: { GATEHOUSE_PROCESSES: '1', GATEHOUSE_DRAIN_DELAY_MS: '0', GATEHOUSE_TRUSTED_PROXIES: '127.0.0.1' },
  });
  started.add(service, (it) => it.dispose());
});
afterAll(() => started.end());

const createKey = (name: string, headers: Record<string, string> = {}) =>
  service.client.call({
    method: 'POST',
    path: '/v1/api-keys/workspace/service',
    headers: { 'x-gateway-api-key': service.bootstrap.admin_api_key, ...headers },
    body: { name, workspace_id: service.bootstrap.workspace_id, scopes: ['logs.list'] },
  });

/** The kernel accepts for a killed process until the last of its threads has ended; what it accepts then is lost. */
const refusesConnections = (): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(join(service.facts.dataDir, 'run', 'admin.sock'));
    socket.once('error', () => resolve(true));
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
  });

/** Where the audit record of that request says it came from. */
async function auditedAddress(requestId: string): Promise<string | undefined> {
  const { rows } = await withDatabase(service, (client) =>
    client.query<{ ip: string }>('SELECT ip FROM audit_records WHERE request_id = $1', [requestId]),
  );
  return rows[0]?.ip;
}

describe('the documentation', () => {
  it('is served without a key: the page, and the same document as in the repository', async () => {
    const page = await service.client.call({ path: '/docs' });
    expect([page.status, page.headers['content-security-policy']]).toEqual([
      200,
      expect.stringContaining("default-src 'none'"),
    ]);
    const script = await service.client.call({ path: '/docs/swagger-ui-bundle.js' });
    expect(script.status).toBe(200);

    const document = jsonOf(await service.client.call({ path: '/openapi.json' }));

    expect(document).toEqual(JSON.parse(readFileSync('openapi.json', 'utf8')));
  });
});

describe('on a full machine', () => {
  it('requests for models go before the administration and the work in the background', () => {
    const { gateways, administration, worker } = service.pids;
    for (const behind of [administration, worker])
      expect(getPriority(behind ?? undefined)).toBeGreaterThan(getPriority(gateways[0]));
  });
});

describe('a relayed request', () => {
  it('gets a response however many come at once', async () => {
    const headers = { 'x-gateway-api-key': service.bootstrap.admin_api_key };
    const many = Array.from({ length: 500 }, () =>
      service.client.call({ path: '/v1/admin/me', headers, fresh: true }),
    );
    const statuses = (await Promise.all(many)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200]));
  });

  it.each([
    ['as it is', {}, '127.0.0.1'],
    ['behind a trusted proxy', { 'x-forwarded-for': '198.51.100.9, 203.0.113.7' }, '203.0.113.7'],
    ['that claims an address of its own', { 'x-gatehouse-client-address': '198.51.100.4' }, '127.0.0.1'],
  ])('%s is audited with the address it came from', async (name, headers, expected) => {
    const answer = await createKey(name, headers);

    expect(answer.status).toBe(200);
    expect(await auditedAddress(answer.requestId)).toBe(expected);
  });

  it('may have a body in chunks, and gets its whole response', async () => {
    const body = Buffer.from(
      JSON.stringify({
        name: 'in pieces',
        workspace_id: service.bootstrap.workspace_id,
        scopes: ['logs.list'],
      }),
    );
    const answer = await fetch(`${service.baseUrl}/v1/api-keys/workspace/service`, {
      method: 'POST',
      headers: { 'x-gateway-api-key': service.bootstrap.admin_api_key, 'content-type': 'application/json' },
      body: new ReadableStream({
        start(controller) {
          for (const byte of body) controller.enqueue(Uint8Array.of(byte));
          controller.close();
        },
      }),
      duplex: 'half',
    });

    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ object: 'api-key' });
  });
});

it('a body that grows too large without saying so is refused, every time', async () => {
  for (let time = 0; time < 5; time++) {
    const answer = await fetch(`${service.baseUrl}/v1/api-keys/workspace/service`, {
      method: 'POST',
      headers: { 'x-gateway-api-key': service.bootstrap.admin_api_key, 'content-type': 'application/json' },
      body: new ReadableStream({
        start(controller) {
          for (let n = 0; n < 24; n++) controller.enqueue(new Uint8Array(64 * 1024).fill(0x20));
          controller.close();
        },
      }),
      duplex: 'half',
    });

    expect(answer.status).toBe(413);
    expect(await answer.json()).toMatchObject({ error: { code: 'body_too_large' } });
    expect(await auditedAddress(String(answer.headers.get('x-gateway-request-id')))).toBe('127.0.0.1');
  }
});

it('a body that is announced too large is refused behind the key and recorded', async () => {
  const announce = (key: string) =>
    fetch(`${service.baseUrl}/v1/api-keys/workspace/service`, {
      method: 'POST',
      headers: { 'x-gateway-api-key': key, 'content-type': 'application/json' },
      body: ' '.repeat(2 * 1024 * 1024),
    });
  for (let time = 0; time < 5; time++) {
    const answer = await announce(service.bootstrap.admin_api_key);
    expect(answer.status).toBe(413);
    expect(await auditedAddress(String(answer.headers.get('x-gateway-request-id')))).toBe('127.0.0.1');
  }
  expect((await announce('unknown')).status).toBe(401);
});

describe('kill -9 of the administration', () => {
  it('fails no request of the data plane, and administrative requests wait for the next one', async () => {
    const { administration } = service.pids;
    process.kill(administration ?? 0, 'SIGKILL');
    // The next one listens in the same place, perhaps before anybody has looked.
    await eventually(
      async () =>
        (await refusesConnections()) || (service.pids.administration ?? administration) !== administration,
      { everyMs: 1, what: 'its end' },
    );
    const [chat, created] = await Promise.all([
      service.client.call({
        method: 'POST',
        path: '/v1/chat/completions',
        headers: {
          'x-gateway-api-key': service.bootstrap.workspace_api_key,
          'x-gateway-provider': 'sandbox',
        },
        body: { model: 'sandbox-1', messages: [{ role: 'user', content: 'hi' }] },
      }),
      createKey('made while it was away'),
    ]);

    expect(chat.status).toBe(200);
    expect(created.status).toBe(200);
    expect(jsonOf(created)).toMatchObject({ object: 'api-key' });
    expect(service.pids.administration).not.toBe(administration);
  });
});
