import { readFileSync } from 'node:fs';
import { type AddressInfo, type Server, type Socket, createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { aRequest, Recorder } from '../../test/support/http1.js';
import { Egress, type EgressOptions } from './egress.js';
import { blockedDestination, endpointOf } from '../common/net/destination-policy.js';
import { parseEgressAllow } from '../common/net/egress-allow.js';
import { upstreamFailure } from './upstream-failure.js';

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const CONNECT_MS = 1_000;

interface TestListener {
  readonly port: number;
  readonly sockets: Socket[];
}

const servers: Server[] = [];
const opened: Egress[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) server.close();
  await Promise.all(opened.splice(0).map((egress) => egress.close()));
});

const listen = async (server: Server, host: string, at = 0): Promise<TestListener> => {
  const sockets: Socket[] = [];
  servers.push(server);
  server.on('connection', (socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
  });
  await new Promise<void>((ready) => server.listen(at, host, ready));
  return { port: (server.address() as AddressInfo).port, sockets };
};

const upstream = (answer: (socket: Socket) => void, host = '127.0.0.1', at?: number): Promise<TestListener> =>
  listen(
    createServer((socket) => socket.on('data', () => answer(socket))),
    host,
    at,
  );

const anEgress = (allow: string, options: Partial<EgressOptions> = {}): Egress => {
  const { rules, problems } = parseEgressAllow(allow);
  expect(problems).toEqual([]);
  const egress = new Egress({ allow: rules, timeouts: { connectMs: CONNECT_MS }, ...options });
  opened.push(egress);
  return egress;
};

/** The status and body, or the code and text of the error, whether it is thrown at once or comes from the socket. */
type EgressCall = (egress: Egress, origin: string, tenant?: string) => Promise<string>;

const refusalOf = (error: unknown): string => {
  const { code, message } = upstreamFailure(error);
  return `${code}: ${message}`;
};

const byUndici: EgressCall = async (egress, origin, tenant = 'tenant') => {
  try {
    const { statusCode, body } = await egress.pool(tenant, origin).request({ path: '/', method: 'GET' });
    return `${statusCode} ${await body.text()}`;
  } catch (error) {
    return refusalOf(error);
  }
};

const byOwnClient: EgressCall = async (egress, origin, tenant = 'tenant') => {
  try {
    const recorder = new Recorder();
    egress.origin(tenant, origin).connections?.dispatch(aRequest(), recorder);
    const { status, text, ending } = await recorder.ended;
    return ending === 'complete' ? `${status} ${text}` : refusalOf(ending);
  } catch (error) {
    return refusalOf(error);
  }
};

const CLIENTS: readonly (readonly [string, EgressCall])[] = [
  ['undici', byUndici],
  ['our own client', byOwnClient],
];

const blockedAt = (origin: string): string =>
  `custom_host_blocked: ${blockedDestination(endpointOf(new URL(origin))).message}`;
const names =
  (table: Readonly<Record<string, readonly string[]>>) =>
  (name: string): Promise<readonly string[]> => {
    const addresses = table[name];
    return addresses
      ? Promise.resolve(addresses)
      : Promise.reject(Object.assign(new Error(name), { code: 'ENOTFOUND' }));
  };

