import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SpoolLogSink } from '../../../src/adapters/spool-log-sink.js';
import { writeOwner } from '../../../src/request-log/spool/owner.js';
import { Shipper } from '../../../src/jobs/shipping/shipper.js';
import { shipperMetrics } from '../../../src/jobs/shipping/shipper-metrics.js';
import { type CompiledSource, compileSource } from '../../support/compiled-source.js';
import { freshDatabase, type TestDatabase } from '../../support/database.js';
import { anOpened, aRecord, NO_BODIES } from '../../support/exchanges.js';
import { SpoolProcesses } from '../../support/spool-processes.js';
import { eventually, sleep } from '../../support/waiting.js';

const logger = pino({ level: 'silent' });
let source: CompiledSource;
let processes: SpoolProcesses;
let database: TestDatabase;
let pool: pg.Pool;
let spool: string;
let sink: SpoolLogSink;

beforeAll(async () => {
  source = compileSource();
  processes = new SpoolProcesses(source);
  database = await freshDatabase();
  pool = new pg.Pool({ connectionString: database.url, max: 4 });
  pool.on('error', () => undefined);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
  source.remove();
});
beforeEach(() => {
  spool = mkdtempSync(join(tmpdir(), 'gatehouse-spool-'));
  sink = aSink();
});
afterEach(() => {
  processes.killAll();
  rmSync(spool, { recursive: true, force: true });
});

const aSink = () => new SpoolLogSink({ spool, logger, reserveBytes: 65_536 });
const aShipper = () =>
  new Shipper({
    pool,
    spool,
    logger,
    counter: { countTokens: (text) => text.length, costOf: () => 1 },
    batchQueue: { enqueue: async () => undefined },
  });

async function exchangeIn(to: SpoolLogSink): Promise<string> {
  const record = aRecord(anOpened());
  to.open(record);
  to.close(record, NO_BODIES);
  await new Promise<void>((resolve) => to.whenWritten(resolve));
  return record.id;
}

async function isStored(id: string): Promise<boolean> {
  return (await pool.query('SELECT 1 FROM request_logs WHERE id = $1', [id])).rowCount === 1;
}
const untilStored = (id: string) => eventually(() => isStored(id), { what: 'the record to be stored' });

const oldestSeconds = async () => (await shipperMetrics.oldestSeconds.get()).values[0]?.value ?? 0;

/** The folder of a living writer whose only segment opens and cannot be read: a folder under the name of a file. */
function aFolderThatFailsToRead(): string {
  const folder = join(spool, randomUUID());
  mkdirSync(join(folder, '00000001.seg'), { recursive: true });
  writeOwner(folder);
  return folder;
}

describe('a shipper that runs', () => {
  it('stores records beside a file that has the name of a writer', async () => {
    writeFileSync(join(spool, randomUUID()), 'not a folder');
    const shipper = aShipper();
    shipper.start();
    await untilStored(await exchangeIn(sink));
    await untilStored(await exchangeIn(sink));
    await shipper.stop(10_000);
  });

  it('keeps storing after it had no file descriptors for two seconds', async () => {
    let isExhausted = false;
    const shipper = await processes.confinedShipper(spool, database.url, (line) => {
      isExhausted ||= line === 'exhausted';
    });
    await untilStored(await exchangeIn(sink));

    process.kill(shipper.pid, 'SIGUSR2');
    await eventually(() => isExhausted, { what: 'the descriptors to be used up' });
    const during = await exchangeIn(sink);
    await sleep(1_000);
    expect(await isStored(during)).toBe(false);

    await untilStored(during);
    await untilStored(await exchangeIn(sink));
  });

  it('stores what others write while the folder of one writer cannot be read, and that one when it can', async () => {
    const [closed] = readdirSync(spool);
    const folder = join(spool, closed ?? '');
    await processes.confinedShipper(spool, database.url);
    await untilStored(await exchangeIn(sink));

    chmodSync(folder, 0o000);
    const unread = await exchangeIn(sink);
    const other = aSink();
    await untilStored(await exchangeIn(other));
    await sleep(1_000);
    await untilStored(await exchangeIn(other));
    expect(await isStored(unread)).toBe(false);

    chmodSync(folder, 0o700);
    await untilStored(unread);
  });

  it('stores what others write while a segment of one writer opens and fails to read', async () => {
    for (let count = 0; count < 20; count++) aFolderThatFailsToRead();
    const shipper = aShipper();
    shipper.start();
    await untilStored(await exchangeIn(sink));
    await untilStored(await exchangeIn(sink));
    await shipper.stop(10_000);
  });

  it('reports the age of what it could not store, as it grows, while one folder cannot be read', async () => {
    aFolderThatFailsToRead();
    const shipper = aShipper();
    await shipper.round();
    const before = await oldestSeconds();
    await sleep(300);
    const between = await oldestSeconds();
    await shipper.round();

    expect(between).toBeGreaterThanOrEqual(before + 0.25);
    expect(await oldestSeconds()).toBeGreaterThanOrEqual(between);
  });
});
