import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { judgeClickHouse } from './check-clickhouse.js';
import { judgeInbox, judgeServer, judgeStrays } from './check-database.js';
import { checkProxies } from './check-proxies.js';
import { judgeSkew } from './judge-skew.js';
import { checkNode, judgeSpace } from './check-machine.js';
import { judgeRedis } from './check-redis.js';
import { loadSettings } from '../../common/settings/settings.js';
import {
  LOCALHOST_CERTIFICATE,
  LOCALHOST_KEY,
} from '../../../test/support/upstreams/localhost-certificate.js';
import { checkCertificates, judgeExpiry } from './check-certificates.js';
import { judgeReadiness } from './check-running.js';
import { collectorHeaders, judgeCollector, judgeMailServer } from './check-services.js';
import { examine } from './doctor.js';
import type { DoctorFinding } from './finding.js';

const GIB = 1024 ** 3;
const server = { version_num: 180_004, encoding: 'UTF8', may_create: true, max_connections: 100, now_ms: 0 };
async function found(environment: NodeJS.ProcessEnv): Promise<DoctorFinding[]> {
  const findings: DoctorFinding[] = [];
  for await (const finding of examine(environment)) findings.push(finding);
  return findings;
}
const results = (findings: readonly { result: string }[]) => findings.map(({ result }) => result);

describe('doctor', () => {
  it.each([
    ['v20.18.1', 'failed'],
    ['v18.20.0', 'failed'],
    ['v20.19.0', 'ok'],
    ['v24.1.0', 'ok'],
  ])('judges Node.js %s: %s', (version, result) => expect(checkNode(version).result).toBe(result));

  it.each([
    [0.1 * GIB, 'failed'],
    [2 * GIB, 'warning'],
    [50 * GIB, 'ok'],
  ])('judges %d free bytes: %s', (free, result) =>
    expect(judgeSpace('Data folder', '/data', free).result).toBe(result),
  );

  it('finds all that is wrong with a database at once', () => {
    expect(results(judgeServer(server, 80))).toEqual(['ok']);
    const bad = {
      ...server,
      version_num: 130_002,
      encoding: 'SQL_ASCII',
      may_create: false,
      max_connections: 20,
    };
    expect(results(judgeServer(bad, 80))).toEqual(['failed', 'failed', 'failed', 'warning']);
  });

  it('warns of rows of the log that retention cannot reach, and names where they are', () => {
    expect(judgeStrays([])).toEqual([]);
    const [finding] = judgeStrays(['request_logs']);
    expect([finding?.result, finding?.detail]).toEqual(['warning', expect.stringContaining('request_logs')]);
  });

  it('warns of logs from elsewhere that are not stored', () => {
    expect(judgeInbox(2)).toEqual([]);
    expect(judgeInbox(3_600)).toMatchObject([
      { result: 'warning', detail: 'the oldest has waited for 3600 s' },
    ]);
  });

  it('counts only what is outside of its own two readings as clock skew', () => {
    expect(judgeSkew(1_500, { before: 1_000, after: 9_000 }, 'Redis')).toMatchObject({
      result: 'ok',
      detail: '0 ms from the clock of Redis',
    });
    const readings = { before: 10_000, after: 10_001 };
    expect(judgeSkew(5_000, readings, 'Redis').result).toBe('failed');
    expect(judgeSkew(15_000, readings, 'Redis').result).toBe('failed');
  });

  it('connects to the outbound proxies, and names one that has no address or does not listen', async () => {
    const proxy = createServer().listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const { port } = proxy.address() as AddressInfo;
    const check = async (https: string, http: string) =>
      (await checkProxies(loadSettings({ HTTPS_PROXY: https, HTTP_PROXY: http }))).map(
        (finding) => `${finding.check} ${finding.result}`,
      );

    expect(await check(`http://me:hush@127.0.0.1:${port}`, `http://me:hush@127.0.0.1:${port}`)).toEqual([
      'Outbound proxy ok',
    ]);
    expect(await check('http://proxy.invalid:3128', 'http://127.0.0.1:1')).toEqual([
      'DNS failed',
      'Outbound proxy failed',
    ]);
    proxy.close();
  });

  it('requires a Redis that evicts nothing and persists writes', () => {
    const info = (policy: string, aof: number, version = '7.2.4') =>
      `# Server\r\nredis_version:${version}\r\nmaxmemory_policy:${policy}\r\naof_enabled:${aof}\r\n`;
    expect(results(judgeRedis(info('noeviction', 1)))).toEqual(['ok']);
    expect(results(judgeRedis(info('allkeys-lru', 0, '6.0.16')))).toEqual(['failed', 'failed', 'warning']);
  });

  it('lists every wrong setting', async () => {
    const findings = await found({ GATEHOUSE_PORT: 'x', GATEHOUSE_TYPO: '1' });
    expect(findings.filter(({ check }) => check === 'Settings').map(({ detail }) => detail)).toEqual([
      'GATEHOUSE_TYPO: there is no such setting.',
      expect.stringMatching(/^GATEHOUSE_PORT: /),
    ]);
  });

  it('names a database, Redis or ClickHouse that does not respond, without its password', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'gatehouse-doctor-'));
    const findings = await found({
      GATEHOUSE_DATA_DIR: dataDir,
      GATEHOUSE_PORT: '0',
      DATABASE_URL: 'postgres://me:hush@127.0.0.1:1/db',
      REDIS_URL: 'redis://:hush@127.0.0.1:1',
      CLICKHOUSE_URL: 'http://me:hush@127.0.0.1:1/db',
    });
    await rm(dataDir, { recursive: true });

    // In the order in which they finished.
    const failed = findings.filter(({ result }) => result === 'failed').map(({ check }) => check);
    expect(failed.sort()).toEqual(['ClickHouse', 'Database', 'Redis']);
    expect(JSON.stringify(findings)).toContain('127.0.0.1:1/db');
    expect(JSON.stringify(findings)).not.toContain('hush');
  });
});