describe.each(CLIENTS)('a destination that is closed, by %s', (_client, call) => {
  const everySpelling = [
    '127.0.0.1',
    '2130706433',
    '0x7f000001',
    '127.1',
    '0',
    '0.0.0.0',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::1]',
  ];

  it('is never dialled, however its address is written', async () => {
    const canary = await upstream((socket) => socket.end(OK), '::');

    for (const host of everySpelling)
      for (const scheme of ['http', 'https'])
        expect(await call(anEgress(''), `${scheme}://${host}:${canary.port}`)).toBe(
          blockedAt(`${scheme}://${host}:${canary.port}`),
        );
    // An allow list for another port leaves this one blocked.
    for (const host of everySpelling)
      expect(await call(anEgress('127.0.0.1:1,[::1]:1'), `http://${host}:${canary.port}`)).toBe(
        blockedAt(`http://${host}:${canary.port}`),
      );

    expect(canary.sockets).toHaveLength(0);
  });

  it('is judged in the connector too, not only where a pool is made', async () => {
    const canary = await upstream((socket) => socket.end(OK));
    const egress = anEgress('');
    egress.checkDestination = () => undefined;

    for (const host of ['127.0.0.1', '2130706433', '0', '[::ffff:7f00:1]'])
      expect(await call(egress, `http://${host}:${canary.port}`)).toBe(
        blockedAt(`http://${host}:${canary.port}`),
      );

    expect(canary.sockets).toHaveLength(0);
  });

  it.each([
    ['private', ['10.99.0.5']],
    ['loopback', ['127.0.0.1']],
    ['loopback, mapped', ['::ffff:127.0.0.1']],
    ['metadata', ['169.254.169.254']],
    ['public and private', ['93.184.216.34', '127.0.0.1']],
    ['public and unreadable', ['93.184.216.34', 'x']],
  ])('is detected behind a name that resolves to %s', async (_, addresses) => {
    const egress = anEgress('', { resolve: names({ 'rebind.example.com': addresses }) });

    expect(await call(egress, 'https://rebind.example.com')).toBe(blockedAt('https://rebind.example.com'));
  });

  it('is not reached by a name that resolves differently the second time', async () => {
    const canary = await upstream((socket) => socket.end(OK));
    let asked = 0;
    const resolve = () => Promise.resolve(asked++ % 2 === 0 ? ['192.0.3.1'] : ['127.0.0.1']);
    const outcomes = new Set<string>();

    for (let i = 0; i < 50; i++) {
      // A new service each time, so that no result is cached; the public address is unreachable here.
      const egress = anEgress('*.example.com:1', { resolve, timeouts: { connectMs: 5 } });
      outcomes.add(await call(egress, `https://rebind${i}.example.com`));
    }

    expect(asked).toBe(50);
    expect(outcomes).toContain(blockedAt('https://rebind1.example.com'));
    expect(canary.sockets).toHaveLength(0);
  });

  it('A22: is not reached by a name that resolves differently while the service runs', async () => {
    const open = await upstream((socket) => socket.end(OK));
    const canary = await upstream((socket) => socket.end(OK), '127.0.0.2', open.port);
    let asked = 0;
    const resolve = () => Promise.resolve([asked++ % 2 === 0 ? '127.0.0.1' : '127.0.0.2']);
    const outcomes: string[] = [];
    vi.useFakeTimers({ toFake: ['Date'] });
    try {
      const egress = anEgress(`127.0.0.1:${open.port}`, { resolve });
      // The allowed server ends each connection, and resolved names are cached for five seconds.
      for (let i = 0; i < 50; i++) {
        outcomes.push(await call(egress, `http://rebind.example.com:${open.port}`));
        vi.advanceTimersByTime(6_000);
      }
    } finally {
      vi.useRealTimers();
    }

    expect(asked).toBe(50);
    expect(new Set(outcomes)).toEqual(
      new Set(['200 ok', blockedAt(`http://rebind.example.com:${open.port}`)]),
    );
    expect(canary.sockets).toHaveLength(0);
    expect(open.sockets.length).toBeGreaterThan(0);
  });

  it('cannot be distinguished from a missing one when the name is private', async () => {
    const egress = anEgress('10.0.0.0/8:443', { resolve: names({ 'there.internal': ['192.168.7.7'] }) });

    expect(await call(egress, 'https://there.internal')).toBe(blockedAt('https://there.internal'));
    expect(await call(egress, 'https://absent.internal')).toBe(blockedAt('https://absent.internal'));
    expect(await call(egress, 'https://absent.example.com')).toMatch(
      /^upstream_error: .*: name not found\.$/,
    );
  });
});

