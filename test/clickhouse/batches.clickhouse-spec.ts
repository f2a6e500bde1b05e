import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { bucketOf } from '../../src/request-log/rollups/histogram.js';
import { ClickHouse } from '../../src/request-log/analytics/clickhouse/clickhouse.js';
import { ClickHouseBatchAggregator } from '../../src/request-log/analytics/clickhouse/clickhouse-batch-aggregator.js';
import { copyMissingBatches } from '../../src/request-log/analytics/clickhouse/copy-batches.js';
import { Ddl } from '../../src/request-log/analytics/clickhouse/ddl.js';
import { ROLLUP_TABLES } from '../../src/request-log/analytics/clickhouse/rollup-tables.js';
import { rowsOfBatch } from '../../src/request-log/analytics/clickhouse/request-row.js';
import { prepareSchema, TABLES, VIEWS } from '../../src/request-log/analytics/clickhouse/schema.js';
import { chdb, chdbClient } from '../support/chdb.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { storeBatch, type StoredRequest } from '../support/stored-batches.js';

const DAY = 86_400_000;
const KEPT = { logs: 90, bodies: 30, minutes: 90 };
const ROLLUPS = ROLLUP_TABLES.map(({ name }) => name);

const clickhouse = chdb();
const engine = chdbClient();
let database: TestDatabase;
let aggregator: ClickHouseBatchAggregator;

beforeAll(async () => {
  database = await freshDatabase();
  aggregator = new ClickHouseBatchAggregator(database.dataSource, clickhouse);
});
afterAll(async () => {
  await database.drop();
  await engine.close();
});
afterEach(async () => {
  for (const { name } of TABLES) await engine.command({ query: `TRUNCATE TABLE IF EXISTS ${name}` });
  await database.dataSource.query('TRUNCATE request_logs, log_batches');
});

const requests = (count: number, more: StoredRequest = {}): StoredRequest[] =>
  Array.from({ length: count }, (_, at) => ({
    created_at: new Date(Date.now() - (at % 3) * 60_000),
    model: at % 7 === 0 ? null : `model-${at % 3}`,
    status: [200, 200, 429, 500][at % 4] ?? 200,
    cost_nano_usd: at % 4 === 0 ? null : at * 1_000_003,
    duration_ms: at * 13,
    metadata: at % 5 === 0 ? null : { _user: `user-${at % 9}` },
    ...more,
  }));

/** Requests and money by table: of the cube, and of the slice of all. */
async function counted(): Promise<unknown[]> {
  const sums = ROLLUPS.map(async (table) => {
    const all = table.includes('slice') ? "WHERE dimension = 'all'" : '';
    const [row] = await clickhouse.read<{ requests: number; cost: number }>(
      `SELECT sum(requests) AS requests, sum(cost_nano_usd) AS cost FROM ${table} ${all}`,
      {},
    );
    return [Number(row?.requests), Number(row?.cost)];
  });
  const distinct = new Set((await Promise.all(sums)).map((each) => JSON.stringify(each)));
  return [...distinct].map((each) => JSON.parse(each) as unknown);
}

const costOf = (of: readonly StoredRequest[]): number =>
  of.reduce((sum, { cost_nano_usd }) => sum + (cost_nano_usd ?? 0), 0);

describe('a batch in ClickHouse', () => {
  it('is counted once in every rollup, though it is delivered five times at once, and again later', async () => {
    const given = requests(200);
    const batch = await storeBatch(database.dataSource, given);

    const outcomes = await Promise.all(Array.from({ length: 5 }, () => aggregator.aggregate(batch)));
    outcomes.push(await aggregator.aggregate(batch));

    expect(outcomes.sort()).toEqual(['aggregated', ...Array<string>(5).fill('already_aggregated')]);
    expect(await counted()).toEqual([[200, costOf(given)]]);
  });

  it('is counted once when its process died between the insert and the mark', async () => {
    const given = requests(50);
    const id = await storeBatch(database.dataSource, given);
    const [batch] = await database.dataSource.query('SELECT * FROM log_batches');
    const rows = await rowsOfBatch(database.dataSource, batch);
    await clickhouse.insert('request_logs', rows, id);

    expect(await aggregator.aggregate(id)).toBe('aggregated');
    expect(await counted()).toEqual([[50, costOf(given)]]);
    expect(await clickhouse.read('SELECT count() AS rows FROM request_logs', {})).toEqual([{ rows: 50 }]);
  });

  it('waits for the next try while ClickHouse is unavailable', async () => {
    const batch = await storeBatch(database.dataSource, requests(10));
    const nowhere = createClient({ url: 'http://127.0.0.1:1', log: { level: ClickHouseLogLevel.OFF } });
    const away = new ClickHouse(nowhere, { cluster: undefined, retentionDays: KEPT });

    await expect(
      new ClickHouseBatchAggregator(database.dataSource, away).aggregate(batch),
    ).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(await aggregator.aggregate(batch)).toBe('aggregated');
    await away.onApplicationShutdown();
  });

  it('may hold requests of any days', async () => {
    const given = requests(150).map((request, at) => ({
      ...request,
      created_at: new Date(Date.now() - at * DAY),
    }));
    expect(await aggregator.aggregate(await storeBatch(database.dataSource, given))).toBe('aggregated');
    const [row] = await clickhouse.read<{ requests: number }>(
      'SELECT sum(requests) AS requests FROM usage_day',
      {},
    );
    expect(Number(row?.requests)).toBe(150);
  });

  it('keeps texts as they are, whatever they look like', async () => {
    const texts = [
      `x'); DROP TABLE request_logs; --`,
      'back\\slash "and" quotes',
      'zwölf 🦆\n\t',
      '{p0:String}',
    ];
    const given = texts.map((text) => ({ model: text, metadata: { [text]: text, _user: text } }));
    await aggregator.aggregate(await storeBatch(database.dataSource, given));

    const rows = await clickhouse.read<{ model: string; metadata: Record<string, string> }>(
      'SELECT model, metadata FROM request_logs WHERE model IN {texts:Array(String)}',
      { texts },
    );
    expect(new Map(rows.map(({ model, metadata }) => [model, metadata]))).toEqual(
      new Map(texts.map((text) => [text, { [text]: text, _user: text }])),
    );
  });

  it('counts latencies in the buckets of the histogram', async () => {
    const durations = [0, 1, 63, 64, 65, 127, 1_000, 59_999, 3_600_000, 2_147_483_647];
    await aggregator.aggregate(
      await storeBatch(
        database.dataSource,
        durations.map((duration_ms) => ({ duration_ms })),
      ),
    );
    const [row] = await clickhouse.read<{ histogram: Record<string, number> }>(
      'SELECT sumMap(duration_histogram) AS histogram FROM usage_day',
      {},
    );
    expect(Object.keys(row?.histogram ?? {}).map(Number)).toEqual(
      durations.map((ms) => bucketOf(ms * 1_000)),
    );
  });
});

