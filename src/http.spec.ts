import { createConnection } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { FrontServer, type Plane, type Planes } from './http.js';

/** Long enough for a busy machine to answer somebody else first, and far below what Node waits by itself. */
const TIMEOUT_MS = 5_000;
/** More at once than Node lets wait to be accepted. The built service is asked by `e2e slow-clients`. */
const SLOW_CLIENTS = Number(process.env['SLOW_CLIENTS'] ?? 1_000);
const DRIP_MS = 500;

let front: FrontServer | null = null;
afterEach(async () => {
  await front?.close(0);
  front = null;
});

/** A server whose requests, of both planes, are answered when they are whole. */
async function aServer(): Promise<{ port: number; ended: string[] }> {
  const ended: string[] = [];
  const gateway: Plane = {
    handle: (request, response) => {
      request.on('error', () => ended.push('broken off'));
      request.on('data', () => undefined).on('end', () => response.end('whole'));
    },
  };
  const sockets = { handle: () => undefined, close: () => undefined };
  const probes = { answer: () => false };
  const planes = { gateway, administration: gateway, probes, sockets } as unknown as Planes;
  front = new FrontServer(planes, TIMEOUT_MS);
  await front.listen(0, '127.0.0.1');
  const { server } = front as unknown as { server: { address(): AddressInfo } };
  return { port: server.address().port, ended };
}

/** Sends a body byte by byte for as long as the connection lasts. Answers what came back. */
function drip(port: number, path: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1');
    let text = '';
    const dripping = setInterval(() => socket.write('x'), DRIP_MS);
    socket.on('data', (chunk) => (text += chunk.toString()));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      clearInterval(dripping);
      resolve(text);
    });
    socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: 100000\r\n\r\n`);
  });
}

describe('a client that takes for ever', () => {
  it.each(['/v1/chat/completions', '/v1/api-keys'])(
    'D08: is told 408 at %s when its time is over, and nobody else waits for it',
    async (path) => {
      const { port, ended } = await aServer();
      const slow = Array.from({ length: SLOW_CLIENTS }, () => drip(port, path));
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
        method: 'POST',
        body: '{}',
      });

      expect(await answer.text()).toBe('whole');
      expect(ended).toEqual([]);
      for (const text of await Promise.all(slow)) expect(text).toMatch(/^HTTP\/1\.1 408 /);
      // A client may hear of its end before the server's own socket is closed.
      await expect.poll(() => ended).toHaveLength(SLOW_CLIENTS);
    },
  );
});
