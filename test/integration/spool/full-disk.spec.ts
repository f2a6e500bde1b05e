import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SpoolLogSink } from '../../../src/adapters/spool-log-sink.js';
import { Shipper } from '../../../src/jobs/shipping/shipper.js';
import { freshDatabase, type TestDatabase } from '../../support/database.js';
import { aBody, anOpened, aRecord } from '../../support/exchanges.js';
import { SmallDisk } from '../../support/small-disk.js';
import { eventually } from '../../support/waiting.js';

const disk = mkdtempSync(join(tmpdir(), 'gatehouse-disk-'));
const mounted = SmallDisk.mount(disk, 20);

afterAll(() => {
  mounted?.remove();
  rmSync(disk, { recursive: true, force: true });
});

describe.runIf(mounted)('a spool whose disk is full', () => {
  const spool = join(disk, 'spool');
  const alarms: string[] = [];
  const logger = pino({ level: 'error' }, { write: (line) => void alarms.push(line) });
  let database: TestDatabase;
  let pool: pg.Pool;
  beforeAll(async () => {
    database = await freshDatabase();
    pool = new pg.Pool({ connectionString: database.url, max: 2 });
    pool.on('error', () => undefined);
  });
  afterAll(async () => {
    await pool.end();
    await database.drop();
  });

  it('keeps every record, without bodies while the disk is full, and recovers by itself', async () => {
    const sink = new SpoolLogSink({ spool, logger });
    const [writer = ''] = readdirSync(spool);
    await eventually(() => statSync(join(spool, writer, 'reserve')).size > 4_000_000, {
      what: 'the reserve',
    });
    const bodies = { request: aBody('q'.repeat(60_000)), response: aBody('a'.repeat(4_000)) };
    const ids: string[] = [];
    const exchange = async (name: string) => {
      const record = aRecord(anOpened({ span_name: name }));
      ids.push(record.id);
      sink.open(record);
      await new Promise<void>((resolve) => sink.whenWritten(resolve));
      sink.close(record, bodies);
      await new Promise<void>((resolve) => sink.whenWritten(resolve));
    };

    for (let n = 0; n < 20; n++) await exchange('before');
    fill(join(disk, 'filler'));
    for (let n = 0; n < 800; n++) await exchange('full');
    expect(alarms.filter((line) => line.includes('log_degraded'))).toHaveLength(1);
    expect(sink.hasSpace).toBe(true);
    rmSync(join(disk, 'filler'));
    await eventually(() => statSync(join(spool, writer, 'reserve'), { throwIfNoEntry: false }), {
      what: 'a new reserve',
    });
    await exchange('after');
    await sink.shutdown();

    const counter = { countTokens: () => 1, costOf: () => 1 };
    const shipper = new Shipper({
      pool,
      spool,
      logger,
      counter,
      batchQueue: { enqueue: async () => undefined },
    });
    while (await shipper.round());
    const { rows } = await pool.query(
      `SELECT span_name, ending, count(*)::int AS records, count(b.body)::int AS with_body FROM request_logs
       LEFT JOIN request_bodies b ON b.request_id = id AND direction = 'request' WHERE id = ANY($1) GROUP BY 1, 2 ORDER BY 1`,
      [ids],
    );
    expect(rows).toEqual([
      { span_name: 'after', ending: 'completed', records: 1, with_body: 1 },
      { span_name: 'before', ending: 'completed', records: 20, with_body: 20 },
      { span_name: 'full', ending: 'completed', records: 800, with_body: 0 },
    ]);
    expect(readdirSync(spool)).toEqual([]);
  }, 60_000);

  function fill(path: string): void {
    try {
      writeFileSync(path, Buffer.alloc(64 * 1024 * 1024));
    } catch (error) {
      expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
    }
  }
});
