import { once } from 'node:events';
import { createServer, request, type IncomingMessage } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { Egress } from './egress.js';
import { parseEgressAllow } from '../common/net/egress-allow.js';
import { EgressAgent } from './egress-agent.js';
import { LOCALHOST_CERTIFICATE, LOCALHOST_KEY } from '../../test/support/upstreams/localhost-certificate.js';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ends.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

function agentFor(allow: string, secure = false): EgressAgent {
  const egress = new Egress({ allow: parseEgressAllow(allow).rules, timeouts: { connectMs: 1_000 } });
  const agent = new EgressAgent(egress, secure, 2);
  ends.push(() => agent.destroy());
  return agent;
}

async function got(url: string, agent: EgressAgent): Promise<number | undefined> {
  const asked = request(url, { agent });
  asked.end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  answer.resume();
  await once(answer, 'end');
  return answer.statusCode;
}

describe('EgressAgent', () => {
  it('dials what is open, and uses a connection again', async () => {
    let connections = 0;
    const server = createServer((_, response) => response.writeHead(204).end());
    server.on('connection', () => (connections += 1));
    const port = await listening(server);
    const agent = agentFor(`127.0.0.1:${port}`);

    expect([
      await got(`http://127.0.0.1:${port}/`, agent),
      await got(`http://127.0.0.1:${port}/`, agent),
    ]).toEqual([204, 204]);
    expect(connections).toBe(1);
  });

  it('reaches nothing that is closed', async () => {
    let connections = 0;
    const server = createServer();
    server.on('connection', () => (connections += 1));
    const port = await listening(server);

    await expect(got(`http://127.0.0.1:${port}/`, agentFor('127.0.0.1:1'))).rejects.toMatchObject({
      code: 'custom_host_blocked',
    });
    expect(connections).toBe(0);
  });

  it('verifies TLS itself, and trusts no certificate without a known issuer', async () => {
    const server = createTlsServer({ cert: LOCALHOST_CERTIFICATE, key: LOCALHOST_KEY });
    server.on('tlsClientError', () => undefined);
    const port = await listening(server);

    await expect(
      got(`https://127.0.0.1:${port}/`, agentFor(`127.0.0.1:${port}`, true)),
    ).rejects.toMatchObject({
      message: expect.stringContaining('TLS certificate not valid'),
    });
  });
});
