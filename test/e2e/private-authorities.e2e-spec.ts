import { createServer, type Server } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pemOf, TestAuthority } from '../support/certificates.js';
import { type OwnService, startService } from '../support/service.js';
import { Started } from '../support/started.js';
import { eventually } from '../support/waiting.js';

/** Names that no public DNS has: only the proxy can reach them. */
const PROVIDER = 'provider.example.com';
const HOOKS = 'hooks.example.com';
const STRANGER = 'stranger.example.com';

const started = new Started();
const tunnels: string[] = [];
const received: { readonly host: string; readonly body: string }[] = [];
let service: OwnService;

async function listening(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  started.add(server, (it) => {
    it.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

/** Leads every tunnel to one server. */
function proxyTo(server: Server, port: number): Server {
  return server.on('connect', (request, client: Socket) => {
    tunnels.push(request.url ?? '');
    const upstream = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(client).pipe(upstream);
    });
    for (const socket of [client, upstream]) socket.on('error', () => undefined);
  });
}

beforeAll(async () => {
  const authority = started.add(new TestAuthority('Company'), (it) => it.remove());
  const target = createServer(
    pemOf(authority.issue('target', { hosts: [PROVIDER, HOOKS] })),
    (request, response) => {
      void text(request).then((body) => {
        received.push({ host: request.headers.host ?? '', body });
        response.setHeader('content-type', 'application/json').end('{"seen":true}');
      });
    },
  );
  const proxy = createServer(pemOf(authority.issue('proxy')));
  const proxyPort = await listening(proxyTo(proxy, await listening(target)));
  service = await startService({
    env: {
      GATEHOUSE_PROCESSES: '1',
      NODE_EXTRA_CA_CERTS: authority.cert,
      HTTPS_PROXY: `https://localhost:${proxyPort}`,
      GATEHOUSE_SINK_WEBHOOK_URL: `https://${HOOKS}/logs`,
      GATEHOUSE_SINK_WEBHOOK_SECRET: 'a secret of sixteen characters',
    },
  });
  started.add(service, (it) => it.dispose());
});
afterAll(() => started.end());

const chat = (host: string) =>
  service.client.call({
    method: 'POST',
    path: '/v1/chat/completions',
    headers: {
      'x-gateway-api-key': service.bootstrap.workspace_api_key,
      'x-gateway-provider': 'openai',
      'x-gateway-custom-host': `https://${host}/v1`,
      authorization: 'Bearer sk-of-the-client',
    },
    body: { model: 'gpt-5', messages: [{ role: 'user', content: 'Hello' }] },
  });

describe('a network with its own authority, and a proxy that speaks TLS', () => {
  it('is trusted for the proxy and for a provider behind it', async () => {
    const answer = await chat(PROVIDER);

    expect([answer.status, answer.body.toString()]).toEqual([200, '{"seen":true}']);
    expect(tunnels).toContain(`${PROVIDER}:443`);
  });

  it('is trusted for webhooks', async () => {
    await eventually(() => received.some(({ host }) => host === HOOKS), {
      withinMs: 60_000,
      what: 'the webhook',
    });
  });

  it('is trusted for the names in its certificates only', async () => {
    const answer = await chat(STRANGER);

    expect(answer.status).toBe(502);
    expect(answer.body.toString()).toContain('TLS certificate not valid');
  });
});