describe('what ClickHouse lacks', () => {
  it('is copied once, and what is not counted yet is left to its turn', async () => {
    const given = [requests(20), requests(30), requests(40)];
    const [first, , waiting] = [
      await storeBatch(database.dataSource, given[0] ?? []),
      await storeBatch(database.dataSource, given[1] ?? []),
      await storeBatch(database.dataSource, given[2] ?? []),
    ];
    await aggregator.aggregate(first);
    await database.dataSource.query('UPDATE log_batches SET aggregated_at = now() WHERE id <> $1', [waiting]);

    expect(await copyMissingBatches(database.dataSource, clickhouse)).toBe(1);
    expect(await copyMissingBatches(database.dataSource, clickhouse)).toBe(0);
    expect(await counted()).toEqual([[50, costOf(given.slice(0, 2).flat())]]);
  });
});

describe('the tables', () => {
  const ttlOf = async (table: string): Promise<string | null> => {
    const answer = await engine.query({
      query: `SELECT extract(engine_full, 'toIntervalDay\\\\((\\\\d+)\\\\)') AS days FROM system.tables
        WHERE database = currentDatabase() AND name = {table:String}`,
      query_params: { table },
      format: 'JSONEachRow',
    });
    const [row] = await answer.json<{ days: string }>();
    return row?.days || null;
  };

  it('keep minutes for as long as the settings say, also when those change, and requests until retention removes them', async () => {
    for (const [logs, minutes] of [
      [90, 90],
      [7, 0],
      [0, 3],
      [90, 90],
    ] as const) {
      await prepareSchema(engine, { retentionDays: { ...KEPT, logs, minutes } });
      expect([await ttlOf('request_logs'), await ttlOf('usage_minute'), await ttlOf('usage_hour')]).toEqual([
        null,
        minutes === 0 ? null : String(minutes),
        null,
      ]);
    }
  });

  it('are made by several processes at once', async () => {
    await Promise.all(Array.from({ length: 4 }, () => prepareSchema(engine, { retentionDays: KEPT })));
  });

  it('of a cluster are replicated and distributed, in valid ClickHouse SQL', async () => {
    const ddl = new Ddl('main');
    const statements = [
      ...TABLES.flatMap((table) => ddl.create(table)),
      ...VIEWS.map((view) => ddl.view(view)),
      ...TABLES.filter(({ expires }) => expires).map((table) => ddl.expire(table, 7)),
      ddl.createChanges(),
      ...ddl.addColumns('request_logs', [['one_more', 'String']]),
      ddl.addIndex('request_logs', 'one_index', 'one_more TYPE bloom_filter GRANULARITY 1'),
      ddl.materialize('request_logs', ['COLUMN one_more', 'INDEX one_index']),
      ddl.dropDay('request_logs', '20300131'),
      ddl.deleteOfDay('request_logs', '20300131', 'status = 200'),
    ];
    for (const statement of statements) {
      expect(statement).toContain('ON CLUSTER `main`');
      const answer = await engine.query({ query: `EXPLAIN AST ${statement}`, format: 'TabSeparated' });
      expect(await answer.text()).toMatch(/CreateQuery|AlterQuery/);
    }
    expect(statements.filter((each) => each.includes('ENGINE = Replicated'))).toHaveLength(TABLES.length + 1);
    expect(statements.filter((each) => each.includes('ENGINE = Distributed'))).toHaveLength(TABLES.length);
  });
});
