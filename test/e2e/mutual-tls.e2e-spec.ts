import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CertificateFiles, pemOf, TestAuthority } from '../support/certificates.js';
import { TlsPostgres, TlsRedis } from '../support/own-tls-stores.js';
import { freePort } from '../support/ports.js';
import { type OwnService, runToEnd, startService } from '../support/service.js';
import { Started } from '../support/started.js';
import { eventually } from '../support/waiting.js';

interface Readiness {
  readonly checks: readonly { readonly name: string; readonly status: string }[];
}

const started = new Started();
let authority: TestAuthority;
let postgres: TlsPostgres;
let redis: TlsRedis | null;
let files: CertificateFiles;
let clickhouse: Server;
let dataDir: string;

beforeAll(async () => {
  authority = started.add(new TestAuthority(), (it) => it.remove());
  dataDir = started.add(mkdtempSync(join(tmpdir(), 'gatehouse-mutual-tls-')), (it) =>
    rmSync(it, { recursive: true }),
  );
  files = authority.issue('postgres');
  postgres = started.add(await TlsPostgres.start(authority), (it) => it.remove());
  redis = started.add(await TlsRedis.start(authority), (it) => it?.stop());
  const own = pemOf(authority.issue('clickhouse-server'));
  clickhouse = createServer(
    { ...own, ca: authority.pem, requestCert: true, rejectUnauthorized: true },
    (_, response) => response.end('Ok.\n'),
  );
  await new Promise<void>((resolve) => clickhouse.listen(0, '127.0.0.1', resolve));
  started.add(clickhouse, (it) => {
    it.close();
    it.closeAllConnections();
  });
});
afterAll(() => started.end());

const hasStarted = ({ output }: { readonly output: string }): boolean =>
  output.includes('Gatehouse is ready.');

/** A request to a service with TLS. Rejects when it is refused before HTTP. */
function call(
  service: OwnService,
  path: string,
  {
    client,
    headers = {},
    body,
  }: { client?: CertificateFiles; headers?: Record<string, string>; body?: object } = {},
): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const port = new URL(service.baseUrl).port;
    const tls = { ca: authority.pem, ...(client && pemOf(client)) };
    const sent = body === undefined ? undefined : JSON.stringify(body);
    const all = {
      ...headers,
      ...(sent && { 'content-type': 'application/json', 'content-length': `${sent.length}` }),
    };
    request(
      { host: '127.0.0.1', port, path, method: sent ? 'POST' : 'GET', headers: all, agent: false, ...tls },
      (response) =>
        void text(response).then((it) => resolve({ status: response.statusCode ?? 0, body: it }), reject),
    )
      .on('error', reject)
      .end(sent);
  });
}

describe('a service with TLS on its port and client certificates', () => {
  let service: OwnService;
  let probesPort: number;
  let client: CertificateFiles;

  beforeAll(async () => {
    client = authority.issue('client', { subject: '/O=Example/CN=checkout' });
    const listener = authority.issue('listener');
    probesPort = await freePort();
    service = await startService({
      dataDir,
      hasStarted,
      env: {
        DATABASE_URL: postgres.url(files),
        GATEHOUSE_PROCESSES: '2',
        GATEHOUSE_ACCESS_LOG: 'all',
        GATEHOUSE_TLS_CERTIFICATE_FILE: listener.cert,
        GATEHOUSE_TLS_KEY_FILE: listener.key,
        GATEHOUSE_TLS_CLIENT_CERTIFICATES: 'require',
        GATEHOUSE_TLS_CLIENT_CA_FILE: authority.cert,
        GATEHOUSE_PROBES_PORT: String(probesPort),
      },
    });
  });
  afterAll(() => service?.dispose());

  it('serves model requests, and names the certificate in the access log', async () => {
    const { workspace_api_key: key, base_url: baseUrl } = service.bootstrap;
    expect(baseUrl).toMatch(/^https:/);
    const answer = await call(service, '/v1/chat/completions', {
      client,
      headers: { 'x-gateway-api-key': key, 'x-gateway-provider': 'sandbox' },
      body: { model: 'sandbox-1', messages: [{ role: 'user', content: 'Hello' }] },
    });

    expect([answer.status, answer.body]).toEqual([200, expect.stringContaining('Hello')]);
    await eventually(() => service.output.includes('"client_certificate":"CN=checkout,O=Example"'), {
      what: 'the line of the access log',
    });
  });

  it('serves the administration and the dashboard to clients with a certificate only', async () => {
    const { admin_api_key: key } = service.bootstrap;
    const headers = { 'x-gateway-api-key': key };

    expect((await call(service, '/v1/api-keys', { client, headers })).status).toBe(200);
    expect((await call(service, '/ui/', { client })).status).toBe(200);
    await expect(call(service, '/v1/api-keys', { headers })).rejects.toThrow();
    await expect(call(service, '/ui/')).rejects.toThrow();
    await expect(call(service, '/readyz')).rejects.toThrow();
  });

  it('serves probes and metrics over plain HTTP on the port for probes, and nothing else', async () => {
    const probes = `http://127.0.0.1:${probesPort}`;
    expect((await fetch(`${probes}/readyz`)).status).toBe(200);
    expect(await (await fetch(`${probes}/metrics`)).text()).toMatch(
      /^gatehouse_tls_certificate_expiry_seconds \d+/m,
    );
    expect((await fetch(`${probes}/v1/models`)).status).toBe(404);
    expect((await fetch(`${probes}/ui/`)).status).toBe(404);
  });

  it('reaches PostgreSQL with its certificate from every process and every kind of connection', async () => {
    const rows = await postgres.query(
      `SELECT DISTINCT application_name AS name, ssl, client_dn FROM pg_stat_activity JOIN pg_stat_ssl USING (pid)
       WHERE datname = 'gatehouse'`,
    );
    const names = rows.map(({ name }) => name);

    expect(names).toEqual(
      expect.arrayContaining(['gatehouse', 'gatehouse gateway', 'gatehouse changes', 'gatehouse-queues']),
    );
    for (const row of rows) expect(row).toMatchObject({ ssl: true, client_dn: '/CN=postgres' });
  });

  it('is checked by doctor, with its certificate', async () => {
    const { output } = await runToEnd(['doctor'], { GATEHOUSE_DATA_DIR: dataDir });

    expect(output).toMatch(/^ok +Service +http:\/\/127\.0\.0\.1:\d+ is ready/m);
    expect(output).toMatch(/Database +.*PostgreSQL|ok +Database/);
    expect(output).toMatch(/Certificates +GATEHOUSE_TLS_CERTIFICATE_FILE .* expires on/);
  });

  it('drains and ends in order', async () => {
    const exit = await service.stop();
    expect(exit).toEqual({ code: 0, signal: null });
  });
});

