import { createServer, type Server } from 'node:http';
import { type AddressInfo, createConnection } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { endLingering, isClosing } from './lingering-close.js';

const LARGE = 8 * 1024 * 1024;
const REFUSED = 'too large';

let server: Server;
let port: number;
let asked: string[];

/** Refuses every request as soon as its head has arrived. */
beforeEach(async () => {
  asked = [];
  server = createServer((request, response) => {
    if (isClosing(request)) return;
    asked.push(request.url ?? '');
    response.writeHead(413, ['connection', 'close', 'content-length', String(REFUSED.length)]).write(REFUSED);
    endLingering(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ({ port } = server.address() as AddressInfo);
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

/** Sends as much as possible. Returns what was received, and how the connection ended. */
function sent(bytes: string): Promise<{ text: string; ended: 'closed' | 'broken'; ms: number }> {
  return new Promise((resolve) => {
    const began = performance.now();
    const socket = createConnection(port, '127.0.0.1', () => socket.write(bytes));
    let text = '';
    let ended: 'closed' | 'broken' = 'closed';
    socket.on('data', (chunk) => (text += chunk.toString()));
    socket.on('error', () => (ended = 'broken'));
    socket.on('close', () => {
      resolve({ text, ended, ms: performance.now() - began });
    });
  });
}

const head = (path: string, length: number): string =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${length}\r\n\r\n`;

describe('a response that comes before its request is complete', () => {
  it('reaches a client that sends on, whose connection then closes in order', async () => {
    const clients = Array.from({ length: 20 }, () => sent(head('/one', LARGE) + 'x'.repeat(LARGE)));
    for (const { text, ended } of await Promise.all(clients)) {
      expect(text).toMatch(/^HTTP\/1\.1 413 [^]*\r\n\r\ntoo large$/);
      expect(ended).toBe('closed');
    }
  });

  it('is the last of its connection: what comes behind the request is not taken for another one', async () => {
    const { text } = await sent(`${head('/one', 4)}body${head('/two', 0)}`);
    const later = await sent(`${head('/one', LARGE)}${'x'.repeat(LARGE)}${head('/two', 0)}`);

    expect(text.match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(later.text.match(/HTTP\/1\.1/g)).toHaveLength(1);
    expect(asked).toEqual(['/one', '/one']);
  });

  it('is there at once, and its connection is closed after a while if the client sends nothing more', async () => {
    const { text, ms } = await sent(head('/one', LARGE));

    expect(text).toMatch(/too large$/);
    expect(ms).toBeGreaterThan(1_500);
  });

  it('does not wait for a client that sends without end', async () => {
    const { text } = await sent(head('/one', 40 * LARGE) + 'x'.repeat(40 * LARGE));

    expect(text === '' || text.endsWith('too large')).toBe(true);
    await expect
      .poll(() => new Promise((resolve) => server.getConnections((_, count) => resolve(count))))
      .toBe(0);
  });
});
