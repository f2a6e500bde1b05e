import { readFileSync } from 'node:fs';
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { logQueryOf } from '../../src/admin/logs/rows/log-query.js';
import { ListLogsQuery } from '../../src/admin/logs/log-query.dto.js';
import { readQuery } from '../../src/admin/http/read-query.js';
import { logRowsOf } from '../../src/admin/logs/rows/log-rows.module.js';
import type { LogRows } from '../../src/admin/logs/rows/log-rows.js';
import { PostgresLogRows } from '../../src/admin/logs/rows/postgres-log-rows.js';
import { isWaiting } from '../../src/admin/logs/rows/waiting-batches.js';
import { LogDatabase } from '../../src/request-log/reading/log-database.js';
import { LogScope } from '../../src/request-log/reading/log-scope.js';
import { UnitOfWork } from '../../src/database/unit-of-work.js';
import { uuidV7 } from '../../src/common/ids/uuid-v7.js';
import { ClickHouse } from '../../src/request-log/analytics/clickhouse/clickhouse.js';
import { ClickHouseBatchAggregator } from '../../src/request-log/analytics/clickhouse/clickhouse-batch-aggregator.js';
import { makeChanges, type TableChange } from '../../src/request-log/analytics/clickhouse/changes.js';
import { Ddl } from '../../src/request-log/analytics/clickhouse/ddl.js';
import { prepareSchema, TABLES } from '../../src/request-log/analytics/clickhouse/schema.js';
import { chdb, chdbClient } from '../support/chdb.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { aRecord, storeRecords } from '../support/recorded-requests.js';
import { storeBatch } from '../support/stored-batches.js';
import { eventually } from '../support/waiting.js';

const KEPT = { logs: 90, bodies: 30, minutes: 90 };
const DAY = 86_400_000;
const [organizationId, workspaceId] = [uuidV7(1), uuidV7(2)];
const REACH = { organizationId };
const SIGHT = { organizationId, own: [] };
const OF_ALL = { conditions: [], after: null, size: 100, includesTotal: false };

const clickhouse = chdb();
const engine = chdbClient();
let database: TestDatabase;
let aggregator: ClickHouseBatchAggregator;
let logs: LogDatabase;
let postgres: PostgresLogRows;
let both: LogRows;

beforeAll(async () => {
  database = await freshDatabase();
  const { dataSource } = database;
  aggregator = new ClickHouseBatchAggregator(dataSource, clickhouse);
  logs = new LogDatabase(dataSource, new UnitOfWork(dataSource));
  postgres = new PostgresLogRows(logs, new LogScope(logs));
  both = logRowsOf(clickhouse, { postgres, database: logs, batches: dataSource });
});
afterAll(async () => {
  await logs.onApplicationShutdown();
  await database.drop();
  await engine.close();
});

const read = async <Row>(query: string): Promise<Row[]> =>
  (await engine.query({ query, format: 'JSONEachRow' })).json<Row>();

class Killed extends Error {}

/** Runs the work until so many tables were changed, or changes noted down. False when there was nothing left to do. */
async function isKilledAfter(
  statements: number,
  work: (client: typeof engine) => Promise<void>,
): Promise<boolean> {
  let left = statements;
  const survive = (isChange: boolean): void => {
    if (isChange && left-- === 0) throw new Killed();
  };
  const mortal = {
    query: (it: Parameters<typeof engine.query>[0]) => engine.query(it),
    command: (it: Parameters<typeof engine.command>[0]) => {
      survive(it.query.startsWith('ALTER'));
      return engine.command(it);
    },
    insert: (it: Parameters<typeof engine.insert>[0]) => {
      survive(true);
      return engine.insert(it);
    },
  } as unknown as typeof engine;
  try {
    await work(mortal);
    return false;
  } catch (error) {
    if (!(error instanceof Killed)) throw error;
    return true;
  }
}

/** As two processes that are killed at every statement, and then several at once. */
async function survive(work: (client: typeof engine) => Promise<void>): Promise<void> {
  for (let survived = 0; await isKilledAfter(survived, work); survived++);
  await Promise.all(Array.from({ length: 4 }, () => work(engine)));
}

