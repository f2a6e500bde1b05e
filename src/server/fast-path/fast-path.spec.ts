import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { FastPath } from './fast-path.js';
import { FastRequest } from '../../common/http/fast-request.js';
import type { ClientRequest, ClientResponse } from '../../common/http/messages.js';

type Handle = (request: ClientRequest, response: ClientResponse, body: Buffer) => void;

interface Front {
  readonly port: number;
  /** Targets in the order of their requests, with those of the fast path marked. */
  readonly seen: string[];
  readonly path: FastPath | null;
}

const opened: { server: Server; path: FastPath | null }[] = [];
afterEach(() => {
  for (const { server, path } of opened.splice(0)) {
    path?.closeAll();
    server.closeAllConnections();
    server.close();
  }
});

function bodyOf(request: ClientRequest): Promise<Buffer> {
  if (request instanceof FastRequest) return Promise.resolve(request.body);
  return request.toArray().then((chunks) => Buffer.concat(chunks as Buffer[]));
}

/** A server with or without the fast path. */
async function front(handle: Handle, isFast = true, keepAliveMs = 75_000): Promise<Front> {
  const seen: string[] = [];
  const serve = (request: ClientRequest, response: ClientResponse): void => {
    seen.push(`${request instanceof FastRequest ? 'fast ' : ''}${request.url ?? ''}`);
    bodyOf(request).then(
      (body) => handle(request, response, body),
      () => undefined,
    );
  };
  const server = createServer({ noDelay: true }, serve);
  server.keepAliveTimeout = keepAliveMs;
  let path: FastPath | null = null;
  if (isFast) {
    const [byNode] = server.listeners('connection') as ((socket: Socket) => void)[];
    server.removeAllListeners('connection');
    const parts = {
      keepAliveMs,
      isTaken: (url: string) => url.startsWith('/v1/'),
      handle: serve,
      serveByNode: (socket: Socket) => byNode?.call(server, socket),
    };
    path = new FastPath(parts);
    server.on('connection', (socket: Socket) => path?.accept(socket));
  }
  opened.push({ server, path });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, seen, path };
}

interface Client {
  readonly socket: Socket;
  readonly text: () => string;
  readonly closed: Promise<string>;
}

function client(port: number): Client {
  const socket = connect(port, '127.0.0.1').setNoDelay();
  const parts: Buffer[] = [];
  const text = (): string => Buffer.concat(parts).toString('latin1');
  const closed = new Promise<string>((resolve) => {
    socket.on('close', () => resolve(text()));
  });
  socket.on('data', (part) => parts.push(part)).on('error', () => undefined);
  return { socket, text, closed };
}

const post = (url: string, body = '{}', fields = ''): string =>
  `POST ${url} HTTP/1.1\r\nhost: x\r\n${fields}content-length: ${Buffer.byteLength(body, 'latin1')}\r\n\r\n${body}`;

/** Many kinds of responses, selected by the target. */
const answers: Readonly<Record<string, Handle>> = {
  echo: (_, response, body) => {
    response.writeHead(200, ['x-a', 'caf\u00e9', 'content-length', String(body.length)]).end(body);
  },
  chunked: (_, response, body) => {
    response.writeHead(200, ['content-type', 'text/plain']).end(body);
  },
  pieces: (_, response, body) => {
    response.writeHead(201, 'Made here', []);
    response.flushHeaders();
    response.write(Buffer.from('first'));
    response.write(Buffer.alloc(0));
    response.write(body);
    response.end();
  },
  large: (_, response) => {
    response.writeHead(200, ['content-length', String(3 * 40_000)]);
    for (let times = 0; times < 3; times++) response.write(Buffer.alloc(40_000, 'x'));
    response.end();
  },
  'large-chunks': (_, response) => {
    response.writeHead(200, []);
    response.write(Buffer.alloc(40_000, 'x'));
    response.end(Buffer.alloc(40_000, 'y'));
  },
  nothing: (_, response) => {
    response.writeHead(204, []).end();
  },
  unchanged: (_, response) => {
    response.writeHead(304, ['content-length', '17']).end();
  },
  strange: (_, response) => {
    response.writeHead(799, ['content-length', '0']).end();
  },
  dated: (_, response) => {
    response.sendDate = false;
    response.writeHead(200, ['Date', 'today', 'content-length', '2']).end('ok');
  },
  closing: (_, response) => {
    response.writeHead(200, ['connection', 'close', 'content-length', '2']).end('ok');
  },
  last: (_, response) => {
    response.shouldKeepAlive = false;
    response.writeHead(200, ['content-length', '2']).end('ok');
  },
};

