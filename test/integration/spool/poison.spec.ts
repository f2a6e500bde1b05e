import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { SpoolLogSink } from '../../../src/adapters/spool-log-sink.js';
import type { CapturedBodies, RequestLogRecord } from '../../../src/request-log/record.js';
import { PostgresBatchAggregator } from '../../../src/request-log/analytics/postgres/postgres-batch-aggregator.js';
import { Shipper } from '../../../src/jobs/shipping/shipper.js';
import { freshDatabase, type TestDatabase } from '../../support/database.js';
import { aBody, anOpened, aRecord, NO_BODIES } from '../../support/exchanges.js';

/** O09: a row that the tables refuse, or that nobody should have made, in the middle of a batch of 1,000. */
const BATCH = 1_000;
const PLACE = 611;
const MIB = 1024 * 1024;
const NASTY = 'a\0b\ud800c\udc00';

interface Poison {
  readonly record: RequestLogRecord;
  readonly bodies?: CapturedBodies;
  /** The table has no row of it at all. */
  readonly isLost?: boolean;
  /** It is in the dead letters. */
  readonly isDead?: boolean;
}

const absurd = (number: number): RequestLogRecord => {
  const usage = { input_tokens: number, output_tokens: number, cached_input_tokens: number };
  const base = aRecord(anOpened(), { usage, cost_nano_usd: number, duration_ms: number, status: number });
  return {
    ...base,
    first_token_ms: number,
    overhead_us: number,
    request_bytes: number,
    saved_nano_usd: number,
    attempts: base.attempts.map((attempt) => ({
      ...attempt,
      usage,
      cost_nano_usd: number,
      duration_ms: number,
    })),
  };
};

const POISONS: Readonly<Record<string, () => Poison>> = {
  'NUL and lone surrogates everywhere': () => ({
    record: aRecord(
      anOpened({
        trace_id: NASTY,
        span_id: NASTY,
        span_name: NASTY,
        path: NASTY,
        model: NASTY,
        provider: NASTY,
        virtual_key: NASTY,
        metadata: { [NASTY]: NASTY },
      }),
      {
        response_model: NASTY,
        error_code: NASTY,
        decisions: [NASTY],
        dropped_parameters: [NASTY, ''],
        hook_results: { [NASTY]: [NASTY, { deep: NASTY }] },
        request_headers: [NASTY, NASTY],
      },
    ),
    bodies: { request: aBody(NASTY), response: aBody(Buffer.from([0, 255, 0, 128])) },
  }),
  'a body of 20 MiB': () => ({
    record: aRecord(),
    bodies: { request: aBody(Buffer.alloc(20 * MIB, 'x')), response: aBody(Buffer.alloc(20 * MIB)) },
  }),
  'numbers beyond every column': () => ({ record: absurd(1e300) }),
  'numbers below every column': () => ({ record: absurd(-1e300) }),
  'numbers that are none': () => ({ record: absurd(Number.NaN), isLost: true, isDead: true }),
  'a time beyond the calendar': () => ({
    record: aRecord(anOpened({ created_at: 1e17 })),
    isLost: true,
    isDead: true,
  }),
  'an id that is none': () => ({ record: aRecord(anOpened({ id: 'no id' })), isLost: true, isDead: true }),
  'a text that no index takes': () => ({
    record: aRecord(anOpened({ trace_id: Array.from({ length: 200 }, () => randomUUID()).join('') })),
    isDead: true,
  }),
};

const logger = pino({ level: 'silent' });
const counter = { countTokens: (text: string) => text.length, costOf: () => 700 };
let database: TestDatabase;
let pool: pg.Pool;
let spool: string;

beforeAll(async () => {
  database = await freshDatabase();
  pool = new pg.Pool({ connectionString: database.url, max: 2 });
  pool.on('error', () => undefined);
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});
beforeEach(async () => {
  spool = mkdtempSync(join(tmpdir(), 'gatehouse-poison-'));
  await pool.query(
    'TRUNCATE request_logs, request_attempts, request_bodies, log_batches, request_log_dead_letters, usage_minute, usage_slice_minute',
  );
  return () => rmSync(spool, { recursive: true, force: true });
});

async function count(sql: string, ...parameters: unknown[]): Promise<number> {
  return Number((await pool.query<{ count: string }>(sql, parameters)).rows[0]?.count);
}

describe.each(Object.keys(POISONS))('%s in a batch of 1,000', (name) => {
  it('costs nothing but itself: the other 999 are stored once, with their bodies, and counted', async () => {
    const poison = POISONS[name]?.() ?? { record: aRecord() };
    const sink = new SpoolLogSink({ spool, logger, reserveBytes: 65_536 });
    const others = Array.from({ length: BATCH - 1 }, () => aRecord());
    const put = (record: RequestLogRecord, bodies: CapturedBodies): void => {
      sink.open(record);
      sink.close(record, bodies);
    };
    for (const record of others.slice(0, PLACE)) put(record, NO_BODIES);
    put(poison.record, poison.bodies ?? { request: aBody('a body'), response: null });
    for (const record of others.slice(PLACE)) put(record, { request: aBody('a body'), response: null });
    await new Promise<void>((resolve) => sink.whenWritten(resolve));
    await sink.shutdown();

    const announced: string[] = [];
    const batchQueue = { enqueue: async (id: string) => void announced.push(id) };
    const shipper = new Shipper({ pool, spool, logger, counter, batchQueue });
    while (await shipper.round());

    const ids = others.map(({ id }) => id);
    expect(await count('SELECT count(*) FROM request_logs WHERE id = ANY($1)', ids)).toBe(BATCH - 1);
    expect(await count('SELECT count(*) FROM request_logs')).toBe(BATCH - (poison.isLost ? 1 : 0));
    expect(await count('SELECT count(*) FROM request_attempts WHERE id = ANY($1)', ids)).toBe(BATCH - 1);
    expect(
      await count('SELECT count(*) FROM request_bodies WHERE request_id = ANY($1) AND body IS NOT NULL', ids),
    ).toBe(BATCH - 1 - PLACE);
    expect(await count('SELECT count(*) FROM request_log_dead_letters')).toBe(poison.isDead ? 1 : 0);
    expect(readdirSync(spool), 'nothing stays in the spool').toEqual([]);

    const aggregator = new PostgresBatchAggregator(database.dataSource);
    for (const id of announced) expect(await aggregator.aggregate(id)).toBe('aggregated');
    expect(await count(`SELECT sum(requests) AS count FROM usage_slice_minute WHERE dimension = 'all'`)).toBe(
      BATCH - (poison.isLost ? 1 : 0),
    );
  });
});
