import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sha256 } from '../support/http-client.js';
import { portRange } from '../support/ports.js';
import { type OwnService, startService } from '../support/service.js';
import { Started } from '../support/started.js';
import { listenOnOneOf, stopListening } from '../support/upstreams/listen.js';
import { LOCALHOST_CERTIFICATE, LOCALHOST_KEY } from '../support/upstreams/localhost-certificate.js';
import { World } from '../support/world.js';

/** Providers are reached over TLS: a provider whose certificate is trusted, which says back what it was told. */
const KIB = 1024;
const started = new Started();
const sockets = new Set<Socket>();
let handshakes = 0;
let server: Server;
let service: OwnService;
let world: World;
let headers: Record<string, string>;

/** Says the body back: at once, or in pieces of 4 KiB in chunks. Closes the connection behind its answer where it is asked to. */
function echo(request: IncomingMessage, response: ServerResponse): void {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    const body = Buffer.concat(parts);
    const { url = '' } = request;
    if (url.endsWith('/closing')) response.shouldKeepAlive = false;
    if (!url.endsWith('/pieces')) {
      response.writeHead(200, { 'content-length': body.length }).end(body);
      if (url.endsWith('/leaving')) response.once('close', () => request.socket.destroy());
      return;
    }
    response.writeHead(200, { 'content-type': 'application/octet-stream' });
    for (let at = 0; at < body.length; at += 4 * KIB) response.write(body.subarray(at, at + 4 * KIB));
    response.end();
  });
}

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-tls-'));
  started.add(folder, (it) => rmSync(it, { recursive: true }));
  const authority = join(folder, 'authority.pem');
  writeFileSync(authority, LOCALHOST_CERTIFICATE);
  const ports = await portRange(4);
  service = await startService({
    env: { GATEHOUSE_PROCESSES: '1', NODE_EXTRA_CA_CERTS: authority },
    egressPorts: ports,
  });
  started.add(service, (it) => it.dispose());
  server = createServer({ cert: LOCALHOST_CERTIFICATE, key: LOCALHOST_KEY }, echo);
  server.on('secureConnection', (socket) => {
    handshakes++;
    sockets.add(socket);
  });
  const port = await listenOnOneOf(server, ports);
  started.add(server, async (it) => {
    const closed = stopListening(it);
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  world = started.add(await World.create('tls', service), (it) => it.close());
  headers = world.hostHeaders(`https://127.0.0.1:${port}`);
});
afterAll(() => started.end());

const post = (path: string, body: Buffer | readonly Buffer[]) =>
  world.send({ method: 'POST', path: `/v1/${path}`, headers, body });

describe('a provider behind TLS', () => {
  it.each([
    ['a small body', 'whole', 1 * KIB],
    ['a large body', 'whole', 700 * KIB],
    ['an answer in chunks', 'pieces', 200 * KIB],
  ])('gets and gives %s to the byte', async (_, path, bytes) => {
    const body = randomBytes(bytes);
    const answer = await post(path, body);

    expect([answer.status, answer.sha256]).toEqual([200, sha256(body)]);
  });

  it('gets a body that comes in chunks to the byte', async () => {
    const parts = Array.from({ length: 20 }, () => randomBytes(8 * KIB));
    const answer = await post('whole', parts);

    expect([answer.status, answer.sha256]).toEqual([200, sha256(Buffer.concat(parts))]);
  });

  it('is called over persistent connections, and each request gets its own response', async () => {
    await Promise.all(Array.from({ length: 20 }, () => post('whole', randomBytes(64))));
    const before = handshakes;
    for (let round = 0; round < 10; round++)
      await Promise.all(
        Array.from({ length: 20 }, async () => {
          const body = randomBytes(2 * KIB);
          expect((await post('whole', body)).sha256).toBe(sha256(body));
        }),
      );

    // Two hundred questions: of those asked at once some may need one more.
    expect(handshakes - before).toBeLessThan(20);
  });

  it.each(['closing', 'leaving'])(
    'that ends its connections (%s) fails no question behind that',
    async (path) => {
      for (let round = 0; round < 20; round++) {
        const body = randomBytes(KIB);
        const answer = await post(path, body);
        expect([answer.status, answer.sha256]).toEqual([200, sha256(body)]);
      }
    },
  );
});