const handleAny: Handle = (request, response, body) => {
  answers[(request.url ?? '').split('/').at(-1) ?? '']?.(request, response, body);
};

const undated = (text: string): string => text.replaceAll(/\r\nDate: [^\r]*GMT\r\n/g, '\r\nDate: now\r\n');

/** Heads unchanged, with the bodies after them: newer versions of Node put writes of one turn into one chunk. */
function answersIn(text: string): readonly string[] {
  const found: string[] = [];
  for (let at = 0; at < text.length;) {
    const bodyAt = text.indexOf('\r\n\r\n', at) + 4;
    const head = text.slice(at, bodyAt);
    const length = /^content-length: (\d+)/im.exec(head)?.[1];
    at = bodyAt;
    found.push(head);
    if (/^HTTP\/1\.1 [23]04/.test(head)) continue;
    if (!/^transfer-encoding: chunked/im.test(head)) {
      at += Number(length);
      found.push(text.slice(bodyAt, at));
      continue;
    }
    let body = '';
    for (let size = NaN; size !== 0;) {
      const lineEnd = text.indexOf('\r\n', at);
      size = Number.parseInt(text.slice(at, lineEnd), 16);
      body += text.slice(lineEnd + 2, lineEnd + 2 + size);
      at = lineEnd + 2 + size + 2;
    }
    found.push(body);
  }
  return found;
}

/** The response to these bytes, followed by a last request that closes the connection. */
async function exchanged({ port }: Front, bytes: string, cuts: readonly number[] = []): Promise<string> {
  const { socket, closed } = client(port);
  let from = 0;
  for (const cut of [...cuts, bytes.length]) {
    socket.write(bytes.slice(from, cut), 'latin1');
    from = cut;
    if (from < bytes.length) await sleep(1);
  }
  return undated(await closed);
}

const END = post('/v1/last');

describe('a response of the fast path', () => {
  it.each(Object.keys(answers))('is to the byte what the server of Node would write: %s', async (name) => {
    const bytes = post(`/v1/${name}`, '{"text":"caf\u00c3\u00a9"}') + END;
    const [fast, slow] = [await front(handleAny), await front(handleAny, false)];
    const [ours, theirs] = await Promise.all([exchanged(fast, bytes), exchanged(slow, bytes)]);

    expect(answersIn(ours)).toEqual(answersIn(theirs));
    expect(fast.seen[0]).toBe(`fast /v1/${name}`);
  });

  it.each([
    ['a name', ['x a', 'b']],
    ['a value', ['x-a', 'b\r\nx-b: c']],
    ['a character', ['x-a', '\u20ac']],
  ])('is not begun with %s that HTTP does not know', async (_, headers) => {
    const thrown: unknown[] = [];
    const { port } = await front((_request, response) => {
      try {
        response.writeHead(200, headers);
      } catch (error) {
        thrown.push(error);
      }
      response.destroy();
    });

    expect(await exchanged({ port, seen: [], path: null }, post('/v1/x'))).toBe('');
    expect(thrown).toHaveLength(1);
  });

  it('has a head before anything else', async () => {
    const thrown: unknown[] = [];
    const { port } = await front((_, response) => {
      try {
        response.write(Buffer.from('HTTP/1.1 200 OK'));
      } catch (error) {
        thrown.push(error);
      }
      response.destroy();
    });

    expect(await exchanged({ port, seen: [], path: null }, post('/v1/x'))).toBe('');
    expect(thrown).toHaveLength(1);
  });

  it('waits for a client that reads slowly, and loses nothing', async () => {
    let waits = 0;
    const pieces = 400;
    const { port } = await front((request, response, body) => {
      if (request.url === '/v1/last') return handleAny(request, response, body);
      response.writeHead(200, []);
      const next = (left: number): void => {
        if (left === 0) return response.end() as undefined;
        if (response.write(Buffer.alloc(32 * 1024, 'x'))) return next(left - 1);
        waits++;
        response.once('drain', () => next(left - 1));
      };
      next(pieces);
    });
    const { socket, closed } = client(port);
    socket.pause().write(post('/v1/x') + END);
    await sleep(300);
    expect(waits).toBeGreaterThan(0);
    socket.resume();
    const text = await closed.then((whole) => whole.replaceAll('8000\r\n', ''));

    expect(text.split('x').length - 1).toBeGreaterThanOrEqual(pieces * 32 * 1024);
  }, 20_000);
});

