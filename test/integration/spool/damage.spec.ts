import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SpoolLogSink } from '../../../src/adapters/spool-log-sink.js';
import { uuidV7 } from '../../../src/common/ids/uuid-v7.js';
import { DamagedSegments } from '../../../src/jobs/shipping/damaged-segments.js';
import { Shipper } from '../../../src/jobs/shipping/shipper.js';
import { shipperMetrics } from '../../../src/jobs/shipping/shipper-metrics.js';
import { freshDatabase, type TestDatabase } from '../../support/database.js';
import { anOpened, aRecord, NO_BODIES } from '../../support/exchanges.js';

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly file?: string;
  readonly offset?: number;
}

let database: TestDatabase;
let pool: pg.Pool;
let spool: string;
let sink: SpoolLogSink;
let lines: Line[];

beforeAll(async () => {
  database = await freshDatabase();
  pool = new pg.Pool({ connectionString: database.url, max: 4 });
  pool.on('error', () => undefined);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});
beforeEach(() => {
  spool = mkdtempSync(join(tmpdir(), 'gatehouse-spool-'));
  lines = [];
  sink = new SpoolLogSink({ spool, logger: pino({ level: 'silent' }), reserveBytes: 65_536 });
});
afterEach(() => rmSync(spool, { recursive: true, force: true }));

const logger = pino(
  { level: 'info' },
  { write: (line: string) => void lines.push(JSON.parse(line) as Line) },
);
const aShipper = () =>
  new Shipper({
    pool,
    spool,
    logger,
    counter: { countTokens: (text) => text.length, costOf: () => 1 },
    batchQueue: { enqueue: async () => undefined },
  });
const about = (text: string) => lines.filter(({ msg }) => msg.includes(text));
const keptFiles = () => readdirSync(join(spool, 'damaged'));
const kept = async () => (await shipperMetrics.damagedKept.get()).values[0]?.value ?? 0;
const segment = () => join(spool, readdirSync(spool)[0] ?? '', '00000001.seg');

async function exchange(
  organisationId = uuidV7(Date.now()),
): Promise<{ readonly id: string; readonly from: number }> {
  const record = aRecord(anOpened({ organisation_id: organisationId }));
  const { size: from } = statSync(segment(), { throwIfNoEntry: false }) ?? { size: 0 };
  sink.open(record);
  sink.close(record, NO_BODIES);
  await new Promise<void>((resolve) => sink.whenWritten(resolve));
  return { id: record.id, from };
}

/** Flips one byte. */
function flip(path: string, at: number): void {
  const bytes = readFileSync(path);
  bytes[at] = (bytes[at] ?? 0) ^ 0xff;
  writeFileSync(path, bytes);
}

const storedOf = async (ids: readonly string[]) =>
  (await pool.query<{ id: string }>('SELECT id FROM request_logs WHERE id = ANY ($1)', [ids])).rows.map(
    ({ id }) => id,
  );

async function drain(): Promise<void> {
  const shipper = aShipper();
  while (await shipper.round());
}

describe('a damaged segment of the spool', () => {
  it('is logged once with file and offset, costs what is damaged, and is kept for inspection', async () => {
    const [first, second, third] = [await exchange(), await exchange(), await exchange()];
    await sink.shutdown();
    const path = segment();
    flip(path, second.from + 40);
    const damaged = readFileSync(path);
    const before = await kept();

    await drain();

    const stored = await storedOf([first.id, second.id, third.id]);
    expect(stored).toContain(first.id);
    expect(stored).toContain(third.id);
    expect(about('is damaged')).toEqual([
      expect.objectContaining({ level: 50, file: path, offset: second.from }),
    ]);
    expect(keptFiles()).toHaveLength(1);
    const [name = ''] = keptFiles();
    expect(readFileSync(join(spool, 'damaged', name))).toEqual(damaged);
    expect((await kept()) - before).toBe(1);
    expect(readdirSync(spool)).toEqual(['damaged']);
  });

  it('is kept also when another shipper had read a part of it before', async () => {
    await exchange();
    const shipper = aShipper();
    await shipper.round();
    const second = await exchange();
    await exchange();
    await sink.shutdown();
    flip(segment(), second.from + 40);

    await drain();

    expect(keptFiles()).toHaveLength(1);
  });

  it('is seen when it was cut short although its writer ended in order', async () => {
    await exchange();
    const last = await exchange();
    await sink.shutdown();
    const path = segment();
    truncateSync(path, statSync(path).size - 10);

    await drain();

    expect(about('is damaged')).toHaveLength(1);
    expect(about('is damaged')[0]?.offset).toBeGreaterThanOrEqual(last.from);
    expect(keptFiles()).toHaveLength(1);
  });

  it('is not kept where what it holds must not be: a redaction rule applies to one of its requests', async () => {
    const organisation = uuidV7(Date.now());
    await pool.query(
      `INSERT INTO organizations (id, name, settings, wrapped_key)
       VALUES ($1, 'redacting', '{"log_redaction": {"paths": ["$.messages"]}}', '')`,
      [organisation],
    );
    const first = await exchange(organisation);
    const second = await exchange(organisation);
    await exchange(organisation);
    await sink.shutdown();
    flip(segment(), second.from + 40);

    await drain();

    expect(await storedOf([first.id])).toEqual([first.id]);
    expect(about('is damaged')).toHaveLength(1);
    expect(readdirSync(spool)).toEqual([]);
  });
});

describe('the folder of damaged segments', () => {
  it('is bounded in size and age, and loses its oldest files first', () => {
    const folder = join(spool, 'damaged');
    mkdirSync(folder);
    const MIB = 1024 * 1024;
    const DAY_MS = 24 * 60 * 60_000;
    const place = (name: string, mib: number, ageDays: number): void => {
      writeFileSync(join(folder, name), Buffer.alloc(mib * MIB));
      const at = new Date(Date.now() - ageDays * DAY_MS);
      utimesSync(join(folder, name), at, at);
    };
    place('new.seg', 30, 0);
    place('second.seg', 30, 1);
    place('too-much.seg', 10, 2);
    place('small-and-older.seg', 1, 3);
    place('too-old.seg', 1, 8);

    new DamagedSegments(spool, logger).forgetOld();

    expect(keptFiles().sort()).toEqual(['new.seg', 'second.seg']);
  });
});