describe('the stores of a service', () => {
  it('are used by its commands with the same certificates, and refuse them without', async () => {
    const env = { GATEHOUSE_DATA_DIR: dataDir };
    const allowed = await runToEnd(['migrate', '--status'], { ...env, DATABASE_URL: postgres.url(files) });
    const refused = await runToEnd(['migrate', '--status'], { ...env, DATABASE_URL: postgres.url() });

    expect([allowed.code, allowed.output]).toEqual([0, expect.stringContaining('up to date')]);
    expect(refused.code).not.toBe(0);
    expect(refused.output).toMatch(/certificate|pg_hba/i);
  });

  it('may all require client certificates', async ({ skip }) => {
    if (!redis) return skip();
    const { port } = clickhouse.address() as AddressInfo;
    const parameters = new URLSearchParams({
      sslrootcert: authority.cert,
      sslcert: files.cert,
      sslkey: files.key,
    });
    const service = await startService({
      dataDir,
      env: {
        DATABASE_URL: postgres.url(files),
        REDIS_URL: redis.url(files),
        CLICKHOUSE_URL: `https://127.0.0.1:${port}/?${String(parameters)}`,
        GATEHOUSE_PROCESSES: '1',
      },
    });
    const observer = redis.client(files);
    try {
      await observer.connect();
      const isOk = async (name: string): Promise<boolean> => {
        const { body } = await service.client.call({ path: '/readyz?verbose' });
        const { checks } = JSON.parse(body.toString()) as Readiness;
        return checks.some((check) => check.name === name && check.status === 'ok');
      };
      for (const name of ['database', 'redis', 'clickhouse', 'limits'])
        await eventually(() => isOk(name), { withinMs: 60_000, what: `readiness of ${name}` });
      await eventually(
        async () => {
          const names = String(await observer.client('LIST'));
          return [
            'gatehouse-changes',
            'gatehouse-limits',
            'gatehouse-answers',
            'gatehouse-readiness',
            'bull',
          ].every(
            (name) => names.includes(`name=${name}`) || (name === 'bull' && /cmd=bzpopmin/.test(names)),
          );
        },
        { what: 'the connections to Redis' },
      );
    } finally {
      observer.disconnect();
      await service.dispose();
    }
  });

  it('are named when their certificate files are missing', async () => {
    const env = { GATEHOUSE_DATA_DIR: dataDir, DATABASE_URL: postgres.url(files) };
    const { code, output } = await runToEnd(['start'], {
      ...env,
      REDIS_URL: 'rediss://127.0.0.1:1?sslrootcert=/nowhere.pem',
      GATEHOUSE_TLS_CERTIFICATE_FILE: files.cert,
    });

    expect(code).toBe(1);
    expect(output).toContain('REDIS_URL: the file /nowhere.pem of sslrootcert cannot be read.');
    expect(output).toContain('GATEHOUSE_TLS_KEY_FILE: is required by GATEHOUSE_TLS_CERTIFICATE_FILE.');
  });
});