describe('requests on one connection', () => {
  const mixed =
    post('/v1/echo', 'one') +
    'GET /v1/echo HTTP/1.1\r\nhost: x\r\n\r\n' +
    post('/v1/echo', 'two') +
    'HEAD /v1/nothing HTTP/1.1\r\nhost: x\r\n\r\n' +
    'GET /v1/pieces HTTP/1.1\r\nhost: x\r\n\r\n' +
    `POST /v1/pieces HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n` +
    post('/v1/chunked', 'x'.repeat(300_000)) +
    END;

  it('get responses in their order, whoever serves them and wherever they are cut', async () => {
    const theirs = answersIn(await exchanged(await front(handleAny, false), mixed));
    const marks = [...mixed.matchAll(/POST|GET|HEAD|\r\n\r\n/g)].map(({ index }) => index);
    for (const cuts of [
      [],
      ...marks.map((at) => [at]),
      ...marks.map((at) => [Math.max(0, at - 1), at + 2]),
      marks,
    ]) {
      const fast = await front(handleAny);
      expect(answersIn(await exchanged(fast, mixed, cuts))).toEqual(theirs);
      expect(fast.seen.map((url) => url.replace('fast ', ''))).toEqual([
        ...[
          '/v1/echo',
          '/v1/echo',
          '/v1/echo',
          '/v1/nothing',
          '/v1/pieces',
          '/v1/pieces',
          '/v1/chunked',
          '/v1/last',
        ],
      ]);
    }
  }, 30_000);

  it('that come byte by byte are whole', async () => {
    const bytes = post('/v1/echo', 'one') + post('/v1/chunked', 'two') + END;
    const cuts = Array.from({ length: bytes.length - 1 }, (_, at) => at + 1);
    const theirs = await exchanged(await front(handleAny, false), bytes);

    expect(await exchanged(await front(handleAny), bytes, cuts)).toBe(theirs);
  }, 20_000);

  it('that all came at once wait for the response before theirs', async () => {
    const order: string[] = [];
    const fast = await front((request, response, body) => {
      order.push(`begins ${body.toString()}`);
      setTimeout(() => {
        order.push(`ends ${body.toString()}`);
        handleAny(request, response, body);
      }, 10);
    });
    await exchanged(fast, post('/v1/echo', 'one') + post('/v1/echo', 'two') + END);

    expect(order.slice(0, 4)).toEqual(['begins one', 'ends one', 'begins two', 'ends two']);
    expect(fast.seen).toEqual(['fast /v1/echo', 'fast /v1/echo', 'fast /v1/last']);
  });

  it('of many clients at once get their own responses', async () => {
    const { port } = await front((request, response, body) => {
      setImmediate(() => handleAny(request, response, body));
    });
    const texts = await Promise.all(
      Array.from({ length: 200 }, async (_, at) => {
        const bytes = Array.from({ length: 20 }, (__, nth) => post('/v1/echo', `<${at}-${nth}>`)).join('');
        return (await exchanged({ port, seen: [], path: null }, bytes + END)).match(/<\d+-\d+>/g);
      }),
    );

    texts.forEach((found, at) => {
      expect(found).toEqual(Array.from({ length: 20 }, (_, nth) => `<${at}-${nth}>`));
    });
  }, 20_000);

  it('that send on and on while they wait are read no further than they need', async () => {
    const fast = await front(() => undefined);
    const { socket } = client(fast.port);
    socket.write(post('/v1/x'));
    const flood = Buffer.alloc(16 * 1024 * 1024, 'x');
    socket.write(flood);
    await sleep(300);

    // The system buffers a part of it; the rest waits at the client.
    expect(socket.bytesWritten - socket.writableLength).toBeLessThan(flood.length);
    expect(socket.writableLength).toBeGreaterThan(0);
  });
});

