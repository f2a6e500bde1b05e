import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { connect } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { aPool, aRequest, RawUpstream, Recorder } from '../../../test/support/http1.js';
import { upstreamFailure } from '../upstream-failure.js';
import type { ConnectionPool, PoolOptions } from './connection-pool.js';
import { InvalidRequestError } from './http1-error.js';
import type { HttpRequest } from './request-head.js';

const answer = (text: string, ...fields: readonly string[]): string =>
  [`HTTP/1.1 200 OK`, `content-length: ${text.length}`, ...fields, '', text].join('\r\n');
const OK = answer('ok');

const upstreams: RawUpstream[] = [];
const pools: ConnectionPool[] = [];

afterEach(() => {
  for (const pool of pools.splice(0)) pool.destroy();
  for (const upstream of upstreams.splice(0)) upstream.close();
});

type Play = (socket: Socket, request: string, connection: number) => void;

async function aWorld(play: Play, wishes: Partial<PoolOptions> = {}) {
  const upstream = await new RawUpstream(play).listen();
  const pool = aPool(upstream.port, wishes);
  upstreams.push(upstream);
  pools.push(pool);
  const send = (recorder = new Recorder(), request: Partial<HttpRequest> = {}): Recorder => {
    pool.dispatch(aRequest(request), recorder);
    return recorder;
  };
  const call = async (request: Partial<HttpRequest> = {}): Promise<string> => {
    const recorder = await send(new Recorder(), request).ended;
    return recorder.ending === 'complete' ? recorder.text : upstreamFailure(recorder.ending).message;
  };
  return { upstream, pool, send, call };
}

/** Some turns of the event loop, in which everything written here arrives. */
const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  await new Promise((resolve) => setTimeout(resolve, 20));
};

const CLOSED = 'The request to the provider failed: connection closed.';

/** Responds on command, in the order of the requests. */
function onCommand() {
  const asked: Socket[] = [];
  const play: Play = (socket) => void asked.push(socket);
  const reply = (text = OK): void => void asked.shift()?.write(text);
  return { asked, play, reply };
}

