import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OwnPostgres } from '../support/own-postgres.js';
import { freePort } from '../support/ports.js';
import { type OwnService, startService } from '../support/service.js';
import { Started } from '../support/started.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { eventually } from '../support/waiting.js';

const HTML = { accept: 'text/html,application/xhtml+xml' };

const started = new Started();
let proxy: TcpProxy;
let service: OwnService;

beforeAll(async () => {
  const postgres = started.add(await OwnPostgres.create(), (it) => it.remove());
  const through = new URL(postgres.url);
  proxy = started.add(await TcpProxy.start({ host: through.hostname, port: Number(through.port) }), (it) =>
    it.stop(),
  );
  through.hostname = '127.0.0.1';
  through.port = String(proxy.port);
  service = await startService({
    env: {
      DATABASE_URL: through.href,
      GATEHOUSE_PORT: String(await freePort()),
      GATEHOUSE_PROCESSES: '1',
      GATEHOUSE_DRAIN_DELAY_MS: '0',
    },
  });
  started.add(service, (it) => it.dispose());
});
afterAll(() => started.end());

const get = (path: string, headers: Record<string, string> = HTML, method = 'GET') =>
  service.client.call({ method, path, headers, fresh: true });

/** The nonce that the policy of an answer allows. */
const nonceOf = (policy = ''): string => /script-src 'self' 'nonce-([^']+)'/.exec(policy)?.[1] ?? '';

const assetsOf = (html: string): string[] =>
  [...html.matchAll(/(?:src|href)="(\/ui\/assets\/[^"]+)"/g)].map(([, path]) => path ?? '');

describe('the shell', () => {
  it.each(['/ui/', '/ui/sign-in', '/ui/w/production/logs/01a212c9-852f-7d7a-8c57-2a1f0c55fcce?range=1h'])(
    'is served at %s, so that an address can be copied',
    async (path) => {
      const { status, headers, body } = await get(path);

      expect(status).toBe(200);
      expect(headers['content-type']).toBe('text/html; charset=utf-8');
      expect(headers['cache-control']).toBe('no-store');
      expect(body.toString()).toContain('<div id="root">');
    },
  );

  it('allows only the scripts and styles of this page: no evaluation, no other origin, no frame', async () => {
    const [first, second] = [await get('/ui/'), await get('/ui/')];
    const policy = first.headers['content-security-policy'] ?? '';
    const nonce = nonceOf(policy);

    expect(nonce).toMatch(/^[\w+/]{22}==$/);
    expect(nonceOf(second.headers['content-security-policy'])).not.toBe(nonce);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    const tags = first.body.toString().match(/<(?:script|style)\b[^>]*>/g) ?? [];
    expect(tags.length).toBeGreaterThan(1);
    for (const tag of tags) expect(tag).toContain(`nonce="${nonce}"`);
  });

  it('has every file that it names, and those never change', async () => {
    const paths = assetsOf((await get('/ui/')).body.toString());
    expect(paths.length).toBeGreaterThan(2);
    for (const path of paths) {
      const { status, headers } = await get(path, {});
      expect([path, status, headers['cache-control']]).toEqual([
        path,
        200,
        'public, max-age=31536000, immutable',
      ]);
    }
  });
});

describe('a file', () => {
  const script = async (): Promise<string> =>
    assetsOf((await get('/ui/')).body.toString()).find((path) => path.endsWith('.js')) ?? '';

  it('is sent as it was compressed at the build, in the smallest encoding that the client accepts', async () => {
    const path = await script();
    const plain = await get(path, {});
    const zipped = await get(path, { 'accept-encoding': 'gzip, deflate' });
    const brotli = await get(path, { 'accept-encoding': 'gzip, deflate, br' });
    const refused = await get(path, { 'accept-encoding': 'br;q=0, gzip;q=0.0' });

    expect(plain.headers['content-encoding']).toBeUndefined();
    expect([zipped.headers['content-encoding'], gunzipSync(zipped.body).equals(plain.body)]).toEqual([
      'gzip',
      true,
    ]);
    expect([
      brotli.headers['content-encoding'],
      brotliDecompressSync(brotli.body).equals(plain.body),
    ]).toEqual(['br', true]);
    expect(refused.body.equals(plain.body)).toBe(true);
    expect(brotli.body.length).toBeLessThan(zipped.body.length);
    expect(brotli.headers.vary).toBe('accept-encoding');
  });

  it('that does not exist is a 404, never the shell', async () => {
    expect((await get('/ui/assets/gone-12345678.js')).status).toBe(404);
  });

  it.each([
    '/ui/../package.json',
    '/ui/assets/../../../package.json',
    '/ui/assets/%2e%2e%2f%2e%2e%2fpackage.json',
  ])('outside of the build is out of reach: %s', async (path) => {
    expect((await get(path)).body.toString()).not.toContain('"name": "gatehouse"');
  });

  it('cannot be changed', async () => {
    const { status, headers } = await get('/ui/', {}, 'POST');
    expect([status, headers.allow]).toEqual([405, 'GET, HEAD']);
  });
});

describe('the root', () => {
  it('redirects a browser to the dashboard, and describes the gateway to other clients', async () => {
    const visit = await get('/');
    expect([visit.status, visit.headers.location]).toEqual([302, '/ui/']);
    const about = await get('/', { accept: 'application/json' });
    expect([about.status, JSON.parse(about.body.toString())]).toMatchObject([200, { name: 'gatehouse' }]);
  });
});

describe('while the database is unavailable', () => {
  it('the shell loads, also from an administration that starts meanwhile, and works again by itself', async () => {
    const { administration } = service.pids;
    proxy.mode = 'refuse';
    process.kill(administration ?? 0, 'SIGKILL');
    await eventually(
      async () => service.pids.administration !== null && service.pids.administration !== administration,
      {
        what: 'the next administration',
      },
    );

    const shell = await get('/ui/w/production/logs');
    expect([shell.status, shell.body.toString().includes('<div id="root">')]).toEqual([200, true]);

    proxy.mode = 'pass';
    const headers = { 'x-gateway-api-key': service.bootstrap.admin_api_key };
    await eventually(async () => (await get('/v1/admin/me', headers)).status === 200, {
      withinMs: 60_000,
      what: 'the administration',
    });
  });
});
