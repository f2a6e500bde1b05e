import { randomUUID } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { brotliDecompressSync } from 'node:zlib';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { SpoolLogSink } from '../../../src/adapters/spool-log-sink.js';
import type {
  AttemptRecord,
  CapturedBodies,
  Charge,
  OpenedExchange,
  RequestLogRecord,
} from '../../../src/request-log/record.js';
import { ensureLogPartitions } from '../../../src/request-log/store/partitions.js';
import { IntervalJob } from '../../../src/common/loops/interval-job.js';
import { Shipper } from '../../../src/jobs/shipping/shipper.js';
import { shipperMetrics } from '../../../src/jobs/shipping/shipper-metrics.js';
import { freshDatabase, type TestDatabase } from '../../support/database.js';
import { aBody, anOpened, aRecord, NO_BODIES } from '../../support/exchanges.js';

const logger = pino({ level: 'silent' });
const counter = {
  countTokens: (text: string) => text.length,
  costOf: () => 700,
};
let database: TestDatabase;
let pool: pg.Pool;
let spool: string;
let sink: SpoolLogSink;
let announced: string[];

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
  sink = aSink();
  announced = [];
});
// A sink may still be creating its files when a short test is over.
afterEach(() => rmSync(spool, { recursive: true, force: true, maxRetries: 10 }));

const aSink = (segmentBytes?: number) =>
  new SpoolLogSink({ spool, logger, reserveBytes: 65_536, segmentBytes });
const aShipper = () =>
  new Shipper({
    pool,
    spool,
    logger,
    counter,
    batchQueue: { enqueue: async (id) => void announced.push(id) },
  });
const written = () => new Promise<void>((resolve) => sink.whenWritten(resolve));

async function exchange(record: RequestLogRecord, bodies: CapturedBodies = NO_BODIES) {
  sink.open(record);
  sink.close(record, bodies);
  await written();
}

