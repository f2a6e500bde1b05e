import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { aRequest, Recorder } from '../../test/support/http1.js';
import { DestinationPolicy } from '../common/net/destination-policy.js';
import { parseEgressAllow } from '../common/net/egress-allow.js';
import { loadSettings, SettingsError } from '../common/settings/settings.js';
import { openSocket } from './connector.js';
import { Egress } from './egress.js';
import { upstreamFailure } from './upstream-failure.js';

const TLS = new URL('../../test/fixtures/tls/', import.meta.url);
const CERTIFICATE = readFileSync(new URL('self-signed.cert.pem', TLS), 'utf8');
const KEY = readFileSync(new URL('self-signed.key.pem', TLS), 'utf8');
const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const CONNECT_MS = 1_000;

const servers: Server[] = [];
const opened: Egress[] = [];
const sockets: Socket[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((egress) => egress.close()));
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

async function listening(server: Server): Promise<number> {
  servers.push(server);
  server.on('connection', (socket) => sockets.push(socket.on('error', () => undefined)));
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  return (server.address() as AddressInfo).port;
}

const answering = (socket: Socket): void => {
  socket.on('error', () => undefined).on('data', () => socket.write(OK));
};
const plainServer = (): Promise<number> => listening(createServer(answering));

interface ConnectProxy {
  readonly url: string;
  /** `CONNECT` targets with the credentials beside them. */
  readonly seen: string[];
}

/** A real proxy: every tunnel leads to one port of this machine, whatever name was asked for. */
async function connectProxy(target: number, status = 200): Promise<ConnectProxy> {
  const seen: string[] = [];
  const server = createHttpServer().on('connect', (request, client: Socket) => {
    const { authorization = '' } = { authorization: request.headers['proxy-authorization'] };
    seen.push([request.url, authorization].filter(Boolean).join(' '));
    if (status !== 200) return client.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`);
    const upstream = connect(target, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(client);
      client.pipe(upstream);
    });
    sockets.push(upstream.on('error', () => undefined));
    return undefined;
  });
  return { url: `http://127.0.0.1:${await listening(server)}`, seen };
}

const proxiesIn = (environment: Readonly<Record<string, string>>) => loadSettings(environment).proxies;

const unknown = () => Promise.reject(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }));

interface EgressRules {
  readonly allow?: string;
  readonly client?: 'own' | 'undici';
  readonly resolve?: () => Promise<readonly string[]>;
}

function anEgress(
  environment: Readonly<Record<string, string>>,
  { allow = '', client = 'own', resolve = unknown }: EgressRules = {},
): Egress {
  const { rules } = parseEgressAllow(allow);
  const proxies = proxiesIn(environment);
  const egress = new Egress({ allow: rules, timeouts: { connectMs: CONNECT_MS }, proxies, client, resolve });
  opened.push(egress);
  return egress;
}

type ProxiedCall = (egress: Egress, origin: string) => Promise<string>;

const refusalOf = (error: unknown): string => {
  const { code, message } = upstreamFailure(error);
  return `${code}: ${message}`;
};

const byUndici: ProxiedCall = async (egress, origin) => {
  try {
    const { statusCode, body } = await egress.pool('t', origin).request({ path: '/', method: 'GET' });
    return `${statusCode} ${await body.text()}`;
  } catch (error) {
    return refusalOf(error);
  }
};

const byOwnClient: ProxiedCall = async (egress, origin) => {
  try {
    const recorder = new Recorder();
    egress.origin('t', origin).connections?.dispatch(aRequest(), recorder);
    const { status, text, ending } = await recorder.ended;
    return ending === 'complete' ? `${status} ${text}` : refusalOf(ending);
  } catch (error) {
    return refusalOf(error);
  }
};

const CLIENTS: readonly (readonly [string, ProxiedCall])[] = [
  ['our own client', byOwnClient],
  ['undici', byUndici],
];

