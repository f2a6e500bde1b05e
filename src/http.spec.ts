import { createConnection } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { endLingering } from './common/http/lingering-close.js';
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
  const port = await listening({
    handle: (request, response) => {
      request.on('error', () => ended.push('broken off'));
      request.on('data', () => undefined).on('end', () => response.end('whole'));
    },
  });
  return { port, ended };
}

async function listening(gateway: Plane, upgraded: string[] = []): Promise<number> {
  const sockets = { handle: () => upgraded.push('upgraded'), close: () => undefined };
  const probes = { answer: () => false };
  const planes = { gateway, administration: gateway, probes, sockets } as unknown as Planes;
  front = new FrontServer(planes, TIMEOUT_MS);
  await front.listen(0, '127.0.0.1');
  const { server } = front as unknown as { server: { address(): AddressInfo } };
  return server.address().port;
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

describe('a connection that was told that it closes', () => {
  const upgrade = 'connection: upgrade\r\nupgrade: websocket\r\n';

  it.each([
    ['request', ''],
    ['wish for a WebSocket', upgrade],
  ])('takes no further %s', async (_, fields) => {
    const handled: string[] = [];
    const refusing: Plane = {
      handle: (request, response) => {
        handled.push(request.url ?? '');
        response.writeHead(413, ['connection', 'close', 'content-length', '2']).write('no');
        endLingering(request, response);
      },
    };
    const port = await listening(refusing, handled);
    const further = `GET /v1/realtime HTTP/1.1\r\nhost: x\r\n${fields}\r\n`;
    const text = await new Promise<string>((resolve) => {
      const socket = createConnection(port, '127.0.0.1');
      let heard = '';
      socket.once('data', () => socket.write(`body${further}`));
      socket.on('data', (chunk) => (heard += chunk.toString()));
      socket.on('error', () => undefined);
      socket.on('close', () => {
        resolve(heard);
      });
      socket.write('POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\n');
    });

    expect(text).toMatch(/^HTTP\/1\.1 413 [^]*no$/);
    expect(handled).toEqual(['/v1/chat/completions']);
  });
});