describe('doctor of services', () => {
  it.each([
    [200, 'ok'],
    [401, 'failed'],
    [404, 'failed'],
    [503, 'failed'],
  ])('judges a collector that returns %d: %s', (status, result) =>
    expect(judgeCollector('Trace collector', new URL('http://c.example/v1/traces'), status).result).toBe(
      result,
    ),
  );

  it('warns of a password that travels unencrypted', () => {
    const of = (isEncrypted: boolean, isAuthenticated: boolean) =>
      judgeMailServer({ isEncrypted, isAuthenticated }).result;
    expect([of(true, true), of(false, false), of(false, true)]).toEqual(['ok', 'ok', 'warning']);
  });

  it('reads the headers of collectors, those of a signal first', () => {
    const headers = collectorHeaders({
      OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Bearer%20a=b, x-team = one',
      OTEL_EXPORTER_OTLP_METRICS_HEADERS: 'x-team=two',
    });
    expect(headers.traces).toEqual(['authorization', 'Bearer a=b', 'x-team', 'one']);
    expect(headers.metrics).toEqual(['authorization', 'Bearer a=b', 'x-team', 'two']);
  });

  it('names the failing check of the running instance', () => {
    const redis = { name: 'redis', status: 'degraded', detail: 'It refuses connections.' };
    expect(judgeReadiness('http://h', { status: 'degraded', checks: [redis] })).toMatchObject({
      result: 'warning',
      detail: 'http://h is degraded; redis: It refuses connections.',
    });
    expect(judgeReadiness('http://h', { status: 'ready', checks: [{ ...redis, status: 'ok' }] }).result).toBe(
      'ok',
    );
  });

  it('reads certificates and keys that the settings name, and when they end', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'gatehouse-doctor-'));
    const [cert, key, other] = ['cert.pem', 'key.pem', 'other.pem'].map((name) => join(folder, name));
    await writeFile(cert ?? '', LOCALHOST_CERTIFICATE);
    await writeFile(key ?? '', LOCALHOST_KEY);
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    await writeFile(other ?? '', privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const check = async (query: string) =>
      (await checkCertificates(loadSettings({ DATABASE_URL: `postgres://h/d?${query}` }), {})).map(
        ({ result, detail }) => `${result} ${detail}`,
      );

    expect(await check(`sslcert=${cert}&sslkey=${key}`)).toEqual([
      expect.stringMatching(/^ok .*valid until/),
    ]);
    expect(await check(`sslcert=${cert}&sslkey=${other}`)).toEqual([
      expect.stringMatching(/^failed the key .*does not belong/),
    ]);
    expect(await check(`sslrootcert=${key}`)).toEqual([expect.stringMatching(/^failed .*no certificate/)]);
    expect(await check(`sslrootcert=${folder}/none`)).toEqual([expect.stringMatching(/^failed .*ENOENT/)]);
    const certificate = new X509Certificate(LOCALHOST_CERTIFICATE);
    const end = Date.parse(certificate.validTo);
    const at = (days: number) => judgeExpiry('it', [certificate], end + days * 86_400_000).result;
    expect([at(-40), at(-10), at(1)]).toEqual(['ok', 'warning', 'failed']);
    await rm(folder, { recursive: true });
  });
});

describe('judgeClickHouse', () => {
  it.each([
    ['26.7.2.1', undefined, 0, 'ok'],
    ['26.10.1.1', 'main', 4, 'ok'],
    ['24.8.1.1', undefined, 0, 'warning'],
    ['26.7.2.1', 'mian', 0, 'failed'],
  ] as const)('version %s with the cluster %s of %i servers is %s', (version, cluster, servers, result) => {
    expect(judgeClickHouse(version, cluster, servers).result).toBe(result);
  });
});
