import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { doctor } from '../../../src/cli/doctor/doctor.js';
import { freshDatabase } from '../../support/database.js';
import { OwnRedis } from '../../support/own-redis.js';
import { Started } from '../../support/started.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { Collector } from '../../support/upstreams/collector.js';
import { S3Server } from '../../support/upstreams/s3.js';
import { MailServer } from '../../support/upstreams/smtp.js';

const started = new Started();
const redis = await OwnRedis.start();
afterAll(() => started.end());

interface Row {
  readonly text: string;
  readonly atMs: number;
}

async function world() {
  started.add(redis, (it) => it?.kill());
  const database = started.add(await freshDatabase(), (it) => it.drop());
  const s3 = started.add(await S3Server.start(), (it) => it.stop());
  const mails = started.add(await MailServer.start(), (it) => it.stop());
  const collector = started.add(await Collector.start(), (it) => it.stop());
  const dataDir = mkdtempSync(join(tmpdir(), 'gatehouse-doctor-'));
  started.add(dataDir, (it) => rmSync(it, { recursive: true, force: true }));
  const urls = {
    DATABASE_URL: database.url,
    ...(redis ? { REDIS_URL: redis.url } : {}),
    GATEHOUSE_S3_ENDPOINT: s3.settings['GATEHOUSE_S3_ENDPOINT'] ?? '',
    GATEHOUSE_SMTP_URL: mails.url,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  };
  const others = {
    ...s3.settings,
    GATEHOUSE_DATA_DIR: dataDir,
    GATEHOUSE_PORT: '0',
    GATEHOUSE_MAIL_FROM: 'gatehouse@example.com',
    GATEHOUSE_PUBLIC_URL: 'https://gatehouse.example.com',
    OTEL_TRACES_EXPORTER: 'otlp',
    OTEL_METRICS_EXPORTER: 'otlp',
  };
  return { urls, others, collector };
}

async function rowsOf(environment: NodeJS.ProcessEnv): Promise<{ code: number; rows: Row[] }> {
  const rows: Row[] = [];
  const beganAt = performance.now();
  const code = await doctor(environment, {}, (text) =>
    rows.push({ text, atMs: performance.now() - beganAt }),
  );
  return { code, rows };
}

const STORES = [
  ...(redis ? ['Redis'] : []),
  'Object storage',
  'Mail server',
  'Trace collector',
  'Metric collector',
];

describe('gatehouse doctor', () => {
  it('finds every store that responds', async () => {
    const { urls, others } = await world();
    const { rows } = await rowsOf({ ...others, ...urls });
    const text = rows.map((row) => row.text).join('\n');
    for (const store of ['Database', 'Clock', ...STORES.filter((name) => name !== 'Redis')])
      expect(text).toMatch(new RegExp(`^ok +${store}`, 'm'));
    expect(text).toMatch(/written, read and deleted/);
    // The Redis of this test keeps nothing on disk.
    if (redis) expect(text).toMatch(/^WARNING +Redis +appendonly no/m);
  });

  it('reports a collector that requires another token, and a bucket that cannot be written', async () => {
    const { urls, others, collector } = await world();
    collector.nextStatus.push(401);
    const wrong = { GATEHOUSE_S3_SECRET_ACCESS_KEY: 'another' };
    const { code, rows } = await rowsOf({ ...others, ...urls, ...wrong, OTEL_METRICS_EXPORTER: 'none' });
    const text = rows.map((row) => row.text).join('\n');
    expect(code).toBe(1);
    expect(text).toMatch(/^FAILED +Trace collector .*401\n +What to do: .*OTEL_EXPORTER_OTLP_HEADERS/m);
    expect(text).toMatch(/^FAILED +Object storage +cannot write/m);
  });

  it('prints each row as it ends, and ends, where every store accepts and never responds', async () => {
    const { urls, others } = await world();
    const silent: Record<string, string> = {};
    for (const [name, url] of Object.entries(urls)) {
      const { proxy, url: through } = await TcpProxy.before(url);
      started.add(proxy, (it) => it.stop());
      proxy.mode = 'halfopen';
      silent[name] = through;
    }
    const { code, rows } = await rowsOf({ ...others, ...silent });
    expect(code).toBe(1);
    const text = rows.map((row) => row.text).join('\n');
    for (const store of ['Database', ...STORES]) expect(text).toMatch(new RegExp(`^FAILED +${store}`, 'm'));
    expect(rows[0]?.text).toMatch(/Node\.js/);
    expect(rows[0]?.atMs).toBeLessThan(2_000);
    // Five seconds for each of six checks, which run at the same time.
    expect(rows.at(-1)?.atMs).toBeLessThan(9_000);
    expect(text).not.toMatch(/canary/);
  });
});