async function drain(shipper = aShipper()) {
  while (await shipper.round());
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- rows of any table, looked at by matchers only
async function rows(sql: string, ...parameters: unknown[]): Promise<any[]> {
  return (await pool.query(sql, parameters)).rows;
}
const logOf = async (id: string) => (await rows('SELECT * FROM request_logs WHERE id = $1', id))[0];

const segments = () =>
  readdirSync(spool).flatMap((writer) =>
    readdirSync(join(spool, writer)).filter((name) => name.endsWith('.seg')),
  );

describe('the shipper', () => {
  it('stores a request with its attempt and both bodies, announces the batch, and keeps the numbers', async () => {
    const record = aRecord(anOpened({ metadata: { env: 'prod' }, streamed: true }), { first_token_ms: 17 });
    const text = JSON.stringify({ messages: 'x'.repeat(2000) });
    await exchange(record, {
      request: aBody(text),
      response: aBody(Buffer.from([0, 255, 0]), { content_encoding: 'gzip' }),
    });

    await drain();

    const row = await logOf(record.id);
    expect(row).toMatchObject({
      trace_id: 'trace-1',
      ending: 'completed',
      status: 200,
      input_tokens: 12,
      output_tokens: 3,
      cached_input_tokens: null,
      cost_nano_usd: '3600',
      first_token_ms: 17,
      attempt_count: 1,
      streamed: true,
      metadata: { env: 'prod' },
      usage_source: 'provider',
    });
    expect(row.created_at.getTime()).toBe(record.created_at);
    expect(await rows('SELECT * FROM request_attempts WHERE id = $1', record.id)).toMatchObject([
      {
        attempt: 0,
        origin: 'https://api.openai.com:443',
        status: 200,
        cost_nano_usd: '3600',
        batch_id: row.batch_id,
      },
    ]);
    const [request, response] = await rows(
      'SELECT * FROM request_bodies WHERE request_id = $1 ORDER BY direction',
      record.id,
    );
    expect(brotliDecompressSync(request.body).toString()).toBe(text);
    expect(request).toMatchObject({
      stored_encoding: 'br',
      original_bytes: String(text.length),
      headers: { 'content-type': 'application/json' },
    });
    expect(response).toMatchObject({
      body: Buffer.from([0, 255, 0]),
      stored_encoding: null,
      content_encoding: 'gzip',
    });
    expect(announced).toEqual([row.batch_id]);
    expect(
      await rows('SELECT rows, aggregated_at, min_created_at FROM log_batches WHERE id = $1', row.batch_id),
    ).toEqual([{ rows: 1, aggregated_at: null, min_created_at: new Date(record.created_at) }]);
  });

  it('stores nothing twice when it is started again over the same spool', async () => {
    const records = Array.from({ length: 30 }, () => aRecord());
    for (const record of records) await exchange(record);
    await drain();
    await drain();
    await exchange(aRecord());
    await drain();

    const [{ count }] = await rows(
      'SELECT count(*)::int FROM request_logs WHERE id = ANY($1)',
      records.map(({ id }) => id),
    );
    expect(count).toBe(30);
    expect(announced).toHaveLength(2);
  });

  it('continues when the queue is unavailable', async () => {
    const record = aRecord();
    await exchange(record);

    await drain(
      new Shipper({
        pool,
        spool,
        logger,
        counter,
        batchQueue: { enqueue: () => Promise.reject(new Error('away')) },
      }),
    );

    expect(await logOf(record.id)).toBeDefined();
  });

  it('stores bodies and texts with NUL and lone surrogates', async () => {
    const nasty = 'a\0b\ud800c\udc00';
    const record = aRecord(anOpened({ metadata: { [`k${nasty}`]: nasty }, span_name: nasty, model: nasty }), {
      request_headers: ['x-nasty', nasty],
    });
    await exchange(record, {
      request: aBody(Buffer.from('{"p":"\\u0000 \\ud800"}\0\xff', 'latin1')),
      response: null,
    });
    await exchange(aRecord());

    await drain();

    expect(await logOf(record.id)).toMatchObject({
      span_name: 'a\ufffdb\ufffdc\ufffd',
      metadata: { 'ka\ufffdb\ufffdc\ufffd': 'a\ufffdb\ufffdc\ufffd' },
    });
    const [body] = await rows(
      `SELECT body, headers FROM request_bodies WHERE request_id = $1 AND direction = 'request'`,
      record.id,
    );
    expect(body.headers).toEqual({ 'x-nasty': 'a\ufffdb\ufffdc\ufffd' });
    expect(body.body.equals(Buffer.from('{"p":"\\u0000 \\ud800"}\0\xff', 'latin1'))).toBe(true);
  });

  it('sets a poison row aside whole, keeps what it can of it, and stores all the others', async () => {
    const records = Array.from({ length: 40 }, (_, n) =>
      aRecord(
        n === 17
          ? anOpened({ trace_id: Array.from({ length: 200 }, () => randomUUID()).join('') })
          : anOpened(),
      ),
    );
    const hopeless = aRecord(anOpened({ id: 'not a uuid' }));
    for (const record of [...records, hopeless])
      await exchange(record, { request: aBody('body'), response: null });

    await drain();

    const stored = await rows(
      'SELECT id, trace_id FROM request_logs WHERE id = ANY($1)',
      records.map(({ id }) => id),
    );
    expect(stored).toHaveLength(40);
    expect(stored.find(({ id }) => id === records[17]?.id).trace_id).toHaveLength(64);
    const letters = await rows('SELECT * FROM request_log_dead_letters ORDER BY sqlstate NULLS LAST');
    expect(letters).toMatchObject([
      {
        request_id: records[17]?.id,
        sqlstate: '54000',
        request_body: Buffer.from('body'),
        organisation_id: records[17]?.organisation_id,
        workspace_id: records[17]?.workspace_id,
      },
      { request_id: 'not a uuid', sqlstate: null },
    ]);
    expect(JSON.parse(letters[0].record.toString()).record.trace_id).toBe(records[17]?.trace_id);
  });

  it('absorbs records that the table has already', async () => {
    const records = Array.from({ length: 10 }, () => aRecord());
    for (const record of records) await exchange(record);
    await drain();
    for (const record of records) await exchange(record);
    const fresh = aRecord();
    await exchange(fresh);
    await exchange(fresh);

    await drain();

    const ids = [...records, fresh].map(({ id }) => id);
    const [{ count }] = await rows('SELECT count(*)::int FROM request_logs WHERE id = ANY($1)', ids);
    expect(count).toBe(11);
    expect(await logOf(fresh.id)).toBeDefined();
  });

  it('counts usage that the provider did not give, and prices the attempt that responded', async () => {
    const silent = {
      usage: null,
      usage_source: 'none' as const,
      cost_nano_usd: null,
      countable: { input: '12345', output: '123' },
    };
    const [first] = aRecord().attempts;
    if (!first) throw new Error('A record has an attempt.');
    const price = { source: 'agreed', model: 'gpt-4o-mini', input: 10, output: 20 } as const;
    const attempts = [
      { ...first, cost_nano_usd: 40 },
      { ...first, attempt: 1, usage: null, cost_nano_usd: null, price },
    ];
    const priced = aRecord(anOpened(), { ...silent, attempts });
    const unpriced = aRecord(anOpened(), {
      ...silent,
      attempts: [{ ...first, usage: null, cost_nano_usd: null }],
    });
    await exchange(priced);
    await exchange(unpriced);

    await drain();

    expect(await logOf(priced.id)).toMatchObject({
      usage_source: 'counted',
      input_tokens: 5,
      output_tokens: 3,
      cost_nano_usd: '740',
    });
    expect(
      await rows(
        'SELECT cost_nano_usd, input_tokens, price FROM request_attempts WHERE id = $1 ORDER BY attempt',
        priced.id,
      ),
    ).toEqual([
      { cost_nano_usd: '40', input_tokens: 12, price: null },
      { cost_nano_usd: '700', input_tokens: 5, price },
    ]);
    expect(await logOf(unpriced.id)).toMatchObject({
      usage_source: 'counted',
      input_tokens: 5,
      cost_nano_usd: null,
    });
  });
});

describe('exchanges that are open', () => {
  it('survive the deletion of their segment and a new shipper, and become one row when they end', async () => {
    sink = aSink(4096);
    const opened = anOpened();
    sink.open(opened);
    for (let n = 0; n < 40; n++) await exchange(aRecord());
    await drain();
    await drain();
    expect(segments()[0]).not.toBe('00000001.seg');
    expect(await logOf(opened.id)).toBeUndefined();

    sink.close(aRecord(opened), NO_BODIES);
    await written();
    await drain();
    await sink.shutdown();
    await drain();

    expect(await rows('SELECT ending FROM request_logs WHERE id = $1', opened.id)).toEqual([
      { ending: 'completed' },
    ]);
  });

  it('are closed as crashed once their writer is gone, also when their segment was deleted long ago', async () => {
    sink = aSink(4096);
    const opened: OpenedExchange[] = [anOpened(), anOpened({ provider: 'groq' })];
    for (const exchange of opened) sink.open(exchange);
    for (let n = 0; n < 40; n++) await exchange(aRecord());
    await drain();
    const late = anOpened();
    sink.open(late);
    await sink.shutdown();

    await drain();

    for (const { id, provider } of [...opened, late]) {
      expect(await logOf(id)).toMatchObject({
        ending: 'gateway_crashed',
        status: 500,
        usage_source: 'none',
        cost_nano_usd: null,
        error_code: 'gateway_crashed',
        attempt_count: 1,
      });
      expect(await rows('SELECT provider, status FROM request_attempts WHERE id = $1', id)).toEqual([
        { provider, status: null },
      ]);
    }
    expect(segments()).toEqual([]);
  });
});

describe('attempts that were sent and have no end on record', () => {
  const reservation = (given: Partial<AttemptRecord> = {}): AttemptRecord => ({
    attempt: 0,
    option_path: 'config.targets[0]',
    provider: 'groq',
    virtual_key_id: null,
    origin: 'https://api.groq.com:443',
    started_at: Date.now(),
    first_byte_ms: null,
    duration_ms: 0,
    status: null,
    error_code: 'gateway_crashed',
    usage: { input_tokens: 60, output_tokens: 40 },
    cost_nano_usd: 900,
    isEstimated: true,
    ...given,
  });
  const budget = async (key: string, measure: 'cost' | 'tokens', leased: number): Promise<Charge> => {
    await pool.query(
      `INSERT INTO limit_counters (key, organization_id, limit_id, measure, amount) VALUES ($1, $2, $2, $3, 100000)`,
      [key, randomUUID(), measure],
    );
    await pool.query(
      `INSERT INTO limit_leases (counter, holder, amount, expires_at) VALUES ($1, $2, 5000, now() + interval '1 hour')`,
      [key, sink.writerId],
    );
    return { counter: key, holder: sink.writerId, measure, leased };
  };
  const spentOf = (key: string) =>
    rows(
      `SELECT c.spent, (SELECT count(*)::int FROM limit_leases l WHERE l.counter = c.key) AS leases
       FROM limit_counters c WHERE c.key = $1`,
      key,
    );

  it('are charged their reservation in every budget that they held, once, and marked', async () => {
    const dollars = await budget(randomUUID(), 'cost', 900);
    const tokens = await budget(randomUUID(), 'tokens', 100);
    const opened = anOpened();
    const began = sink.open(opened);
    sink.update(opened, [reservation({ charges: [dollars, tokens] })], began);
    await sink.shutdown();

    await drain();
    await drain();

    expect(await logOf(opened.id)).toMatchObject({
      ending: 'gateway_crashed',
      usage_source: 'estimated',
      input_tokens: 60,
      output_tokens: 40,
      cost_nano_usd: '900',
    });
    expect(await rows('SELECT estimated, provider FROM request_attempts WHERE id = $1', opened.id)).toEqual([
      { estimated: true, provider: 'groq' },
    ]);
    expect(await spentOf(dollars.counter)).toEqual([{ spent: '900', leases: 1 }]);
    expect(await spentOf(tokens.counter)).toEqual([{ spent: '100', leases: 1 }]);
  });

  it('are those of the last state on record, also when their segments were deleted long ago', async () => {
    sink = aSink(4096);
    const charge = await budget(randomUUID(), 'cost', 900);
    const opened = anOpened();
    const first = reservation({ charges: [charge] });
    const began = sink.open(opened);
    sink.update(opened, [first], began);
    const { isEstimated, ...ended } = first;
    expect(isEstimated).toBe(true);
    const failed = { ...ended, error_code: null, status: 429, usage: null, cost_nano_usd: null };
    const second = reservation({ attempt: 1, charges: [charge] });
    sink.update(opened, [{ ...failed, charges: [{ ...charge, leased: 0 }] }, second], began);
    for (let n = 0; n < 40; n++) await exchange(aRecord());
    await drain();
    await sink.shutdown();

    await drain();

    expect(
      await rows(
        'SELECT attempt, status, cost_nano_usd, estimated FROM request_attempts WHERE id = $1 ORDER BY 1',
        opened.id,
      ),
    ).toEqual([
      { attempt: 0, status: 429, cost_nano_usd: null, estimated: false },
      { attempt: 1, status: null, cost_nano_usd: '900', estimated: true },
    ]);
    expect(await spentOf(charge.counter)).toEqual([{ spent: '900', leases: 1 }]);
  });

  it('are charged once when the shipper is killed between the commit and the cut', async () => {
    const charge = await budget(randomUUID(), 'cost', 900);
    const opened = anOpened();
    const began = sink.open(opened);
    sink.update(opened, [reservation({ charges: [charge] })], began);
    await sink.shutdown();
    const copy = mkdtempSync(join(tmpdir(), 'gatehouse-spool-copy-'));
    cpSync(spool, copy, { recursive: true });
    await drain();
    rmSync(spool, { recursive: true });
    renameSync(copy, spool);

    await drain();

    expect(await spentOf(charge.counter)).toEqual([{ spent: '900', leases: 1 }]);
    expect(segments()).toEqual([]);
  });

  it('are part of no exchange that came to its end', async () => {
    const charge = await budget(randomUUID(), 'cost', 900);
    const record = aRecord();
    const began = sink.open(record);
    sink.update(record, [reservation({ charges: [charge] })], began);
    sink.close(record, NO_BODIES);
    await sink.shutdown();

    await drain();

    expect(await logOf(record.id)).toMatchObject({ ending: 'completed', attempt_count: 1 });
    expect(await spentOf(charge.counter)).toMatchObject([{ spent: '0' }]);
  });
});

describe('segments that are done with', () => {
  it('are written again, and every request of old and new use is stored once', async () => {
    const MIB = 1024 * 1024;
    sink = aSink(8 * MIB);
    const damage = await valueOf(shipperMetrics.damaged);
    const shipper = aShipper();
    const files = new Set<number>();
    const ids: string[] = [];
    for (let n = 0; n < 45; n++) {
      const record = aRecord();
      ids.push(record.id);
      await exchange(record, { request: aBody(Buffer.alloc(MIB, n)), response: null });
      if (n % 3 === 0) await drain(shipper);
      for (const name of segments()) files.add(statSync(join(spool, sink.writerId, name)).ino);
    }
    await sink.shutdown();
    await drain(shipper);

    const [{ count }] = await rows('SELECT count(*)::int FROM request_logs WHERE id = ANY ($1)', ids);
    expect(count).toBe(45);
    // Six segments in three files at most: the one in use, the one before it, and a spare.
    expect(files.size).toBeLessThanOrEqual(3);
    expect(await valueOf(shipperMetrics.damaged)).toBe(damage);
  });
});

describe('two shippers over one spool', () => {
  it('store every record once, because only one of them can move the cursor', async () => {
    const absorbed = await valueOf(shipperMetrics.duplicates);
    const lostRaces = await valueOf(shipperMetrics.conflicts);
    sink = aSink(16_384);
    const shippers = [aShipper(), aShipper()];
    const records: RequestLogRecord[] = [];
    for (let wave = 0; wave < 25; wave++) {
      for (let n = 0; n < 20; n++) {
        const record = aRecord();
        records.push(record);
        sink.open(record);
        if (n !== 7) sink.close(record, NO_BODIES);
      }
      await written();
      await Promise.all(shippers.map((shipper) => shipper.round()));
    }
    await sink.shutdown();
    await Promise.all(shippers.map(drain));
    await drain();

    const stored = await rows(
      'SELECT id, count(*)::int, min(ending) AS ending FROM request_logs WHERE id = ANY($1) GROUP BY id',
      records.map(({ id }) => id),
    );
    expect(stored).toHaveLength(500);
    expect(stored.every(({ count }) => count === 1)).toBe(true);
    expect(stored.filter(({ ending }) => ending === 'gateway_crashed')).toHaveLength(25);
    expect(await valueOf(shipperMetrics.conflicts)).toBeGreaterThan(lostRaces);
    expect(await valueOf(shipperMetrics.duplicates)).toBe(absorbed);
  });
});

async function valueOf(counter: {
  get(): Promise<{ values: readonly { value: number }[] }>;
}): Promise<number> {
  return (await counter.get()).values[0]?.value ?? 0;
}

describe('a shipper that runs', () => {
  it('lets rows gather for a quarter of a second, so that steady traffic is not a transaction for each few', async () => {
    const shipper = aShipper();
    const began = Date.now();
    shipper.start();
    for (let at = 0; at < 150; at++) {
      await exchange(aRecord(anOpened()));
      await sleep(8);
    }
    await shipper.stop(10_000);

    expect(announced.length).toBeLessThanOrEqual(2 + (Date.now() - began) / 250);
  });

  it('does not rest while there is more than a batch takes', async () => {
    for (let at = 0; at < 3_500; at++) {
      const record = aRecord(anOpened());
      sink.open(record);
      sink.close(record, NO_BODIES);
    }
    await written();
    const pause = vi.spyOn(IntervalJob.prototype as unknown as { pause: () => Promise<void> }, 'pause');
    const restsBefore: number[] = [];
    const enqueue = async () => void restsBefore.push(pause.mock.calls.length);
    const shipper = new Shipper({ pool, spool, logger, counter, batchQueue: { enqueue } });
    shipper.start();
    await vi.waitFor(() => expect(restsBefore.length).toBe(4), 30_000);
    await shipper.stop(10_000);
    pause.mockRestore();

    expect(new Set(restsBefore).size).toBe(1);
  });
});

describe('stopping', () => {
  it('ships what is there', async () => {
    const shipper = aShipper();
    shipper.start();
    const record = aRecord();
    await exchange(record);
    await sink.shutdown();

    await shipper.stop(10_000);

    expect(await logOf(record.id)).toBeDefined();
    expect(readdirSync(spool)).toEqual([]);
  });

  /** A database that cannot be reached for this time. */
  const unavailableFor = (ms: number): pg.Pool => {
    const backAt = Date.now() + ms;
    const refuse = async () => {
      throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    };
    return new Proxy(pool, {
      get: (target, name) =>
        Date.now() < backAt && (name === 'query' || name === 'connect')
          ? refuse
          : (Reflect.get(target, name, target) as unknown),
    });
  };
  const shipperOn = (unreliable: pg.Pool) =>
    new Shipper({ pool: unreliable, spool, logger, counter, batchQueue: { enqueue: async () => undefined } });

  it('ships what is there when the database is available again in time', async () => {
    const record = aRecord();
    await exchange(record);
    await sink.shutdown();

    await shipperOn(unavailableFor(1_200)).stop(10_000);

    expect(await logOf(record.id)).toBeDefined();
    expect(readdirSync(spool)).toEqual([]);
  });

  it('ends in time while the database is unavailable, and keeps the spool for the next start', async () => {
    const record = aRecord();
    await exchange(record);
    await sink.shutdown();
    const began = Date.now();

    await shipperOn(unavailableFor(60_000)).stop(1_000);

    expect(Date.now() - began).toBeLessThan(5_000);
    await drain();
    expect(await logOf(record.id)).toBeDefined();
  });
});

describe('partitions', () => {
  const run = async (sql: string) => (await pool.query(sql)).rows as Record<string, unknown>[];

  it('are prepared for the days to come, and a second round changes nothing', async () => {
    const [{ count }] = await rows(
      `SELECT count(*)::int FROM pg_inherits WHERE inhparent = 'request_logs'::regclass`,
    );
    expect(count).toBe(10);

    expect(await ensureLogPartitions(run)).toMatchObject({ created: [], blocked: [] });
  });

  it('can be made by two processes at once while rows are written', async () => {
    const inTen = Date.now() + 10 * 86_400_000;
    const together = await Promise.all(
      [0, 1].map(() => inOwnTransaction((own) => ensureLogPartitions(own, 1, inTen))),
    );

    expect(together.map(({ created }) => created.length).sort((a, b) => a - b)).toEqual([0, 9]);
  });

  it('report a day whose rows already lie in the default partition', async () => {
    const then = Date.now() + 40 * 86_400_000;
    const record = aRecord(anOpened({ created_at: then }));
    await exchange(record);
    await drain();

    const report = await inOwnTransaction((own) => ensureLogPartitions(own, 0, then));

    expect(await logOf(record.id)).toBeDefined();
    expect(report.strays).toContain('request_logs');
    expect(report.blocked.some((name) => name.startsWith('request_logs_'))).toBe(true);
  });

  async function inOwnTransaction<T>(
    work: (run: (sql: string) => Promise<Record<string, unknown>[]>) => Promise<T>,
  ): Promise<T> {
    const client = await pool.connect();
    try {
      await client.query('BEGIN');
      const result = await work(async (sql) => (await client.query(sql)).rows as Record<string, unknown>[]);
      await client.query('COMMIT');
      return result;
    } finally {
      client.release();
    }
  }
});

describe('a folder without an owner', () => {
  it('is left alone while it is young', async () => {
    expect(existsSync(spool)).toBe(true);
    await drain();

    expect(readdirSync(spool)).toHaveLength(1);
  });
});