describe('a connection', () => {
  it('serves one request after the other', async () => {
    const { upstream, call } = await aWorld((socket) => socket.write(OK));

    for (let round = 0; round < 20; round++) expect(await call()).toBe('ok');
    expect(upstream.sockets).toHaveLength(1);
  });

  it('serves one request after the other over TLS', async () => {
    const fixture = (name: string): string =>
      readFileSync(new URL(`../../../test/fixtures/tls/self-signed.${name}.pem`, import.meta.url), 'utf8');
    let connections = 0;
    const server = createServer({ key: fixture('key'), cert: fixture('cert') }, (request, response) => {
      request.resume().on('end', () => response.end(`ok ${request.headers['content-length'] ?? ''}`));
    });
    server.on('secureConnection', () => (connections += 1));
    await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
    const { port } = server.address() as AddressInfo;
    const pool = aPool(port, {
      connect: (connected) => {
        const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
        socket.once('secureConnect', () => connected(null, socket));
      },
    });
    pools.push(pool);

    for (const size of [0, 100, 20_000, 1_000_000, 5]) {
      const recorder = new Recorder();
      pool.dispatch(aRequest({ method: 'POST', body: Buffer.alloc(size, 'x') }), recorder);
      expect((await recorder.ended).text).toBe(`ok ${size}`);
      await settled();
    }
    expect(connections).toBe(1);
    server.closeAllConnections();
    server.close();
  });

  it('serves one request at a time', async () => {
    const { asked, play, reply } = onCommand();
    const { upstream, send } = await aWorld(play);
    const calls = [send(), send(), send()];
    await expect.poll(() => asked.length).toBe(3);
    for (let left = 3; left > 0; left--) reply();

    await Promise.all(calls.map(({ ended }) => ended));
    expect(upstream.sockets).toHaveLength(3);
    expect(upstream.received.every((text) => text.split('GET').length === 2)).toBe(true);
  });

  it('that has just become free is preferred to opening a new one', async () => {
    const { upstream, send } = await aWorld((socket) => socket.write(OK));
    const second = new Recorder();
    const first = new Recorder();
    first.onComplete = () => send(second);
    send(first);

    expect((await second.ended).text).toBe('ok');
    expect(upstream.sockets).toHaveLength(1);
  });

  it('is taken by the next request when it was the last to rest', async () => {
    const { asked, play, reply } = onCommand();
    const { upstream, send } = await aWorld(play);
    const calls = [send(), send()];
    await expect.poll(() => asked.length).toBe(2);
    const second = asked[1] as Socket;
    reply();
    await calls[0]?.ended;
    await settled();
    reply();
    await calls[1]?.ended;
    await settled();

    for (let round = 0; round < 3; round++) {
      const next = send();
      await expect.poll(() => asked.length).toBe(1);
      expect(asked[0]).toBe(second);
      reply();
      await next.ended;
      await settled();
    }
    expect(upstream.sockets).toHaveLength(2);
  });

  it.each([
    ['the answer says close', answer('ok', 'connection: close'), {}],
    ['the answer is of version 1.0', OK.replace('HTTP/1.1', 'HTTP/1.0'), {}],
    ['it keeps no connection for long enough', answer('ok', 'keep-alive: timeout=2'), {}],
    ['more came than the answer', `${OK}x`, {}],
    ['the request said close', OK, { headers: ['connection', 'close'] }],
    ['a GET had a body', OK, { body: Buffer.from('x') }],
  ])('is not used again where %s', async (_, text, request) => {
    const { upstream, call } = await aWorld((socket) => socket.write(text));

    expect([await call(request), await call(request)]).toEqual(['ok', 'ok']);
    expect(upstream.sockets).toHaveLength(2);
    await expect.poll(() => upstream.open).toBe(0);
  });

  it('is not reused after HEAD, and a body that follows is delivered to no request', async () => {
    const { upstream, call } = await aWorld((socket) => socket.write(OK));

    expect(await call({ method: 'HEAD' })).toBe('');
    expect(await call()).toBe('ok');
    expect(upstream.received[0]).toContain('connection: close\r\n');
    expect(upstream.sockets).toHaveLength(2);
  });

  it('is not reused when the response came before the request had left', async () => {
    const { upstream, call } = await aWorld((socket) => {
      if (!socket.isPaused()) socket.write(OK);
      socket.pause();
    });

    expect(await call({ method: 'POST', body: Buffer.alloc(32 * 1024 * 1024) })).toBe('ok');
    expect(await call()).toBe('ok');
    expect(upstream.sockets).toHaveLength(2);
  });

  it('serves so many requests and no more, and the last of them announces it', async () => {
    const { upstream, call } = await aWorld((socket) => socket.write(OK), { requestsPerConnection: 3 });

    for (let round = 0; round < 7; round++) expect(await call()).toBe('ok');
    expect(upstream.sockets).toHaveLength(3);
    expect(upstream.received[0]?.match(/connection: [\w-]+/g)).toEqual([
      'connection: keep-alive',
      'connection: keep-alive',
      'connection: close',
    ]);
  });
});

describe('an idle connection', () => {
  it('is closed when it expires', async () => {
    const { upstream, call } = await aWorld((socket) => socket.write(OK), { keepAliveMs: 1_100 });

    expect(await call()).toBe('ok');
    await settled();
    expect(upstream.open).toBe(1);
    await expect.poll(() => upstream.open).toBe(0);
    expect(await call()).toBe('ok');
  });

  it('is closed before the other side does, which says when', async () => {
    const { upstream, call } = await aWorld((socket) =>
      socket.write(answer('ok', 'Keep-Alive: max=9, timeout=3')),
    );

    expect(await call()).toBe('ok');
    const since = performance.now();
    await expect.poll(() => upstream.open, { interval: 20 }).toBe(0);
    expect(performance.now() - since).toBeLessThan(30_000);
  });

  it('is given up when the other side closes it', async () => {
    const { upstream, call } = await aWorld((socket) => socket.write(OK));

    expect(await call()).toBe('ok');
    upstream.sockets[0]?.end();
    await settled();
    expect(await call()).toBe('ok');
    expect(upstream.sockets).toHaveLength(2);
  });

  it('is given up when the other side resets it', async () => {
    const { upstream, call } = await aWorld((socket) => socket.write(OK));

    expect(await call()).toBe('ok');
    upstream.sockets[0]?.resetAndDestroy();
    await settled();
    expect(await call()).toBe('ok');
    expect(upstream.sockets).toHaveLength(2);
  });

  it('is not reused when its end has arrived unread', async () => {
    const { upstream, send, call } = await aWorld((socket) => socket.write(OK));

    for (let round = 0; round < 20; round++) {
      expect(await call()).toBe('ok');
      await settled();
      upstream.sockets.at(-1)?.end();
      // The process is busy while the end arrives, together with the request.
      for (const until = performance.now() + 5; performance.now() < until;);
      expect((await send().ended).text).toBe('ok');
    }
  });

  it('is dropped when unsolicited bytes arrive, and they reach no request', async () => {
    const { upstream, call } = await aWorld((socket, _, connection) =>
      socket.write(answer(`of ${connection}`)),
    );

    expect(await call()).toBe('of 0');
    await settled();
    upstream.sockets[0]?.write(answer('poison'));
    await settled();
    expect(await call()).toBe('of 1');
    await expect.poll(() => upstream.open).toBe(1);
  });

  it('is not reused when an unsolicited response lies in it unread', async () => {
    const { upstream, send, call } = await aWorld((socket, _, connection) =>
      socket.write(answer(`of ${connection}`)),
    );

    for (let round = 0; round < 20; round++) {
      expect(await call()).toBe(`of ${round}`);
      await settled();
      upstream.sockets.at(-1)?.write(answer('poison'));
      for (const until = performance.now() + 5; performance.now() < until;);
      expect((await send().ended).text).toBe(`of ${round + 1}`);
      upstream.sockets.at(-1)?.end();
      await settled();
      upstream.sockets.length = round + 1;
      upstream.received.length = round + 1;
    }
  });

  it('is not reused when the close follows right behind the response', async () => {
    const { call } = await aWorld((socket) => socket.end(OK));

    for (let round = 0; round < 50; round++) expect(await call()).toBe('ok');
  });
});

