import { copyFileSync, mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { register } from 'prom-client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type CertificateFiles, pemOf, TestAuthority } from '../../../test/support/certificates.js';
import { rawExchange, type RawExchange } from '../../../test/support/raw-client.js';
import { clientCertificateOf } from '../../common/http/client-certificate.js';
import { endLingering } from '../../common/http/lingering-close.js';
import type { ClientRequest, ClientResponse } from '../../common/http/messages.js';
import { Secret } from '../../common/settings/secret.js';
import type { TlsListenerSettings } from '../../common/settings/tls-settings.js';
import { readBody } from '../../gateway/ingress/request-body.js';
import { FrontServer, type Planes } from '../http.js';
import { CertificateReloader } from './certificate-reloader.js';
import { readTlsFiles, type TlsMaterial } from './tls-files.js';

let authority: TestAuthority;
let files: CertificateFiles;
let fronts: FrontServer[] = [];

beforeAll(() => {
  authority = new TestAuthority();
  files = authority.issue('server');
});
afterAll(() => authority.remove());
afterEach(async () => {
  await Promise.all(fronts.map((front) => front.close(0)));
  fronts = [];
});

const settingsOf = (
  { cert, key }: CertificateFiles,
  more: Partial<TlsListenerSettings> = {},
): TlsListenerSettings => ({
  certificateFile: cert,
  keyFile: key,
  keyPassphrase: undefined,
  minVersion: 'TLSv1.2',
  clientCertificates: null,
  ...more,
});

/** Repeats the body of each request, and names the client's certificate. `/v1/refused` answers before the body was read. */
const echo = {
  handle: (request: ClientRequest, response: ClientResponse): void => {
    if (request.url === '/v1/refused') {
      response.writeHead(413, ['connection', 'close', 'content-length', '2']).write(Buffer.from('no'));
      return endLingering(request, response);
    }
    readBody(request, Infinity).then(
      (body) => {
        response.writeHead(200, [
          'x-client',
          clientCertificateOf(request) ?? '-',
          'content-length',
          `${body.length}`,
        ]);
        response.end(body);
      },
      () => response.destroy(),
    );
  },
  endEventStreams: () => undefined,
};

async function serve(tls: TlsListenerSettings | null, hasFastPath = true): Promise<string> {
  const sockets = { handle: () => undefined, close: () => undefined };
  const planes = { gateway: echo, administration: echo, probes: { answer: () => false }, sockets };
  const front = new FrontServer(planes as unknown as Planes, { requestTimeoutMs: 5_000, hasFastPath, tls });
  await front.listen(0, '127.0.0.1');
  fronts.push(front);
  const { server } = front as unknown as { server: { address(): AddressInfo } };
  return `http://127.0.0.1:${server.address().port}`;
}

const trusting = (more: ConnectionOptions = {}): ConnectionOptions => ({ ca: authority.pem, ...more });

const POST = 'POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n';
const large = Buffer.alloc(700_000, 'a');
const REQUESTS: Readonly<Record<string, string | readonly (string | Buffer)[]>> = {
  'a plain request': `${POST}content-length: 2\r\n\r\n{}`,
  'two requests at once': `${POST}content-length: 1\r\n\r\na${POST}content-length: 1\r\n\r\nb`,
  'a request in pieces': [`${POST}content-length: 4\r\n\r\na`, 'b', 'c', 'd'],
  'a head in pieces': [
    'POST /v1/chat/comp',
    'letions HTTP/1.1\r\nhost',
    ': x\r\ncontent-length: 1\r\n\r\n',
    'a',
  ],
  'a large body': [`${POST}content-length: ${large.length}\r\n\r\n`, large],
  'a chunked body, then a plain request': `${POST}transfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n${POST}content-length: 1\r\n\r\nc`,
  'a length and chunks': `${POST}content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\nhost: x\r\n\r\n`,
  'two lengths': `${POST}content-length: 1\r\ncontent-length: 2\r\n\r\nab`,
  'lines without carriage returns': 'POST /v1/chat/completions HTTP/1.1\nhost: x\ncontent-length: 1\n\na',
  'a folded line': `${POST}x-a: b\r\n c\r\ncontent-length: 0\r\n\r\n`,
  'headers that are too large': `${POST}x-a: ${'a'.repeat(20_000)}\r\n\r\n`,
  'a client that waits for 100 Continue': [`${POST}expect: 100-continue\r\ncontent-length: 1\r\n\r\n`, 'a'],
  'an upgrade that is declined': `GET /v1/x HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n`,
  'a response before the body': [
    'POST /v1/refused HTTP/1.1\r\nhost: x\r\ncontent-length: 500000\r\n\r\n',
    large.subarray(0, 500_000),
  ],
  'the last request of a connection': `${POST}connection: close\r\ncontent-length: 1\r\n\r\na`,
  'the administration': 'GET /v1/api-keys HTTP/1.1\r\nhost: x\r\n\r\n',
  'bytes that are no request': 'garbage\r\n\r\n',
};

const shown = ({ bytes, ended }: RawExchange): { ended: string; text: string } => ({
  ended,
  text: bytes
    .toString('latin1')
    .replace(/^date: .*$/gim, 'date')
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, 'id'),
});

