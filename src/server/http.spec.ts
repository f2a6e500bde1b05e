import { IncomingMessage } from 'node:http';
import { createConnection } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { endLingering } from '../common/http/lingering-close.js';
import { FastRequest } from '../common/http/fast-request.js';
import type { ClientRequest, ClientResponse } from '../common/http/messages.js';
import { readBody } from '../gateway/ingress/request-body.js';
import { FrontServer, type Plane, type Planes } from './http.js';

/** Long enough for a busy machine to serve others first, and far below Node's own timeout. */
const TIMEOUT_MS = 5_000;
/** More at once than Node's default backlog. `e2e slow-clients` tests the built service. */
const SLOW_CLIENTS = Number(process.env['SLOW_CLIENTS'] ?? 1_000);
const DRIP_MS = 500;

let front: FrontServer | null = null;
afterEach(async () => {
  await front?.close(0);
  front = null;
});

/** A server that answers complete requests of both planes. */
async function aServer(): Promise<{ port: number; ended: string[] }> {
  const ended: string[] = [];
  const port = await listening({
    handle: (request, response) => {
      readBody(request, Infinity).then(
        () => {
          response.writeHead(200, ['content-length', '5']);
          response.end('whole');
        },
        () => ended.push('broken off'),
      );
    },
  });
  return { port, ended };
}

type AnyPlane = Plane<ClientRequest, ClientResponse>;

async function listening(gateway: AnyPlane, upgraded: string[] = [], hasFastPath = true): Promise<number> {
  const sockets = { handle: () => upgraded.push('upgraded'), close: () => undefined };
  const probes = { answer: () => false };
  const administration = { ...gateway, endEventStreams: () => undefined };
  const planes = { gateway, administration, probes, sockets } as unknown as Planes;
  front = new FrontServer(planes, { requestTimeoutMs: TIMEOUT_MS, hasFastPath, tls: null });
  await front.listen(0, '127.0.0.1');
  const { server } = front as unknown as { server: { address(): AddressInfo } };
  return server.address().port;
}

/** Sends a body byte by byte as long as the connection lasts. Returns the response. */
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

describe('a client that never finishes', () => {
  it.each(['/v1/chat/completions', '/v1/api-keys'])(
    'D08: gets 408 at %s after its timeout, and delays no other request',
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
      // A client may notice its end before the server's own socket is closed.
      await expect.poll(() => ended).toHaveLength(SLOW_CLIENTS);
    },
  );
});

describe('the fast path', () => {
  it.each([
    [true, FastRequest],
    [false, IncomingMessage],
  ])('reads plainly written requests where the setting allows it (%s)', async (hasFastPath, kind) => {
    const seen: ClientRequest[] = [];
    const gateway: AnyPlane = {
      handle: (request, response) => {
        seen.push(request);
        response.writeHead(200, ['content-length', '2']);
        response.end('ok');
      },
    };
    const port = await listening(gateway, [], hasFastPath);
    const answer = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: 'POST',
      body: '{}',
    });

    expect(await answer.text()).toBe('ok');
    expect(seen).toEqual([expect.any(kind)]);
  });
});

