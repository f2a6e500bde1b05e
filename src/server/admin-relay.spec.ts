import { mkdtempSync, rmSync } from 'node:fs';
import {
  Agent,
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AdminRelay } from './admin-relay.js';
import { ClientAddresses } from '../common/http/client-address.js';

let folder: string;
let front: Server;
let relay: AdminRelay;
let administration: Server;
let connections: Socket[];
let asked: string[];
let answer: (request: IncomingMessage, response: ServerResponse) => void;

const told = (incoming: IncomingMessage, response: ServerResponse): void => {
  incoming.resume().on('end', () => response.end(`${incoming.method ?? ''} ${incoming.url ?? ''}`));
};

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'relay-'));
  const socketPath = join(folder, 's');
  [connections, asked, answer] = [[], [], told];
  administration = createServer({ keepAliveTimeout: 0 }, (incoming, response) => {
    asked.push(`${incoming.method ?? ''} ${incoming.url ?? ''}`);
    answer(incoming, response);
  });
  administration.on('connection', (socket: Socket) => connections.push(socket));
  await new Promise<void>((resolve) => administration.listen(socketPath, resolve));
  relay = new AdminRelay(socketPath, new ClientAddresses([]), (_request, response, error) => {
    response.writeHead(error.spec.status).end(error.code);
  });
  front = createServer((incoming, response) => relay.handle(incoming, response));
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
});
afterEach(() => {
  for (const server of [front, administration]) server.close().closeAllConnections();
  rmSync(folder, { recursive: true });
});

function send(
  method: string,
  path: string,
  body?: string,
): Promise<[status: number | undefined, text: string]> {
  const { port } = front.address() as AddressInfo;
  // Node sends no length with a DELETE by default.
  const headers = body === undefined ? {} : { 'content-length': body.length };
  return new Promise((resolve, reject) => {
    const outgoing = request({ port, method, path, headers, agent: new Agent() }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve([response.statusCode, text]));
    });
    outgoing.on('error', reject).end(body);
  });
}