describe('a request over TLS', () => {
  it.each(
    Object.keys(REQUESTS).flatMap((name) => [true, false].map((hasFastPath) => [name, hasFastPath] as const)),
  )('is served byte for byte as over plain HTTP: %s (fast path: %s)', async (name, hasFastPath) => {
    const [plain, secured] = [await serve(null, hasFastPath), await serve(settingsOf(files), hasFastPath)];
    const bytes = REQUESTS[name] ?? '';
    const [expected, actual] = await Promise.all([
      rawExchange(plain, bytes, { lingerMs: 700 }),
      rawExchange(secured, bytes, { lingerMs: 700, tls: trusting() }),
    ]);

    expect(expected.bytes.length).toBeGreaterThan(0);
    expect(shown(actual)).toEqual(shown(expected));
  });

  it('keeps its connection, and ends idle connections at the end', async () => {
    const socket = await connected(await serve(settingsOf(files)));
    for (const body of ['a', 'b']) {
      socket.write(`${POST}content-length: 1\r\n\r\n${body}`);
      expect(await textOf(socket)).toMatch(new RegExp(`^HTTP/1.1 200 [^]*${body}$`));
    }
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const startedAt = performance.now();
    await fronts.pop()?.close(20_000);
    await closed;

    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });
});

describe('a TLS handshake', () => {
  it('that never ends does not delay the end of the server', async () => {
    const base = await serve(settingsOf(files));
    const socket = connect(Number(new URL(base).port), '127.0.0.1').on('error', () => undefined);
    await new Promise((resolve) => socket.once('connect', resolve));
    const startedAt = performance.now();
    await fronts.pop()?.close(20_000);

    expect(performance.now() - startedAt).toBeLessThan(9_000);
  });

  it('with an older version than the setting is refused, and counted', async () => {
    const base = await serve(settingsOf(files, { minVersion: 'TLSv1.3' }));
    await expect(connected(base, trusting({ maxVersion: 'TLSv1.2' }))).rejects.toThrow(/protocol version/);
    expect((await connected(base)).getProtocol()).toBe('TLSv1.3');
    expect(await metric('gatehouse_tls_handshake_failures_total{reason="protocol"}')).toBeGreaterThan(0);
  });

  it('is not mistaken for HTTP: a plain request gets no response', async () => {
    const { bytes, ended } = await rawExchange(await serve(settingsOf(files)), `${POST}\r\n`);

    expect(bytes.toString('latin1')).not.toContain('HTTP/');
    expect(ended).not.toBe('open');
  });
});