describe('requests beyond the limit', () => {
  it('wait, and go in their order', async () => {
    const { asked, play, reply } = onCommand();
    const { upstream, send } = await aWorld(play, { connections: 2 });
    const calls = Array.from({ length: 8 }, (_, index) => send(new Recorder(), { path: `/${index}` }));
    await expect.poll(() => asked.length).toBe(2);
    for (let left = 8; left > 0; left--) {
      await expect.poll(() => asked.length).toBeGreaterThan(0);
      reply();
    }

    for (const call of calls) expect((await call.ended).ending).toBe('complete');
    expect(upstream.sockets).toHaveLength(2);
    const order = upstream.received.map((text) =>
      [...text.matchAll(/GET \/(\d)/g)].map(([, number]) => Number(number)),
    );
    for (const numbers of order) expect(numbers).toEqual([...numbers].sort());
    expect(order.flat().sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  });

  it('get a new connection where the old one was closed', async () => {
    const { upstream, send } = await aWorld((socket) => socket.end(answer('ok', 'connection: close')), {
      connections: 1,
    });
    const calls = [send(), send(), send()];

    for (const call of calls) expect((await call.ended).text).toBe('ok');
    expect(upstream.sockets).toHaveLength(3);
  });

  it('are tried by themselves where the one before could not connect', async () => {
    const { upstream, send } = await aWorld(() => undefined, { connections: 1 });
    upstream.close();
    const calls = [send(), send(), send()];

    for (const call of calls) expect(upstreamFailure((await call.ended).ending).message).toMatch(/refused/);
  });

  it('are not sent once they are cancelled', async () => {
    const { asked, play, reply } = onCommand();
    const { upstream, send } = await aWorld(play, { connections: 1 });
    const first = send();
    const unwanted = new Recorder();
    unwanted.onConnect = (abort) => abort(new Error('left'));
    send(unwanted, { path: '/unwanted' });
    const last = send(new Recorder(), { path: '/last' });
    await expect.poll(() => asked.length).toBe(1);
    reply();
    await first.ended;
    await expect.poll(() => asked.length).toBe(1);
    reply();

    expect((await unwanted.ended).ending).toEqual(new Error('left'));
    expect((await last.ended).text).toBe('ok');
    expect(upstream.received.join()).not.toContain('unwanted');
    // Nothing was sent on the connection for the aborted exchange, so it served the next.
    expect(upstream.sockets).toHaveLength(1);
  });
});

describe('an exchange that is aborted', () => {
  const reason = new Error('left');

  it('before it is sent sends nothing', async () => {
    const { upstream, send } = await aWorld((socket) => socket.write(OK));
    const recorder = new Recorder();
    recorder.onConnect = (abort) => abort(reason);

    expect((await send(recorder).ended).ending).toBe(reason);
    await settled();
    expect(upstream.received.join('')).toBe('');
  });

  it('while it waits for the response closes the connection', async () => {
    const { asked, play } = onCommand();
    const { upstream, send } = await aWorld(play);
    const recorder = send();
    await expect.poll(() => asked.length).toBe(1);
    recorder.abort(reason);
    recorder.abort(new Error('again'));

    expect(recorder.ending).toBe(reason);
    await expect.poll(() => upstream.open).toBe(0);
  });

  it('during the body receives nothing more', async () => {
    const { upstream, send } = await aWorld((socket) => socket.write(`${OK.replace('2', '9')}more`));
    const recorder = new Recorder((self) => {
      self.abort(reason);
      return true;
    });

    expect((await send(recorder).ended).ending).toBe(reason);
    expect(recorder.chunks).toHaveLength(1);
    await expect.poll(() => upstream.open).toBe(0);
  });

  it('after its end does nothing to whoever has the connection now', async () => {
    const { asked, play, reply } = onCommand();
    const { upstream, send } = await aWorld(play);
    const first = send();
    await expect.poll(() => asked.length).toBe(1);
    reply();
    await first.ended;
    await settled();
    const second = send();
    await expect.poll(() => asked.length).toBe(1);
    first.abort(reason);
    first.resume();
    reply();

    expect((await second.ended).text).toBe('ok');
    expect(upstream.sockets).toHaveLength(1);
  });

  it('without a reason ends as a failure all the same', async () => {
    const { asked, play } = onCommand();
    const { send } = await aWorld(play);
    const recorder = send();
    await expect.poll(() => asked.length).toBe(1);
    recorder.abort();

    expect(upstreamFailure(recorder.ending).code).toBe('upstream_error');
  });

  it('by what its handler throws fails with that', async () => {
    const { call, send } = await aWorld((socket) => socket.write(OK));
    const recorder = new Recorder(() => {
      throw reason;
    });

    expect((await send(recorder).ended).ending).toBe(reason);
    expect(await call()).toBe('ok');
  });
});

describe('a reader that is slow', () => {
  const long = 'x'.repeat(8 * 1024 * 1024);

  it('gets the whole, and the other side waits meanwhile', async () => {
    const { upstream, send } = await aWorld((socket) => socket.write(answer(long)));
    const recorder = send(new Recorder(() => false));
    await expect.poll(() => recorder.chunks.length).toBe(1);
    await settled();

    expect(recorder.chunks).toHaveLength(1);
    expect(upstream.sockets[0]?.writableLength).toBeGreaterThan(0);
    const timer = setInterval(() => recorder.resume(), 0);
    await recorder.ended;
    clearInterval(timer);
    expect(recorder.body.length).toBe(long.length);
  });

  it('gets the whole of a body without a length, though the other side closed long ago', async () => {
    const { send } = await aWorld((socket) => socket.end(`HTTP/1.1 200 OK\r\n\r\n${long}`));
    const recorder = new Recorder((self) => {
      setTimeout(() => self.resume(), 1);
      return false;
    });

    expect((await send(recorder).ended).ending).toBe('complete');
    expect(recorder.body.length).toBe(long.length);
  });

  it.each([
    ['what is left of one read', 'HTTP/1.1 200 OK\r\n\r\nrest', 'rest', 'complete'],
    ['that the body was cut', 'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nrest', 'rest', CLOSED],
  ])('gets to know %s after the close', async (_, text, body, ending) => {
    const { send } = await aWorld((socket) => socket.end(text));
    const recorder = send(new Recorder(() => false));
    await expect.poll(() => recorder.chunks.length).toBe(1);
    await settled();

    expect(recorder.ending).toBeNull();
    recorder.resume();
    await recorder.ended;
    expect(recorder.text).toBe(body);
    expect(recorder.ending === 'complete' ? 'complete' : upstreamFailure(recorder.ending).message).toBe(
      ending,
    );
  });

  it('leaves no connection behind that was closed before it had taken the whole', async () => {
    const { upstream, send, call } = await aWorld((socket, _, connection) => {
      if (connection === 0) socket.end(OK);
      else socket.write(OK);
    });
    const recorder = send(new Recorder(() => false));
    await expect.poll(() => recorder.chunks.length).toBe(1);
    await settled();
    recorder.resume();

    expect((await recorder.ended).text).toBe('ok');
    await settled();
    expect([await call(), upstream.sockets.length]).toEqual(['ok', 2]);
  });

  it('receives a failure at once, though it has not read everything', async () => {
    const { upstream, send } = await aWorld((socket) => socket.write('HTTP/1.1 200 OK\r\n\r\nrest'));
    const recorder = send(new Recorder(() => false));
    await expect.poll(() => recorder.chunks.length).toBe(1);
    upstream.sockets[0]?.resetAndDestroy();

    await recorder.ended;
    expect(upstreamFailure(recorder.ending).code).toBe('upstream_error');
  });

  it('that reads more while it takes a piece is not ahead of itself', async () => {
    const { send } = await aWorld((socket) => socket.write(OK));
    const recorder = new Recorder((self) => {
      self.resume();
      setImmediate(() => self.resume());
      return false;
    });

    expect((await send(recorder).ended).text).toBe('ok');
  });
});

describe('an event of a stream', () => {
  it('is there before the next one is written', async () => {
    let more: () => void = () => undefined;
    const { send } = await aWorld((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      more = () => void socket.write('3\r\nabc\r\n');
    });
    const recorder = send();
    await expect.poll(() => recorder.status).toBe(200);
    for (let count = 1; count <= 5; count++) {
      more();
      await expect.poll(() => recorder.text).toBe('abc'.repeat(count));
    }
  });
});

describe('a pool', () => {
  it('that is closed takes nothing new and ends what it has, what waits included', async () => {
    const { asked, play, reply } = onCommand();
    const { upstream, pool, send, call } = await aWorld(play, { connections: 1 });
    const calls = [send(), send()];
    await expect.poll(() => asked.length).toBe(1);
    pool.close();
    expect(await call()).toBe(CLOSED);
    for (const running of calls) {
      await expect.poll(() => asked.length).toBe(1);
      reply();
      expect((await running.ended).text).toBe('ok');
    }

    await expect.poll(() => upstream.open).toBe(0);
  });

  it('that is closed lets its idle connections go', async () => {
    const { upstream, pool, call } = await aWorld((socket) => socket.write(OK));
    expect(await call()).toBe('ok');
    await settled();
    pool.close();

    await expect.poll(() => upstream.open).toBe(0);
  });

  it('that is destroyed fails what runs, what waits, and what is being connected', async () => {
    const { asked, play } = onCommand();
    const { upstream, pool, send } = await aWorld(play, { connections: 2 });
    const running = send();
    await expect.poll(() => asked.length).toBe(1);
    const connecting = send();
    const waiting = send();
    pool.destroy();

    for (const { ending } of [running, connecting, waiting])
      expect(upstreamFailure(ending).message).toBe(CLOSED);
    await settled();
    await expect.poll(() => upstream.open).toBe(0);
  });

  it('fails a request that would mean something else on the wire, with the name of the header', async () => {
    const { upstream, send } = await aWorld((socket) => socket.write(OK));
    const blamed = (request: Partial<HttpRequest>): unknown => {
      const { ending } = send(new Recorder(), request);
      return ending instanceof InvalidRequestError ? ending.header : ending;
    };

    for (const [name, value] of [
      ['x', 'a\r\nb: c'],
      ['X-Y', 'a\0'],
      ['x', 'a\x7f'],
      ['x', '\u0141'],
      ['transfer-encoding', 'chunked'],
      ['keep-alive', 'timeout=5'],
      ['upgrade', 'websocket'],
      ['expect', '100-continue'],
      ['connection', 'a b'],
      ['content-length', '-1'],
      ['content-length', '5'],
    ] as const)
      expect(blamed({ method: 'POST', headers: [name, value], body: Buffer.from('x') })).toBe(name);
    expect(blamed({ headers: ['content-length', '0', 'Content-Length', '0'] })).toBe('content-length');
    expect(blamed({ headers: ['host', 'a', 'Host', 'b'] })).toBe('host');
    for (const request of [
      { headers: ['a b', 'c'] },
      { headers: ['', 'c'] },
      { headers: ['a\r\n', 'c'] },
      { method: 'GET /x' },
      { method: '' },
      { method: 'CONNECT' },
      { path: '/a b' },
      { path: '/a\r\nb' },
      { path: '/\u0141' },
      { path: 'a' },
      { path: '' },
    ])
      expect(blamed(request), JSON.stringify(request)).toBeNull();
    await settled();
    expect(upstream.sockets).toHaveLength(0);
  });
});