describe.each(CLIENTS)('a destination that is open, by %s', (_client, call) => {
  it('is dialled at the address that was judged, under its own name', async () => {
    let seen = '';
    const server = createServer((socket) =>
      socket.on('data', (bytes) => {
        seen += bytes.toString();
        socket.end(OK);
      }),
    );
    const { port } = await listen(server, '127.0.0.1');
    let asked = 0;
    const resolve = () => {
      asked += 1;
      return Promise.resolve(['127.0.0.1']);
    };

    expect(await call(anEgress(`vllm.lan:${port}`, { resolve }), `http://vllm.lan:${port}`)).toBe('200 ok');

    expect(seen).toContain(`host: vllm.lan:${port}`);
    expect(asked).toBe(1);
  });

  it('is opened for the port that the operator named and no other', async () => {
    const open = await upstream((socket) => socket.end(OK));
    const closed = await upstream((socket) => socket.end(OK));
    const egress = anEgress(`127.0.0.0/8:${open.port}`);

    expect(await call(egress, `http://127.0.0.1:${open.port}`)).toBe('200 ok');
    expect(await call(egress, `http://127.0.0.1:${closed.port}`)).toBe(
      blockedAt(`http://127.0.0.1:${closed.port}`),
    );
    expect(open.sockets).toHaveLength(1);
    expect(closed.sockets).toHaveLength(0);
  });

  it('falls back to the next address when the first refuses', async () => {
    const open = await upstream((socket) => socket.end(OK));
    const resolve = () => Promise.resolve(['::1', '127.0.0.1']);

    expect(await call(anEgress(`a.test:${open.port}`, { resolve }), `http://a.test:${open.port}`)).toBe(
      '200 ok',
    );
  });

  it('gives redirects back instead of following them', async () => {
    const canary = await upstream((socket) => socket.end(OK));
    const open = await upstream((socket) =>
      socket.end(
        `HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:${canary.port}/\r\nContent-Length: 0\r\n\r\n`,
      ),
    );

    expect(await call(anEgress(`127.0.0.1:*`), `http://127.0.0.1:${open.port}`)).toBe('302 ');
    expect(canary.sockets).toHaveLength(0);
  });

  it('keeps the connections of tenants apart and reuses those of one', async () => {
    const open = await upstream((socket) => socket.write(OK));
    const egress = anEgress('127.0.0.1:*');
    const origin = `http://127.0.0.1:${open.port}`;

    for (const tenant of ['a', 'b', 'a', 'b']) expect(await call(egress, origin, tenant)).toBe('200 ok');

    expect(open.sockets).toHaveLength(2);
  });

  it('drops the longest unused pool beyond the bound, without harm to a request under way', async () => {
    const release: (() => void)[] = [];
    const slow = await upstream((socket) => release.push(() => socket.end(OK)));
    const quick = await upstream((socket) => socket.write(OK));
    const egress = anEgress('127.0.0.1:*', { maxPools: 2 });
    const underWay = call(egress, `http://127.0.0.1:${slow.port}`);
    await expect.poll(() => release.length).toBe(1);

    for (const tenant of ['a', 'b', 'c'])
      expect(await call(egress, `http://127.0.0.1:${quick.port}`, tenant)).toBe('200 ok');
    release.forEach((answer) => answer());

    expect(await underWay).toBe('200 ok');
    expect(quick.sockets).toHaveLength(3);
    await expect
      .poll(() => quick.sockets.filter((socket) => socket.destroyed || socket.readableEnded).length)
      .toBe(1);
  });
});