describe.each(CLIENTS)('an outbound proxy, with %s', (_client, call) => {
  it('gets a tunnel to the name, which only the proxy can resolve', async () => {
    const proxy = await connectProxy(await plainServer());
    const egress = anEgress({ HTTP_PROXY: proxy.url }, { allow: 'models.example.com:8000' });

    expect(await call(egress, 'http://models.example.com:8000')).toBe('200 ok');

    expect(proxy.seen).toEqual(['models.example.com:8000']);
  });

  it('gets the credentials of its address', async () => {
    const proxy = await connectProxy(await plainServer());
    const url = proxy.url.replace('//', '//ada:p%40ss@');

    expect(
      await call(anEgress({ HTTP_PROXY: url }, { allow: 'a.example.com:80' }), 'http://a.example.com'),
    ).toBe('200 ok');

    expect(proxy.seen).toEqual([`a.example.com:80 Basic ${Buffer.from('ada:p@ss').toString('base64')}`]);
  });

  it.each([403, 407, 502])('that refuses with %i fails the request with that status', async (status) => {
    const proxy = await connectProxy(1, status);

    expect(await call(anEgress({ HTTPS_PROXY: proxy.url }), 'https://api.example.com')).toMatch(
      new RegExp(`^upstream_error: .*the outbound proxy refused the connection with status ${status}`),
    );
  });

  it('that is down fails the request and names the proxy', async () => {
    const egress = anEgress({ HTTPS_PROXY: 'http://127.0.0.1:1' });

    expect(await call(egress, 'https://api.example.com')).toMatch(
      /^upstream_error: .*the outbound proxy cannot be reached \(ECONNREFUSED\)/,
    );
  });

  it('that never responds fails the request after the connect timeout', async () => {
    const silent = await listening(createServer(() => undefined));

    expect(
      await call(anEgress({ HTTPS_PROXY: `http://127.0.0.1:${silent}` }), 'https://api.example.com'),
    ).toMatch(/^upstream_timeout: /);
  });

  it('is left out for the hosts of NO_PROXY and for this machine', async () => {
    const port = await plainServer();
    const proxy = await connectProxy(port);
    const allow = `127.0.0.1:${port},in.example.com:${port}`;
    const resolve = () => Promise.resolve(['127.0.0.1']);
    const egress = anEgress({ HTTP_PROXY: proxy.url, no_proxy: '.example.com' }, { allow, resolve });

    expect(await call(egress, `http://in.example.com:${port}`)).toBe('200 ok');
    expect(await call(egress, `http://127.0.0.1:${port}`)).toBe('200 ok');

    expect(proxy.seen).toEqual([]);
  });

  it.each([
    ['an address of the private network', 'https://10.0.0.5', []],
    ['a metadata address', 'https://169.254.169.254', []],
    ['a metadata name', 'https://metadata.google.internal', []],
    ['a name that this machine finds in the private network', 'https://api.example.com', ['10.0.0.5']],
    [
      'a name with one private address among public ones',
      'https://api.example.com',
      ['8.8.8.8', '127.0.0.1'],
    ],
    ['plain HTTP that is not allowed', 'http://api.example.com', []],
  ])('never sees %s', async (_, origin, addresses) => {
    const proxy = await connectProxy(await plainServer());
    const egress = anEgress(
      { HTTPS_PROXY: proxy.url, HTTP_PROXY: proxy.url },
      { resolve: () => Promise.resolve(addresses) },
    );

    expect(await call(egress, origin)).toMatch(/^custom_host_blocked: /);
    expect(proxy.seen).toEqual([]);
  });

  it('never sees a private name that only a range allows and this machine does not find', async () => {
    const proxy = await connectProxy(await plainServer());
    const egress = anEgress({ HTTPS_PROXY: proxy.url }, { allow: '10.0.0.0/8:443' });

    expect(await call(egress, 'https://vault.internal')).toMatch(/^custom_host_blocked: /);
    expect(proxy.seen).toEqual([]);
  });
});