describe('a client that does not send all at once', () => {
  it('is served by the server of Node when half a second has passed', async () => {
    const fast = await front(handleAny);
    const { socket, closed } = client(fast.port);
    const bytes = post('/v1/echo', 'slowly');
    socket.write(bytes.slice(0, -3));
    await sleep(700);
    expect(fast.seen).toEqual(['/v1/echo']);
    socket.write(bytes.slice(-3) + END);

    expect(await closed).toMatch(/slowly[^]*ok$/);
    expect(fast.seen).toEqual(['/v1/echo', '/v1/last']);
  });

  it('is served by it from the start of a request that it says nothing of, too', async () => {
    const fast = await front(handleAny);
    const { socket, closed } = client(fast.port);
    await sleep(700);
    socket.write(END);

    expect(await closed).toMatch(/ok$/);
    expect(fast.seen).toEqual(['/v1/last']);
  });

  it.each([
    ['ends', (socket: Socket) => socket.end(), /^HTTP\/1\.1 400 Bad Request\r\nConnection: close\r\n\r\n$/],
    ['breaks off', (socket: Socket) => socket.resetAndDestroy(), /^$/],
  ])('and %s during a body is seen as a client that left', async (_, leave, said) => {
    const left: boolean[] = [];
    const fast = await front((request, response) => {
      response.on('close', () => undefined);
      left.push(request.complete, response.destroyed);
      response.writeHead(200, []).end('nobody hears it');
    });
    const { socket, closed } = client(fast.port);
    socket.write(post('/v1/echo', 'whole').slice(0, -2));
    await sleep(50);
    leave(socket);

    expect(await closed).toMatch(said);
    await expect.poll(() => left).toEqual([false, true]);
    expect(fast.seen).toEqual(['fast /v1/echo']);
  });

  it('and ends during the headers gets an error, and was no request', async () => {
    const fast = await front(handleAny);
    const { socket, closed } = client(fast.port);
    socket.end('POST /v1/echo HTTP/1.1\r\nhost: x');

    expect(await closed).toMatch(/^HTTP\/1\.1 400 /);
    expect(fast.seen).toEqual([]);
  });

  it('and leaves before its response is reported as gone, once', async () => {
    const events: string[] = [];
    const fast = await front((_, response) => {
      response.on('close', () => events.push(`closed, finished: ${response.writableFinished}`));
      response.writeHead(200, []);
      response.write(Buffer.from('first'));
    });
    const { socket, text } = client(fast.port);
    socket.write(post('/v1/x'));
    await expect.poll(text).toContain('first');
    socket.destroy();

    await expect.poll(() => events).toEqual(['closed, finished: false']);
  });

  it('survives a caller that destroys a finished response', async () => {
    const responses: ClientResponse[] = [];
    const fast = await front((request, response, body) => {
      responses.push(response);
      handleAny(request, response, body);
    });
    const { socket, text, closed } = client(fast.port);
    socket.write(post('/v1/echo', 'one'));
    await expect.poll(text).toContain('one');
    await expect.poll(() => responses[0]?.writableFinished).toBe(true);
    responses[0]?.destroy();
    responses[0]?.end('more');
    socket.write(END);

    expect(await closed).toMatch(/ok$/);
  });
});

describe('a connection that waits for its next request', () => {
  it('ends when it times out', async () => {
    const fast = await front(handleAny, true, 1_000);
    const { socket, text, closed } = client(fast.port);
    socket.write(post('/v1/echo', 'one'));
    await expect.poll(text).toContain('one');

    expect(await closed).toMatch(/Keep-Alive: timeout=1\r\n[^]*one$/);
  });

  it('ends when idle ones are closed, and one that is being served does not', async () => {
    let answer: () => void = () => undefined;
    const fast = await front((request, response, body) => {
      if (request.url === '/v1/echo') return handleAny(request, response, body);
      answer = () => handleAny(request, response, body);
    });
    const [idle, busy] = [client(fast.port), client(fast.port)];
    idle.socket.write(post('/v1/echo', 'one'));
    busy.socket.write(post('/v1/chunked', 'two'));
    await expect.poll(idle.text).toContain('one');
    await expect.poll(() => fast.seen).toHaveLength(2);
    fast.path?.closeIdle();
    await idle.closed;
    answer();
    await expect.poll(busy.text).toMatch(/two\r\n0\r\n\r\n$/);
    expect(busy.socket.destroyed).toBe(false);
    fast.path?.closeAll();
    await busy.closed;
  });
});