describe('tables of release 0.1.0', () => {
  const id = uuidV7(Date.now());

  beforeAll(async () => {
    const released = readFileSync(new URL('./schema-0.1.0.sql', import.meta.url), 'utf8');
    for (const query of released.split(';\n').filter((each) => each.trim() !== ''))
      await engine.command({ query });
    // As a table of a release that lacked the column.
    await engine.command({ query: 'ALTER TABLE request_logs DROP COLUMN dropped_parameters' });
    const created_at = new Date('2026-11-20T10:00:00.123Z');
    const tenant = { organisation_id: organizationId, workspace_id: workspaceId };
    const batch_id = await storeBatch(database.dataSource, [
      { id, ...tenant, created_at, trace_id: 'narrow', metadata: { _user: 'grace' } },
    ]);
    // A row that only counts: its other columns come from PostgreSQL.
    const counted = { id, batch_id, ...tenant, created_at: '2026-11-20 10:00:00.123000', status: 200 };
    await engine.insert({
      table: 'request_logs',
      format: 'JSONEachRow',
      values: [{ ...counted, trace_id: 'narrow', cost_nano_usd: 5, metadata: { _user: 'grace' } }],
    });
    await database.dataSource.query('UPDATE log_batches SET aggregated_at = now()');
    await survive((client) => prepareSchema(client, { retentionDays: KEPT }));
  });

  it('have the columns and indexes of this release after its first use, by processes that are killed at each statement and several at once', async () => {
    for (const { name, columns, derived = [], indexes } of TABLES) {
      const found = await read<{ name: string; type: string }>(
        `SELECT name, trim(concat(type, ' ', compression_codec)) AS type FROM system.columns WHERE database = currentDatabase() AND table = '${name}'`,
      );
      expect(new Map(found.map((each) => [each.name, each.type]))).toEqual(
        new Map([...columns, ...derived.map(([column, type]) => [column, type] as const)]),
      );
      const skipping = await read<{ index: string }>(
        `SELECT concat('INDEX ', name, ' ', expr, ' TYPE ', type, ' GRANULARITY ', toString(granularity)) AS index
         FROM system.data_skipping_indices WHERE database = currentDatabase() AND table = '${name}'`,
      );
      expect(skipping.map(({ index }) => index).sort()).toEqual([...indexes].sort());
    }
    const [table] = await read<{ engine_full: string }>(
      "SELECT engine_full FROM system.tables WHERE database = currentDatabase() AND name = 'request_logs'",
    );
    // A TTL would not stop at legal holds.
    expect(table?.engine_full).not.toContain('TTL');
  });

  it('keep their rows, which are shown whole as PostgreSQL has them, are found by end user, and go on counting', async () => {
    const [row] = await both.list(REACH, OF_ALL);
    expect(row).toMatchObject({ id, method: 'POST', path: '/v1/chat/completions', response_bytes: '200' });
    for (const filters of [{ user: 'grace' }, { 'metadata[_user]': 'grace' }]) {
      const query = { ...OF_ALL, conditions: logQueryOf(readQuery(filters, ListLogsQuery)).conditions };
      expect((await both.list(REACH, query)).map((each) => each.id)).toEqual([id]);
    }
    await aggregator.aggregate(
      await storeBatch(database.dataSource, [
        {
          organisation_id: organizationId,
          workspace_id: workspaceId,
          cost_nano_usd: 7,
          model: 'm'.repeat(200),
        },
      ]),
    );
    expect(await read('SELECT toInt32(sum(cost_nano_usd)) AS cost FROM usage_day')).toEqual([{ cost: 12 }]);
    // Views count longer values by their labels from now on.
    const label = '^m{111}…[0-9a-f]{16}$';
    expect(
      await read(`SELECT toInt32(cost_nano_usd) AS cost FROM usage_hour WHERE match(model, '${label}')`),
    ).toEqual([{ cost: 7 }]);
  });

  it('are changed once by each change, which may be repeated, with the rows that exist', async () => {
    const ddl = new Ddl(undefined);
    const change: TableChange = {
      version: 1_000,
      name: 'the first letter of the trace',
      statements: () => [
        ...ddl.addColumns('request_logs', [['letter', 'String MATERIALIZED substring(trace_id, 1, 1)']]),
        ddl.addIndex('request_logs', 'by_letter', 'letter TYPE bloom_filter GRANULARITY 1'),
        ddl.materialize('request_logs', ['COLUMN letter', 'INDEX by_letter']),
      ],
    };
    const make = (client: typeof engine): Promise<void> => makeChanges(client, ddl, [change]);
    await survive(make);
    // Made, and not noted down.
    await engine.command({ query: 'TRUNCATE TABLE gatehouse_changes' });
    await make(engine);
    await eventually(
      async () => (await read('SELECT 1 FROM system.mutations WHERE NOT is_done')).length === 0,
      { what: 'the new column of old rows' },
    );

    expect(await read('SELECT version, name FROM gatehouse_changes')).toEqual([
      { version: change.version, name: change.name },
    ]);
    expect(await read(`SELECT letter FROM request_logs WHERE id = '${id}'`)).toEqual([{ letter: 'n' }]);
    const statements = [
      'ALTER TABLE request_logs DROP INDEX by_letter',
      'ALTER TABLE request_logs DROP COLUMN letter',
      'TRUNCATE TABLE gatehouse_changes',
      'TRUNCATE TABLE request_logs',
    ];
    for (const query of statements) await engine.command({ query });
    await database.dataSource.query('TRUNCATE request_logs, log_batches');
  });
});