describe('client certificates', () => {
  const clients = (areRequired: boolean): TlsListenerSettings =>
    settingsOf(files, { clientCertificates: { caFile: authority.cert, areRequired } });
  const request = `${POST}content-length: 0\r\n\r\n`;
  const own = (): ConnectionOptions =>
    trusting(pemOf(authority.issue('client', { subject: '/O=Example/CN=checkout' })));

  it.each([true, false])('identify the client of each request (fast path: %s)', async (hasFastPath) => {
    const base = await serve(clients(true), hasFastPath);
    const { bytes } = await rawExchange(base, request + request, { answers: 2, tls: own() });

    expect(bytes.toString().match(/x-client: CN=checkout,O=Example/g)).toHaveLength(2);
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'are shown on each connection: no session is resumed without one (%s)',
    async (maxVersion) => {
      const base = await serve(clients(true));
      const first = await connected(base, { ...own(), maxVersion });
      let session = first.getSession();
      first.on('session', (next) => (session = next));
      first.write(request);
      expect(await textOf(first)).toContain('x-client: CN=checkout,O=Example');

      const again = await connected(base, { ...own(), maxVersion, ...(session && { session }) });
      again.write(request);
      expect(await textOf(again)).toContain('x-client: CN=checkout,O=Example');
      expect(again.isSessionReused()).toBe(false);
      const tls = trusting({ maxVersion, ...(session && { session }) });
      expect((await rawExchange(base, request, { tls })).bytes).toHaveLength(0);
    },
  );

  it('that are required refuse a client without one, and one of another authority', async () => {
    const base = await serve(clients(true));
    const foreign = new TestAuthority('Foreign');
    const tls = trusting(pemOf(foreign.issue('client')));
    foreign.remove();

    expect((await rawExchange(base, request, { tls: trusting() })).bytes).toHaveLength(0);
    expect((await rawExchange(base, request, { tls })).bytes).toHaveLength(0);
    expect(
      await metric('gatehouse_tls_handshake_failures_total{reason="client_certificate"}'),
    ).toBeGreaterThan(0);
  });

  it('that are requested may be missing, but not wrong', async () => {
    const base = await serve(clients(false));
    const foreign = new TestAuthority('Foreign');
    const tls = trusting(pemOf(foreign.issue('client')));
    foreign.remove();

    expect((await rawExchange(base, request, { answers: 1, tls: trusting() })).bytes.toString()).toContain(
      'x-client: -',
    );
    expect((await rawExchange(base, request, { answers: 1, tls: own() })).bytes.toString()).toContain(
      'CN=checkout',
    );
    expect((await rawExchange(base, request, { tls })).bytes).toHaveLength(0);
  });
});

describe('the certificate files', () => {
  const used: TlsMaterial[] = [];
  let tls: TlsListenerSettings;
  let reloader: CertificateReloader;
  let folder: string;

  const copy = ({ cert, key }: CertificateFiles, to: string): void => {
    copyFileSync(cert, join(to, 'tls.crt'));
    copyFileSync(key, join(to, 'tls.key'));
  };
  const begin = (): void => {
    used.length = 0;
    reloader = new CertificateReloader(tls, readTlsFiles(tls), (material) => used.push(material));
  };

  beforeAll(() => {
    folder = join(authority.folder, 'mounted');
    mkdirSync(folder);
    tls = settingsOf({ cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') });
  });

  it('are loaded again when they are replaced by a rename', () => {
    copy(files, folder);
    begin();
    reloader.check();
    expect(used).toHaveLength(0);

    const next = authority.issue('next', { days: 40 });
    copyFileSync(next.key, join(folder, 'new'));
    renameSync(join(folder, 'new'), join(folder, 'tls.key'));
    reloader.check();
    copyFileSync(next.cert, join(folder, 'new'));
    renameSync(join(folder, 'new'), join(folder, 'tls.crt'));
    reloader.check();

    expect(used.map(({ cert }) => cert)).toEqual([pemOf(next).cert]);
  });

  it('are loaded again when their folder is a symbolic link that moves', () => {
    const mount = join(authority.folder, 'kubernetes');
    const versions = ['first', 'second'].map((name) => join(mount, name));
    for (const [at, version] of versions.entries()) {
      mkdirSync(version, { recursive: true });
      copy(authority.issue(`version-${at}`), version);
    }
    symlinkSync('first', join(mount, '..data'));
    for (const name of ['tls.crt', 'tls.key']) symlinkSync(join('..data', name), join(mount, name));
    tls = settingsOf({ cert: join(mount, 'tls.crt'), key: join(mount, 'tls.key') });
    begin();
    symlinkSync('second', join(mount, '..data_tmp'));
    renameSync(join(mount, '..data_tmp'), join(mount, '..data'));
    reloader.check();

    expect(used.map(({ cert }) => cert)).toEqual([
      pemOf({ cert: join(versions[1] ?? '', 'tls.crt'), key: files.key }).cert,
    ]);
  });

  it('that are broken leave the loaded ones in use, and are counted once', async () => {
    tls = settingsOf({ cert: join(folder, 'tls.crt'), key: join(folder, 'tls.key') });
    copy(files, folder);
    begin();
    const rejected = 'gatehouse_tls_certificate_reloads_total{outcome="rejected"}';
    const before = await metric(rejected);
    writeFileSync(join(folder, 'tls.key'), 'half a k');
    for (let round = 0; round < 4; round++) reloader.check();
    expect(await metric(rejected)).toBe(before + 1);
    copyFileSync(authority.issue('other').key, join(folder, 'tls.key'));
    for (let round = 0; round < 4; round++) reloader.check();

    expect(used).toHaveLength(0);
    expect(await metric(rejected)).toBe(before + 2);
  });

  it('serve new connections at once, and leave the others alone', async () => {
    copy(files, folder);
    const base = await serve(tls);
    const old = await connected(base);
    const next = authority.issue('replaced', { subject: '/CN=replaced' });
    copy(next, folder);
    await expect
      .poll(async () => (await connected(base)).getPeerCertificate().subject.CN, { timeout: 15_000 })
      .toBe('replaced');
    old.write(`${POST}content-length: 1\r\n\r\na`);

    expect(await textOf(old)).toMatch(/^HTTP\/1.1 200 /);
  });

  it('have their expiry in a metric', async () => {
    copy(authority.issue('short', { days: 3 }), folder);
    await serve(tls);
    const seconds = await metric('gatehouse_tls_certificate_expiry_seconds');

    expect(seconds).toBeGreaterThan(2.9 * 86_400);
    expect(seconds).toBeLessThan(3.1 * 86_400);
  });

  it('may have an encrypted key; a wrong passphrase refuses the start', async () => {
    const encrypted = authority.issue('encrypted', { passphrase: 'open sesame' });
    const base = await serve(settingsOf(encrypted, { keyPassphrase: new Secret('open sesame') }));

    expect((await connected(base)).authorized).toBe(true);
    await expect(serve(settingsOf(encrypted))).rejects.toThrow(/needs GATEHOUSE_TLS_KEY_PASSPHRASE/);
    await expect(serve(settingsOf(encrypted, { keyPassphrase: new Secret('wrong') }))).rejects.toThrow(
      /GATEHOUSE_TLS_KEY_FILE: the key cannot be opened/,
    );
  });

  it.each([
    [
      () => ({ ...files, cert: '/nowhere.pem' }),
      /GATEHOUSE_TLS_CERTIFICATE_FILE: \/nowhere.pem cannot be read/,
    ],
    [() => ({ ...files, cert: files.key }), /GATEHOUSE_TLS_CERTIFICATE_FILE: the file holds no certificate/],
    [() => ({ ...files, key: authority.issue('stranger').key }), /the key does not belong/],
  ])('that cannot be used refuse the start and name the setting', async (broken, expected) => {
    await expect(serve(settingsOf(broken()))).rejects.toThrow(expected);
  });
});

function connected(base: string, options = trusting()): Promise<TLSSocket> {
  const { hostname: host, port } = new URL(base);
  return new Promise((resolve, reject) => {
    const socket: TLSSocket = connectTls({ host, port: Number(port), ...options }, () => resolve(socket));
    socket.once('error', reject);
  });
}

const textOf = (socket: TLSSocket): Promise<string> =>
  new Promise((resolve) => socket.once('data', (chunk: Buffer) => resolve(chunk.toString())));

async function metric(line: string): Promise<number> {
  const found = (await register.metrics()).split('\n').find((each) => each.startsWith(`${line} `));
  return Number(found?.split(' ').at(-1) ?? 0);
}