describe('the relay to the administration', () => {
  it('sends one request after the other over one connection, with bodies and without', async () => {
    for (const method of ['GET', 'POST', 'PUT', 'DELETE'])
      expect(await send(method, '/v1/x', method === 'GET' ? undefined : '{}')).toEqual([
        200,
        `${method} /v1/x`,
      ]);
    expect(connections).toHaveLength(1);
  });

  it.each(['POST', 'PUT', 'PATCH'])('says of a %s without a body that it has none', async (method) => {
    answer = (incoming, response) => {
      const { 'transfer-encoding': coding, 'content-length': length } = incoming.headers;
      incoming.resume().on('end', () => response.end(JSON.stringify({ coding, length })));
    };
    // Like `curl -X POST`: neither a length nor a transfer encoding.
    const { port } = front.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1');
    socket.write(`${method} /v1/x HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
    let text = '';
    for await (const chunk of socket) text += String(chunk);
    expect(text).toContain('{"length":"0"}');
  });

  it('opens more for simultaneous requests', async () => {
    const answers = await Promise.all([1, 2, 3].map((each) => send('GET', `/v1/${each}`)));
    expect(answers).toEqual([1, 2, 3].map((each) => [200, `GET /v1/${each}`]));
  });

  it('retries a safe request when a kept connection broke under it', async () => {
    await send('GET', '/v1/first');
    answer = (incoming, response) => {
      answer = told;
      incoming.socket.destroy();
      response.destroy();
    };
    expect(await send('GET', '/v1/again')).toEqual([200, 'GET /v1/again']);
    expect(asked).toEqual(['GET /v1/first', 'GET /v1/again', 'GET /v1/again']);
  });

  it('never sends a change twice', async () => {
    await send('GET', '/v1/first');
    answer = (incoming) => incoming.socket.destroy();
    expect(await send('POST', '/v1/change', '{}')).toEqual([503, 'administration_unavailable']);
    expect(asked.filter((each) => each.startsWith('POST'))).toHaveLength(1);
  });

  it('leaves a body that is announced too large where it is, and brings the refusal of its head', async () => {
    let received = 0;
    answer = (incoming, response) => {
      incoming.on('data', (chunk: Buffer) => (received += chunk.length));
      setTimeout(() => response.writeHead(413).end('too large'), 50);
    };
    expect(await send('POST', '/v1/configs', 'x'.repeat(2 * 1024 * 1024))).toEqual([413, 'too large']);
    expect([received, asked]).toEqual([0, ['POST /v1/configs']]);

    answer = told;
    expect(await send('GET', '/v1/configs')).toEqual([200, 'GET /v1/configs']);
  });

  it('does not reuse a connection whose response came before its request was read', async () => {
    answer = (_incoming, response) => response.writeHead(413).end('too large');
    const large = 'x'.repeat(900_000);
    expect(await send('POST', '/v1/large', large)).toEqual([413, 'too large']);
    answer = told;
    expect(await send('GET', '/v1/next')).toEqual([200, 'GET /v1/next']);
  });

  it('sends no more than 64 at a time, and all in the end', async () => {
    let [unanswered, most] = [0, 0];
    answer = (incoming, response) => {
      most = Math.max(most, ++unanswered);
      setTimeout(() => {
        unanswered--;
        told(incoming, response);
      }, 20);
    };
    const paths = Array.from({ length: 300 }, (_, each) => `/v1/${each}`);
    const answers = await Promise.all(paths.map((path) => send('GET', path)));
    expect(answers).toEqual(paths.map((path) => [200, `GET ${path}`]));
    expect(most).toBeLessThanOrEqual(64);
  });

  it('delays no request by more than a second because others are slow', async () => {
    answer = (incoming, response) => {
      if (incoming.url === '/v1/next') told(incoming, response);
    };
    const { port } = front.address() as AddressInfo;
    const slow = Array.from({ length: 64 }, () =>
      request({ port, path: '/v1/slow', agent: new Agent() }).on('error', () => undefined),
    );
    for (const each of slow) each.end();
    await expect.poll(() => asked.length).toBe(64);
    expect(await send('GET', '/v1/next')).toEqual([200, 'GET /v1/next']);
    for (const each of slow) each.destroy();
  });

  it('delays no request because others, even without a key, do not finish sending theirs', async () => {
    const { port } = front.address() as AddressInfo;
    const headers = { 'content-length': 100 };
    const slow = Array.from({ length: 1_000 }, () =>
      request({ port, method: 'POST', path: '/v1/slow', headers, agent: new Agent() }),
    );
    let gone = 0;
    for (const each of slow)
      each
        .on('error', () => undefined)
        .once('close', () => gone++)
        .write('x');
    await expect.poll(() => asked.length).toBeGreaterThanOrEqual(64);
    const isFirst = await Promise.race([
      send('GET', '/v1/next').then(() => true),
      // A sixteenth of the time they would take with one second per 64.
      new Promise<boolean>((resolve) => setTimeout(resolve, 5_000, false)),
    ]);
    for (const each of slow) each.destroy();
    expect(isFirst).toBe(true);
    await expect.poll(() => gone).toBe(slow.length);
  });

  it('sends nothing for a client that left while it waited', async () => {
    const { port } = front.address() as AddressInfo;
    const held: ServerResponse[] = [];
    answer = (_incoming, response) => held.push(response);
    const slow = Array.from({ length: 64 }, () => send('GET', '/v1/slow'));
    await expect.poll(() => held.length).toBe(64);
    let leave = (): void => undefined;
    const gone = new Promise<void>((resolve) => {
      front.once('request', (_request, response: ServerResponse) => {
        response.once('close', resolve);
        leave();
      });
    });
    const leaving = request({ port, path: '/v1/left', agent: new Agent() }).on('error', () => undefined);
    leave = () => leaving.destroy();
    leaving.end();
    await gone;
    answer = told;
    for (const each of held) each.end('slow');
    await Promise.all(slow);
    expect(await send('GET', '/v1/next')).toEqual([200, 'GET /v1/next']);
    expect(asked).not.toContain('GET /v1/left');
  });

  it('lets go of a connection whose client has left', async () => {
    const arrived = new Promise<void>((resolve) => (answer = () => resolve()));
    const { port } = front.address() as AddressInfo;
    const leaving = request({ port, path: '/v1/slow' }).on('error', () => undefined);
    leaving.end();
    await arrived;
    leaving.destroy();
    await expect.poll(() => connections[0]?.destroyed).toBe(true);
  });

  it('ends event streams when the server closes, those that begin later included, and no other response', async () => {
    let finish = (): void => undefined;
    answer = (incoming, response) => {
      const isStream = incoming.url === '/v1/logs/stream';
      response.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'text/plain' });
      response.write('first;');
      if (!isStream) finish = () => response.end('last');
    };
    const [stream, download] = [send('GET', '/v1/logs/stream'), send('GET', '/v1/download')];
    await expect.poll(() => asked.length).toBe(2);
    await expect.poll(() => connections.length).toBe(2);
    relay.endEventStreams();
    expect(await stream).toEqual([200, expect.stringMatching(/^(first;)?$/)]);
    expect((await send('GET', '/v1/logs/stream'))[0]).toBe(200);
    finish();
    expect(await download).toEqual([200, 'first;last']);
  });
});