describe('stored requests', () => {
  const full = aRecord({
    created_at: Date.now() - 3 * DAY,
    organisation_id: organizationId,
    workspace_id: workspaceId,
    user_id: uuidV7(3),
    config_id: uuidV7(4),
    config_version_id: uuidV7(5),
    option_path: 'config.targets[0]',
    decisions: ['a', 'b "c"'],
    hook_results: { before: [{ verdict: true }] },
    span_id: 's',
    parent_span_id: 'p',
    span_name: 'näme',
    virtual_key: 'vk',
    virtual_key_id: uuidV7(6),
    metadata: { _user: 'ada', text: '🦆\n' },
    error_code: 'e',
    error_source: 'provider',
    first_token_ms: 4,
    response_model: 'm-2',
    streamed: true,
    request_bytes: 9_007_199_254_740_993,
    cost_nano_usd: 9_007_199_254_740_991,
    cache_status: 'HIT',
    cache_score: 0.25,
    dropped_parameters: ['seed', 'logit_bias'],
    service_tier: 'flex',
    saved_nano_usd: 12,
    prompt_slug: 'prompt',
    usage: { input_tokens: 1, output_tokens: 2, cached_input_tokens: 3, reasoning_tokens: 4 },
  });
  const bare = aRecord({
    created_at: full.created_at,
    organisation_id: organizationId,
    workspace_id: null,
    metadata: {},
    usage: null,
    cost_nano_usd: null,
    attempts: [],
  });
  const third = aRecord({
    created_at: full.created_at,
    organisation_id: organizationId,
    workspace_id: workspaceId,
    trace_id: full.trace_id,
  });

  it('are the same rows from both stores, column by column, and in the same order in one instant', async () => {
    const batches = await storeRecords(database.url, [full, bare, third], 3);
    const [of, ofTrace] = [await postgres.list(REACH, OF_ALL), await postgres.trace(SIGHT, full.trace_id, 9)];
    for (const batch of batches) await aggregator.aggregate(batch);
    await database.dataSource.query('TRUNCATE request_logs');

    expect(of).toHaveLength(3);
    expect(await both.list(REACH, OF_ALL)).toEqual(of);
    expect(await both.trace(SIGHT, full.trace_id, 9)).toEqual(ofTrace);
    expect(await both.find(SIGHT, full.id)).toEqual(of.find((row) => row.id === full.id));
    expect(await both.count(REACH, { conditions: [] }, 2)).toBe(2);
    const pages = [];
    for (let after = null; ;) {
      const page = await both.list(REACH, { ...OF_ALL, size: 1, after });
      pages.push(page[0]?.id);
      if (page.length < 2) break;
      after = page[0] as never;
    }
    expect(pages).toEqual(of.map((row) => row.id));
    expect(await both.find({ organizationId: uuidV7(9), own: [] }, full.id)).toBeUndefined();
  });

  it('are each there once, in lists, counts and steps, while their batches are on the way from one store to the other', async () => {
    await engine.command({ query: 'TRUNCATE TABLE request_logs' });
    await database.dataSource.query('TRUNCATE request_logs, log_batches');
    const records = Array.from({ length: 60 }, (_, at) =>
      aRecord({
        created_at: full.created_at + (at % 7),
        organisation_id: organizationId,
        workspace_id: workspaceId,
      }),
    );
    const batches = await storeRecords(database.url, records, 5);
    const ids = (await postgres.list(REACH, OF_ALL)).map((row) => row.id);
    const moving = (async () => {
      for (const batch of batches) await aggregator.aggregate(batch);
    })();
    let isMoving = true;
    void moving.then(() => (isMoving = false));
    for (let looks = 0; isMoving || looks === 0; looks++) {
      expect((await both.list(REACH, OF_ALL)).map((row) => row.id)).toEqual(ids);
      expect(await both.count(REACH, { conditions: [] }, 1_000)).toBe(60);
      expect(await inSteps(7)).toEqual([...ids].reverse());
    }
    await moving;
    expect(await inSteps(7)).toEqual([...ids].reverse());
  });

  it('of an end user are the same from both stores, newest first, page by page, whatever the user is called', async () => {
    const names = ['ada', 'ada ', 'Ada', "o'neill\\", '🦆'.repeat(400), ''];
    const records = Array.from({ length: 40 }, (_, at) =>
      aRecord({
        created_at: full.created_at - (at % 20) * DAY,
        organisation_id: organizationId,
        workspace_id: at % 2 ? workspaceId : null,
        metadata: at % 8 === 7 ? null : { _user: names[at % 6] ?? '', team: at % 4 ? 'red' : 'blue' },
      }),
    );
    const batches = await storeRecords(database.url, records, 5);
    const asked = [
      ...names.filter((name) => name !== '').map((user) => ({ user })),
      ...names.map((_user) => ({ metadata: JSON.stringify({ _user }) })),
      { metadata: JSON.stringify({ _user: 'ada', team: 'red' }) },
      { user: 'ada,Ada', status_code: '200' },
      { user: 'nobody' },
    ].map((filters) => logQueryOf(readQuery({ ...filters, page_size: '3' }, ListLogsQuery)));
    const answers = await Promise.all(asked.map((query) => postgres.list(REACH, query)));
    const ids = (await postgres.list(REACH, OF_ALL)).map((row) => row.id).reverse();
    const halves = [batches.filter((_, at) => at % 2), batches.filter((_, at) => at % 2 === 0)];
    for (const half of halves) {
      for (const batch of half) await aggregator.aggregate(batch);
      for (const [at, query] of asked.entries()) expect(await both.list(REACH, query)).toEqual(answers[at]);
      // Days with few rows, and none at all, lie between the steps.
      for (const size of [1, 7]) expect(await inSteps(size)).toEqual(ids);
    }
    expect(answers.map((rows) => rows.length > 0)).toEqual([...Array<boolean>(12).fill(true), true, false]);
    await engine.command({ query: `DELETE FROM request_logs WHERE batch_id IN ('${batches.join("','")}')` });
    await database.dataSource.query('DELETE FROM request_logs WHERE batch_id = ANY($1)', [batches]);
  });

  it('come from PostgreSQL while ClickHouse is unavailable, and a filter that it refuses does not', async () => {
    const nowhere = createClient({ url: 'http://127.0.0.1:1', log: { level: ClickHouseLogLevel.OFF } });
    const away = new ClickHouse(nowhere, { cluster: undefined, retentionDays: KEPT });
    const stores = { postgres, database: logs, batches: database.dataSource };
    const rows = logRowsOf(away, stores);
    expect(await rows.list(REACH, OF_ALL)).toHaveLength(60);
    expect(await rows.count(REACH, { conditions: [] }, 1_000)).toBe(60);
    await away.onApplicationShutdown();

    const wrong = {
      ...isWaiting({ ids: [], first: new Date(), last: new Date() })[0],
      inClickHouse: { sql: () => 'nonsense(' },
    };
    await expect(
      logRowsOf(clickhouse, stores).list(REACH, { ...OF_ALL, conditions: [wrong as never] }),
    ).rejects.toThrow();
  });

  async function inSteps(size: number): Promise<string[]> {
    const found: string[] = [];
    for (let after = null; ;) {
      const step = await both.step(REACH, {
        columns: ['id'],
        conditions: [],
        after,
        until: new Date(),
        size,
      });
      found.push(...step.rows.map((row) => row.id));
      if (step.isLast) return found;
      after = step.end as never;
    }
  }
});