describe.each(CLIENTS)('a connection that fails, by %s', (_client, call) => {
  const details = (text: string) => `upstream_error: The request to the provider failed: ${text}.`;

  it('says that it was refused, without an address', async () => {
    const { port } = await upstream(() => undefined);
    servers.splice(0).forEach((server) => server.close());

    expect(await call(anEgress('127.0.0.1:*'), `http://127.0.0.1:${port}`)).toBe(
      details('connection refused'),
    );
  });

  it('refuses a self-signed certificate, and never falls back to plain text', async () => {
    const fixture = (name: string) =>
      readFileSync(new URL(`../../test/fixtures/tls/${name}`, import.meta.url), 'utf8');
    let requests = 0;
    const server = createTlsServer(
      { key: fixture('self-signed.key.pem'), cert: fixture('self-signed.cert.pem') },
      (socket) => socket.on('data', () => (requests += 1)),
    );
    const { port, sockets } = await listen(server, '127.0.0.1');

    expect(await call(anEgress('127.0.0.1:*'), `https://127.0.0.1:${port}`)).toBe(
      details('TLS certificate not valid'),
    );
    expect(sockets).toHaveLength(1);
    expect(requests).toBe(0);
  });

  it('refuses a plain-text response when TLS is required', async () => {
    const { port } = await upstream((socket) => socket.end(OK));

    expect(await call(anEgress('127.0.0.1:*'), `https://127.0.0.1:${port}`)).toBe(
      details('TLS handshake failed'),
    );
  });

  it.each([
    ['the name is never answered', () => new Promise<string[]>(() => undefined), 'https'],
    ['TLS is never answered', () => Promise.resolve(['127.0.0.1']), 'https'],
  ])('ends at the connect timeout when %s', async (_, resolve, scheme) => {
    const silent = await upstream(() => undefined);
    const egress = anEgress('a.test:*', { resolve });
    const start = performance.now();

    expect(await call(egress, `${scheme}://a.test:${silent.port}`)).toBe(
      `upstream_timeout: The provider did not respond within ${CONNECT_MS} ms (connect).`,
    );

    const waited = performance.now() - start;
    expect(waited).toBeGreaterThan(CONNECT_MS * 0.95);
    expect(waited, 'it waited once').toBeLessThan(2 * CONNECT_MS);
    await expect
      .poll(() => silent.sockets.every((socket) => socket.readableEnded || socket.destroyed))
      .toBe(true);
  });
});

