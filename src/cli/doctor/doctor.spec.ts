import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { judgeClickHouse } from './check-clickhouse.js';
import { judgeInbox, judgeServer, judgeSkew, judgeStrays } from './check-database.js';
import { checkNode, judgeSpace } from './check-machine.js';
import { judgeRedis } from './check-redis.js';
import { examine } from './doctor.js';
import type { Finding } from './finding.js';

const GIB = 1024 ** 3;
const server = { version_num: 180_004, encoding: 'UTF8', may_create: true, max_connections: 100, now_ms: 0 };
async function found(environment: NodeJS.ProcessEnv): Promise<Finding[]> {
  const findings: Finding[] = [];
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
  ])('judges %d free bytes: %s', (free, result) => expect(judgeSpace('/data', free).result).toBe(result));

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

  it('warns of logs from elsewhere that nobody stores', () => {
    expect(judgeInbox(2)).toEqual([]);
    expect(judgeInbox(3_600)).toMatchObject([
      { result: 'warning', detail: 'the oldest has waited for 3600 s' },
    ]);
  });

  it('counts only what lies outside of its own two readings as clock skew', () => {
    expect(judgeSkew(1_500, 1_000, 9_000)).toMatchObject({
      result: 'ok',
      detail: "0 ms from the database's",
    });
    expect(judgeSkew(5_000, 10_000, 10_001).result).toBe('failed');
    expect(judgeSkew(15_000, 10_000, 10_001).result).toBe('failed');
  });

  it('wants a Redis that evicts nothing and keeps what it took', () => {
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

  it('says where a database, a Redis or a ClickHouse does not answer, without its password', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'gatehouse-doctor-'));
    const findings = await found({
      GATEHOUSE_DATA_DIR: dataDir,
      GATEHOUSE_PORT: '0',
      DATABASE_URL: 'postgres://me:hush@127.0.0.1:1/db',
      REDIS_URL: 'redis://:hush@127.0.0.1:1',
      CLICKHOUSE_URL: 'http://me:hush@127.0.0.1:1/db',
    });
    await rm(dataDir, { recursive: true });

    expect(findings.filter(({ result }) => result === 'failed').map(({ check }) => check)).toEqual([
      'Database',
      'Redis',
      'ClickHouse',
    ]);
    expect(JSON.stringify(findings)).toContain('127.0.0.1:1/db');
    expect(JSON.stringify(findings)).not.toContain('hush');
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