describe('a tunnel', () => {
  it('is kept for the next request', async () => {
    const proxy = await connectProxy(await plainServer());
    const egress = anEgress({ HTTP_PROXY: proxy.url }, { allow: 'models.example.com:8000' });

    for (let i = 0; i < 3; i++)
      expect(await byOwnClient(egress, 'http://models.example.com:8000')).toBe('200 ok');

    expect(proxy.seen).toHaveLength(1);
  });
});

describe('TLS through an outbound proxy', () => {
  const throughProxy = (url: string) => ({
    policy: new DestinationPolicy([]),
    resolve: unknown,
    connectMs: CONNECT_MS,
    proxies: proxiesIn({ HTTPS_PROXY: url }),
  });
  /** The name in the certificate. */
  const endpoint = { secure: true, host: 'tls.test', port: 443 };

  it('is between the gateway and the provider, whose certificate must be valid for its name', async () => {
    const target = await listening(createTlsServer({ cert: CERTIFICATE, key: KEY }, answering));
    const proxy = await connectProxy(target);
    const parts = throughProxy(proxy.url);

    const socket = await openSocket(parts, endpoint, CERTIFICATE);
    sockets.push(socket);
    socket.write('GET / HTTP/1.1\r\n\r\n');
    const [answer] = (await once(socket, 'data')) as [Buffer];

    expect(answer.toString()).toBe(OK);
    await expect(
      openSocket(parts, { ...endpoint, host: 'other.example.com' }, CERTIFICATE),
    ).rejects.toMatchObject({
      code: 'upstream_error',
      message: expect.stringContaining('TLS certificate not valid'),
    });
    expect(proxy.seen).toEqual(['tls.test:443', 'other.example.com:443']);
  });
});

describe('the settings of outbound proxies', () => {
  it('may be in lower case, and without a scheme', () => {
    const { https, http } = proxiesIn({
      https_proxy: 'proxy.lan:3128',
      HTTP_PROXY: 'https://user:pw@proxy.lan',
    });

    expect(https?.reveal()).toBe('http://proxy.lan:3128');
    expect(http?.reveal()).toBe('https://user:pw@proxy.lan');
  });

  it('are refused at the start when the proxy speaks another protocol', () => {
    expect(() => loadSettings({ HTTPS_PROXY: 'socks5://proxy.lan:1080' })).toThrow(SettingsError);
    expect(() => loadSettings({ HTTPS_PROXY: 'socks5://proxy.lan:1080' })).toThrow(
      /HTTPS_PROXY: it must be http:\/\/user:password@host:port/,
    );
  });

  const direct = async (noProxy: string, origin: string): Promise<boolean> => {
    const { proxyFor } = await import('./outbound-proxy.js');
    const { endpointOf } = await import('../common/net/destination-policy.js');
    const settings = proxiesIn({ HTTPS_PROXY: 'http://proxy.lan:3128', NO_PROXY: noProxy });
    return proxyFor(settings, endpointOf(new URL(origin))) === null;
  };

  it.each([
    ['*', 'https://api.example.com', true],
    ['example.com', 'https://example.com', true],
    ['example.com', 'https://api.example.com', true],
    ['example.com', 'https://notexample.com', false],
    ['.example.com', 'https://example.com', false],
    ['.example.com', 'https://api.example.com', true],
    ['*.example.com', 'https://api.example.com', true],
    ['API.example.com', 'https://api.example.com', true],
    ['api.example.com:8443', 'https://api.example.com', false],
    ['api.example.com:8443', 'https://api.example.com:8443', true],
    ['10.0.0.0/8', 'https://10.1.2.3', true],
    ['10.0.0.0/8', 'https://11.1.2.3', false],
    ['10.1.2.3', 'https://10.1.2.3', true],
    ['[fd00::/8]:443', 'https://[fd00::1]', true],
    ['fd00::1', 'https://[fd00::1]', true],
    ['a.example.com, b.example.com', 'https://b.example.com', true],
  ])('NO_PROXY=%s and %s: a direct connection: %s', async (noProxy, origin, isDirect) => {
    expect(await direct(noProxy, origin)).toBe(isDirect);
  });
});