describe('a connection that announced its close', () => {
  const upgrade = 'connection: upgrade\r\nupgrade: websocket\r\n';

  it.each([
    ['request', ''],
    ['wish for a WebSocket', upgrade],
  ])('takes no further %s', async (_, fields) => {
    const handled: string[] = [];
    const refusing: AnyPlane = {
      handle: (request, response) => {
        handled.push(request.url ?? '');
        response.writeHead(413, ['connection', 'close', 'content-length', '2']).write(Buffer.from('no'));
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

describe('a part of the administration that is not built', () => {
  const SECRET = 'sk-that-nobody-may-see';

  it.each(['/v1/mcp-servers', '/v1/%6dcp-integrations?a', '/v1//SCIM/workspaces'])(
    'is refused by the head of a request, of which no plane sees anything: %s',
    async (path) => {
      const handled: string[] = [];
      const port = await listening({ handle: ({ url = '' }) => void handled.push(url) }, handled);
      const body = JSON.stringify({ api_key: SECRET });
      const headers = { 'content-type': 'application/json', 'x-gateway-provider': 'openai' };
      for (const method of ['POST', 'PUT', 'DELETE', 'GET']) {
        const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
          method,
          headers,
          ...(method === 'GET' ? {} : { body }),
        });
        const text = await answer.text();

        expect([answer.status, answer.headers.get('x-gateway-error-source')]).toEqual([501, 'gateway']);
        expect(text).toContain('not_built');
        expect(text).not.toContain(SECRET);
      }
      const upgrade = await exchanged(
        port,
        `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n`,
      );
      const waiting = await exchanged(
        port,
        `POST ${path} HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 5\r\n\r\n`,
      );

      expect(upgrade).toMatch(/^HTTP\/1\.1 501 /);
      expect(waiting).toMatch(/^HTTP\/1\.1 501 /);
      expect(handled).toEqual([]);
    },
  );

  /** Sends a head. Returns the response. */
  function exchanged(port: number, head: string): Promise<string> {
    return new Promise((resolve) => {
      const socket = createConnection(port, '127.0.0.1');
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk.toString();
        if (text.endsWith('}')) socket.end();
      });
      socket.on('error', () => undefined).on('close', () => resolve(text));
      socket.write(head);
    });
  }
});

describe('a client that waits for 100 Continue', () => {
  const HEAD = (path: string): string =>
    `POST ${path} HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 2\r\nconnection: close\r\n\r\n`;

  /** Sends the head, and the body on request. Returns the response. */
  function waiting(port: number, path: string): Promise<string> {
    return new Promise((resolve) => {
      const socket = createConnection(port, '127.0.0.1');
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk.toString();
        if (text === 'HTTP/1.1 100 Continue\r\n\r\n') socket.write('{}');
        else if (text.endsWith('no')) socket.end();
      });
      socket.on('error', () => undefined).on('close', () => resolve(text));
      socket.write(HEAD(path));
    });
  }

  it.each(['/v1/chat/completions', '/v1/api-keys'])('is refused at %s by its head alone', async (path) => {
    const refusing: AnyPlane = {
      handle: (request, response) => {
        response.writeHead(401, ['connection', 'close', 'content-length', '2']).write(Buffer.from('no'));
        endLingering(request, response);
      },
    };
    const port = await listening(refusing);

    const text = await waiting(port, path);

    expect(text).toMatch(/^HTTP\/1\.1 401 /);
    expect(text).not.toContain('100 Continue');
  });

  it.each(['/v1/chat/completions', '/v1/api-keys'])('receives one 100 Continue at %s', async (path) => {
    const { port } = await aServer();

    const text = await waiting(port, path);

    expect(text).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 [^]*whole$/);
  });

  it('receives 100 Continue when the body is read piece by piece', async () => {
    const port = await listening({
      handle: (request, response) => {
        void (async () => {
          for await (const chunk of request as IncomingMessage) expect(String(chunk)).toBe('{}');
          response.writeHead(200, ['content-length', '5']);
          response.end('whole');
        })();
      },
    });

    expect(await waiting(port, '/v1/files')).toMatch(/^HTTP\/1\.1 100 [^]*200 [^]*whole$/);
  });
});

/** The response to these bytes, until the connection ends. */
function answered(port: number, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1');
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString()));
    socket.on('error', () => undefined).on('close', () => resolve(text));
    socket.write(bytes);
  });
}

const post = (path: string, fields = ''): string =>
  `POST ${path} HTTP/1.1\r\nhost: x\r\n${fields}content-length: 2\r\n\r\n{}`;