describe.each(CLIENTS)('a provider that breaks HTTP, by %s', (_client, call) => {
  const PROTOCOL =
    'upstream_protocol_error: The provider sent a response that is not valid HTTP. Try again, or contact the provider if it persists.';

  it.each([
    ['a status below 100', 'HTTP/1.1 099 Odd\r\nContent-Length: 2\r\n\r\nhi'],
    ['the status 000', 'HTTP/1.1 000 Odd\r\nContent-Length: 0\r\n\r\n'],
    ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello'],
    ['no HTTP at all', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['an upgrade nobody asked for', 'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'],
    ['endless headers', `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(70_000)}\r\n\r\n`],
  ])('gets the same error code for %s', async (_, answer) => {
    const { port } = await upstream((socket) => socket.end(answer));

    expect(await call(anEgress('127.0.0.1:*'), `http://127.0.0.1:${port}`)).toBe(PROTOCOL);
  });

  it('loses the connection when it sends on an idle one, and the next request gets its own response', async () => {
    const open = await upstream((socket) => {
      socket.write(OK);
      setTimeout(() => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison'), 20);
    });
    const egress = anEgress('127.0.0.1:*');
    const origin = `http://127.0.0.1:${open.port}`;

    expect(await call(egress, origin)).toBe('200 ok');
    await expect
      .poll(() => open.sockets.every((socket) => socket.readableEnded || socket.destroyed))
      .toBe(true);
    expect(await call(egress, origin)).toBe('200 ok');

    expect(open.sockets).toHaveLength(2);
  });
});

type SlowReading = (egress: Egress, origin: string) => Promise<string>;

/** Reads one response, pausing after the first chunk, like the gateway does for a slow client. */
const readSlowlyByUndici: SlowReading = (egress, origin) =>
  new Promise((resolve) => {
    let text = '';
    egress.pool('t', origin).dispatch(
      { path: '/', method: 'GET' },
      {
        onRequestStart: () => undefined,
        onResponseStart: () => undefined,
        onResponseData: (controller, chunk) => {
          text += chunk.toString();
          controller.pause();
          setTimeout(() => controller.resume(), 80);
        },
        onResponseEnd: () => resolve(`${text} complete`),
        onResponseError: (_, error) => resolve(`${text} ${upstreamFailure(error).code}`),
      },
    );
  });

const readSlowlyByOwnClient: SlowReading = async (egress, origin) => {
  const recorder = new Recorder((self) => {
    setTimeout(() => self.resume(), 80);
    return false;
  });
  egress.origin('t', origin).connections?.dispatch(aRequest(), recorder);
  const { text, ending } = await recorder.ended;
  return `${text} ${ending === 'complete' ? ending : upstreamFailure(ending).code}`;
};

describe.each([
  ['undici', readSlowlyByUndici],
  ['our own client', readSlowlyByOwnClient],
])('a body without a length, read slowly by %s', (_client, readSlowly) => {
  const endingWith = (end: (socket: Socket) => void) =>
    upstream((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello');
      setTimeout(() => end(socket), 20);
    });

  it('is complete when the provider closes, and the process lives', async () => {
    const { port } = await endingWith((socket) => socket.end());

    expect(await readSlowly(anEgress('127.0.0.1:*'), `http://127.0.0.1:${port}`)).toBe('hello complete');
  });

  it('is a failure when the provider resets, and the process lives', async () => {
    const { port } = await endingWith((socket) => socket.resetAndDestroy());

    expect(await readSlowly(anEgress('127.0.0.1:*'), `http://127.0.0.1:${port}`)).toBe(
      'hello upstream_error',
    );
  });
});

describe('the two clients of one origin', () => {
  it('are dropped and ended together', async () => {
    const open = await upstream((socket) => socket.write(OK));
    const egress = anEgress('127.0.0.1:*', { maxPools: 1 });
    const origin = `http://127.0.0.1:${open.port}`;
    const openSockets = (): number =>
      open.sockets.filter((socket) => !socket.destroyed && !socket.readableEnded).length;

    for (const [, call] of CLIENTS) expect(await call(egress, origin, 'a')).toBe('200 ok');
    const dropped = egress.origin('a', origin);
    for (const [, call] of CLIENTS) expect(await call(egress, origin, 'b')).toBe('200 ok');
    await expect.poll(openSockets).toBe(2);
    const late = new Recorder();
    dropped.connections?.dispatch(aRequest(), late);
    expect(refusalOf((await late.ended).ending)).toMatch(/connection closed/);
    await egress.close();

    await expect.poll(openSockets).toBe(0);
  });

  it('take nothing once they are dropped, also the one that was not made before', async () => {
    const open = await upstream((socket) => socket.write(OK));
    const egress = anEgress('127.0.0.1:*', { maxPools: 1 });
    const origin = `http://127.0.0.1:${open.port}`;
    const dropped = egress.origin('a', origin);
    egress.origin('b', origin);

    await expect(dropped.dispatcher.request({ path: '/', method: 'GET' })).rejects.toMatchObject({
      code: 'UND_ERR_CLOSED',
    });
  });

  it('fail what is under way when everything is ended', async () => {
    let asked = 0;
    const silent = await upstream(() => (asked += 1));
    const egress = anEgress('127.0.0.1:*');
    const calls = CLIENTS.map(([, call]) => call(egress, `http://127.0.0.1:${silent.port}`));
    await expect.poll(() => asked).toBe(2);
    await egress.close();

    for (const call of calls) expect(await call).toMatch(/^upstream_error: .*: connection closed\.$/);
  });
});