describe('the fast path of the web server', () => {
  /** A server whose responses name the path that served the request. */
  async function servingPort(): Promise<number> {
    return listening({
      handle: (request, response) => {
        const body = Buffer.from(request instanceof FastRequest ? 'fast' : 'slow');
        response.writeHead(200, ['content-length', '4']).end(body);
      },
    });
  }

  it.each([
    ['fast', '/v1/chat/completions'],
    ['fast', '/v1beta/models/x:generateContent'],
    ['fast', '/v1/files'],
    ['slow', '/v1/api-keys'],
    ['slow', '/v1/%41pi-keys/x'],
    ['slow', '/readyz'],
  ])('serves what is for the data plane alone: %s for %s', async (server, path) => {
    const port = await servingPort();
    const text = await answered(port, post(path) + post('/v1/x', 'connection: close\r\n'));

    expect(text.match(/fast|slow/g)).toEqual([server, 'slow']);
  });

  it('gets connections back that moved to Node and bring requests for it: they end with a response', async () => {
    const port = await servingPort();
    const chunked = 'POST /v1/x HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n';
    const odd = post('/v1/x', 'x-a: 1\r\nx-a: 2\r\n');
    const text = await answered(port, (chunked + odd).repeat(10) + post('/v1/x').repeat(16));
    const answers = text.split('HTTP/1.1 200 OK').slice(1);

    expect(answers).toHaveLength(36);
    expect(answers.map((answer) => answer.includes('Connection: close'))).toEqual([
      ...Array.from({ length: 35 }, () => false),
      true,
    ]);
    expect(text).not.toContain('fast');
  });

  it.each([true, false])(
    'refuses headers above 16 KiB with an error that names the limit, and takes shorter ones (fast path: %s)',
    async (hasFastPath) => {
      const answers: AnyPlane = {
        handle: (_, response) => void response.writeHead(200, ['content-length', '0']).end(),
      };
      const port = await listening(answers, [], hasFastPath);
      const headed = (bytes: number): string =>
        post('/v1/x', `x-gateway-config: ${'a'.repeat(bytes)}\r\nconnection: close\r\n`);
      const [large, small] = [await answered(port, headed(40_000)), await answered(port, headed(12_000))];
      const [head = '', body = ''] = large.split('\r\n\r\n');

      expect(head).toMatch(/^HTTP\/1\.1 431 [^]*content-type: application\/json/);
      expect(head).toContain(`content-length: ${Buffer.byteLength(body)}`);
      expect(JSON.parse(body)).toMatchObject({ error: { code: 'headers_too_large' } });
      expect(small).toMatch(/^HTTP\/1\.1 200 /);
    },
  );

  it('refuses a head that no honest client sends, as the other does', async () => {
    const port = await servingPort();
    const bytes = post('/v1/x').replace('host: x', 'host: a b');
    const closing = 'connection: close\r\ncontent-length';
    const [fast, slow] = await Promise.all([
      answered(port, bytes + post('/v1/x', 'connection: close\r\n')),
      answered(port, bytes.replace('content-length', closing)),
    ]);

    for (const text of [fast, slow]) expect(text).toMatch(/^HTTP\/1\.1 400 [^]*"header_invalid"/);
  });

  it('ends connections with their response when the process drains', async () => {
    const port = await servingPort();
    front?.drain();

    expect(await answered(port, post('/v1/x'))).toMatch(/\r\nConnection: close\r\n[^]*fast$/);
  });

  it.each([
    ['the fast path', post('/v1/x')],
    ["Node's server", post('/v1/x', 'accept-encoding: gzip\r\nexpect: 100-continue\r\n')],
  ])(
    'ends connections with the response to a request that came to %s before the drain',
    async (_, request) => {
      let answer: (() => void) | null = null;
      const port = await listening({
        handle: (_request, response) => {
          answer = () => response.writeHead(200, ['content-length', '2']).end(Buffer.from('ok'));
        },
      });
      const text = answered(port, request);
      await expect.poll(() => answer).not.toBeNull();
      front?.drain();
      (answer as (() => void) | null)?.();

      expect(await text).toMatch(/\r\nConnection: close\r\n[^]*ok$/i);
    },
  );

  it('lets its exchanges finish when the server closes, and cuts them after the timeout', async () => {
    let answer: () => void = () => undefined;
    const handled: string[] = [];
    const port = await listening({
      handle: (request, response) => {
        handled.push(request.url ?? '');
        if (request.url === '/v1/ends')
          answer = () => response.writeHead(200, ['content-length', '2']).end(Buffer.from('ok'));
      },
    });
    const texts = Promise.all([answered(port, post('/v1/ends')), answered(port, post('/v1/never'))]);
    await expect.poll(() => handled).toHaveLength(2);
    const closed = front?.close(1_000);
    answer();
    await closed;
    front = null;

    expect(await texts).toEqual([expect.stringMatching(/ok$/), '']);
  });
});
