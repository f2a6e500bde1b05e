import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { Test } from '@nestjs/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '../../src/common/observability/logger.js';
import { uuidV7 } from '../../src/common/ids/uuid-v7.js';
import { cutClickHouseDay } from '../../src/jobs/retention/cut-clickhouse-day.js';
import { cutDay } from '../../src/jobs/retention/rewrite-day.js';
import { dropCopiedBodies } from '../../src/jobs/retention/drop-copied-bodies.js';
import { dayNamed } from '../../src/jobs/retention/log-days.js';
import { Retention } from '../../src/jobs/retention/retention.js';
import { underTimes } from '../../src/jobs/retention/under-times.js';
import { ClickHouseBodySink } from '../../src/jobs/sinks/clickhouse-body-sink.js';
import { SinksModule } from '../../src/jobs/sinks/sinks.module.js';
import { SinkBook } from '../../src/jobs/sinks/sink-book.js';
import { SinkRunner } from '../../src/jobs/sinks/sink-runner.js';
import { ClickHouseBodies } from '../../src/request-log/bodies/clickhouse-bodies.js';
import { RequestParts } from '../../src/admin/logs/request-parts.js';
import { LogDatabase } from '../../src/request-log/reading/log-database.js';
import { ClickHouse } from '../../src/request-log/analytics/clickhouse/clickhouse.js';
import { CLICKHOUSE } from '../../src/request-log/analytics/clickhouse/clickhouse.module.js';
import { SettingsModule } from '../../src/common/settings/settings.module.js';
import { DatabaseModule } from '../../src/database/database.module.js';
import { createDataSource } from '../../src/schema/data-source.js';
import { UnitOfWork } from '../../src/database/unit-of-work.js';
import { AdminApp } from '../support/admin-app.js';
import { chdb, chdbClient } from '../support/chdb.js';
import { exportWriter } from '../support/log-exports.js';
import { storeBatch, storeMessages } from '../support/stored-batches.js';
import { eventually } from '../support/waiting.js';
import { runOnClickHouse } from '../support/usage-store.js';

const DAY_MS = 86_400_000;
runOnClickHouse(chdb);
const clickhouse = chdb();
const engine = chdbClient();
const nowhere = (): ClickHouse =>
  new ClickHouse(createClient({ url: 'http://127.0.0.1:1', log: { level: ClickHouseLogLevel.OFF } }), {
    cluster: undefined,
    retentionDays: { logs: 90, bodies: 30, minutes: 90 },
  });

let app: AdminApp;
let logs: LogDatabase;
let unit: UnitOfWork;
const running: SinkRunner[] = [];
const yesterday = new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS - DAY_MS / 2);
const day = dayNamed(yesterday.toISOString().slice(0, 10).replaceAll('-', ''));

beforeAll(async () => {
  app = await AdminApp.start({
    GATEHOUSE_BODY_SEARCH: 'on',
    GATEHOUSE_BODY_RETENTION_DAYS: '60',
    CLICKHOUSE_URL: 'http://localhost:8123/default',
    GATEHOUSE_POSTGRES_BODY_DAYS: '0',
  });
  unit = new UnitOfWork(app.dataSource);
  logs = new LogDatabase(app.dataSource, unit);
});
afterEach(async () => {
  for (const runner of running.splice(0)) await runner.stop();
  await app.dataSource.query(
    'TRUNCATE request_logs, request_bodies, log_batches; DELETE FROM log_sinks; DELETE FROM legal_holds; UPDATE workspaces SET body_retention_days = NULL',
  );
  for (const table of ['request_bodies', 'request_logs'])
    await engine.command({ query: `TRUNCATE TABLE IF EXISTS ${table}` });
});
afterAll(async () => {
  await logs.onApplicationShutdown();
  await app.close();
  await engine.close();
});

/** A worker that copies bodies and gathers nothing. The first delivery registers the cursor, which begins with later batches. */
async function copier(to: ClickHouse = clickhouse): Promise<SinkRunner> {
  const sink = Object.assign(new ClickHouseBodySink(app.dataSource, to), {
    gathering: { rows: 2, seconds: 0 },
  });
  const runner = new SinkRunner(sink, new SinkBook(app.dataSource), createLogger('test'));
  running.push(runner);
  await runner.deliver();
  return runner;
}

async function delivered(runner: SinkRunner): Promise<void> {
  let outcome = await runner.deliver();
  while (outcome === 'delivered') outcome = await runner.deliver();
  const [sink] = await app.dataSource.query('SELECT last_error FROM log_sinks');
  expect([outcome, sink]).toEqual(['idle', { last_error: null }]);
}

const ODD = Buffer.from([0, 255, 128, 10, 13, 34, 92, 195, 40]);
const REQUEST = Buffer.from('{"messages":[{"role":"user","content":"zwölf canaries 🦆"}]}');

/** A batch of requests, each with its bodies. Returns the ids. */
async function stored(at: Date, count = 2, workspace_id = app.first.workspace_id): Promise<string[]> {
  const ids = Array.from({ length: count }, () => uuidV7(at.getTime()));
  const { organisation_id } = app.first;
  await storeBatch(
    app.dataSource,
    ids.map((id) => ({ id, created_at: at, organisation_id, workspace_id })),
  );
  for (const id of ids)
    await storeMessages(app.dataSource, id, [
      {
        direction: 'request',
        headers: { odd: 'a "b" \\ c' },
        body: REQUEST,
        content_type: 'application/json',
      },
      { direction: 'response', headers: {}, body: ODD, truncated: true },
    ]);
  await app.dataSource.query("UPDATE request_bodies SET preview = 'preview of ' || direction");
  return ids;
}

const inPostgres = async (): Promise<number> =>
  (await app.dataSource.query('SELECT count(*)::int AS count FROM request_bodies'))[0].count;
const inClickHouse = async (): Promise<number> =>
  (await clickhouse.read<{ count: number }>('SELECT count() AS count FROM request_bodies', {}))[0]?.count ??
  0;
const drop = () => dropCopiedBodies(app.dataSource, clickhouse, day);

/** Everything that readers return of bodies: details, lists with previews, and a search in bodies. */
async function answers(ids: readonly string[], key: string) {
  const details = await Promise.all(ids.map((id) => app.call('GET', `/v1/logs/${id}`, { key })));
  const since = new Date(yesterday.getTime() - DAY_MS).toISOString();
  const list = await app.call('GET', '/v1/logs', { key });
  const search = await app.call('GET', `/v1/logs?search=canaries&time_of_generation_min=${since}`, { key });
  return [...details, list, search].map(({ status, body }) => ({ status, body }));
}

/** The lines of an export of requests with their bodies. */
async function exported(): Promise<string[]> {
  const { key } = await app.workspaceKey(['logs.export', 'logs.view']);
  const requested_data = ['id', 'request', 'response'];
  const draft = await app.call('POST', '/v1/logs/exports', { key, body: { filters: {}, requested_data } });
  expect(draft.status, draft.text).toBe(200);
  await app.call('POST', `/v1/logs/exports/${draft.body.id}/start`, { key, body: {} });
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-bodies-'));
  try {
    expect(await exportWriter(app.dataSource, { folder }).write(draft.body.id)).toBe('success');
    const [file = ''] = await readdir(folder);
    return (await readFile(join(folder, file), 'utf8')).split('\n').filter(Boolean);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

describe('bodies in ClickHouse', () => {
  it('are read there exactly as from PostgreSQL, once PostgreSQL has dropped them', async () => {
    const { key } = await app.workspaceKey(['logs.list', 'logs.view', 'logs.export']);
    const runner = await copier();
    const ids = await stored(yesterday, 5);
    const before = await answers(ids, key);
    expect(JSON.stringify(before)).toContain('preview of request');
    expect(before.at(-1)?.body.data).toHaveLength(5);

    await delivered(runner);
    expect(await drop()).toEqual({ did: 'dropped', bodies: 10, inClickHouse: 10 });

    expect(await inPostgres()).toBe(0);
    expect(await answers(ids, key)).toEqual(before);
  });

  it('are exported exactly as from PostgreSQL', async () => {
    const runner = await copier();
    await stored(yesterday, 3);
    const before = await exported();
    expect(before).toHaveLength(3);
    expect(before[0]).toContain('zwölf canaries');

    await delivered(runner);
    expect((await drop())?.did).toBe('dropped');
    expect(await exported()).toEqual(before);
  });

  it('are copied once by two workers, of which one dies between the copy and its mark', async () => {
    const [one, two] = [await copier(), await copier()];
    for (let batch = 0; batch < 6; batch++) await stored(yesterday);
    const copies = new ClickHouseBodies(clickhouse);
    const book = new SinkBook(app.dataSource);
    await book.number();
    const claimed = await book.claim('clickhouse-bodies');
    const [first] = await app.dataSource.query(
      `SELECT id, min_created_at AS first, max_created_at AS last FROM log_batches ORDER BY seq LIMIT 1`,
    );
    // The process that has the lease copies a batch, and is killed before it advances the cursor.
    await copies.copy(app.dataSource, first);
    expect(claimed).not.toBeNull();
    expect([await one.deliver(), await two.deliver()]).toEqual(['idle', 'idle']);
    await app.dataSource.query("UPDATE log_sinks SET leased_until = now() - interval '1 s'");

    await Promise.all([delivered(one), delivered(two)]);
    await delivered(one);
    expect(await inClickHouse()).toBe(24);
    expect((await drop())?.did).toBe('dropped');
  });

  it('stay in PostgreSQL while ClickHouse is unavailable, and are copied afterwards', async () => {
    const away = nowhere();
    const runner = await copier(away);
    const ids = await stored(yesterday);
    expect(await runner.deliver()).toBe('failed');
    expect(await drop()).toBeNull();
    expect(await inPostgres()).toBe(4);

    await app.dataSource.query('UPDATE log_sinks SET next_try_at = now()');
    await delivered(await copier());
    expect((await drop())?.did).toBe('dropped');

    const parts = new RequestParts(logs, away);
    const owner = {
      id: ids[0] ?? '',
      at: yesterday.toISOString(),
      organisation_id: app.first.organisation_id,
    };
    await unit.runFor({ organizationId: owner.organisation_id, isReading: true }, async () => {
      expect(await parts.previewsOf([owner])).toEqual([]);
      expect((await parts.bodiesOf(owner)).map(({ is_out_of_reach }) => is_out_of_reach)).toEqual([
        true,
        true,
      ]);
      // An export or a search must not take an unread body for a missing one.
      await expect(parts.bodiesOfAll([owner])).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    });
    await away.onApplicationShutdown();
  });

  it('are copied by a background process with the setting', async () => {
    const dataSource = createDataSource(app.url, 4, 'background');
    const module = await Test.createTestingModule({
      imports: [
        SettingsModule.forRoot(app.settings),
        DatabaseModule.forRoot(dataSource),
        ...SinksModule.register(app.settings),
      ],
    })
      .overrideProvider(CLICKHOUSE)
      .useValue(clickhouse)
      .compile();
    module.useLogger(false);
    const worker = await module.init();
    try {
      const sinks = () => app.dataSource.query<unknown[]>('SELECT id FROM log_sinks');
      await eventually(async () => (await sinks()).length > 0, { what: 'the cursor of the copy' });
      expect(await sinks()).toEqual([{ id: 'clickhouse-bodies' }]);
    } finally {
      await worker.close();
    }
  });

  it('are copied again when ClickHouse has lost some that it had confirmed, and only then dropped', async () => {
    const runner = await copier();
    await stored(yesterday, 3);
    await delivered(runner);
    await engine.command({ query: 'TRUNCATE TABLE request_bodies' });

    expect(await drop()).toEqual({ did: 'copied again', bodies: 6, inClickHouse: 0 });
    expect(await drop()).toBeNull();
    await delivered(runner);
    expect(await drop()).toEqual({ did: 'dropped', bodies: 6, inClickHouse: 6 });
  });

  it('are copied again when one is lost and another was copied twice, although their number is right', async () => {
    const worker = await copier();
    const [lost, doubled] = (await stored(yesterday)) as [string, string];
    await delivered(worker);
    await engine.command({ query: `DELETE FROM request_bodies WHERE request_id = '${lost}'` });
    await engine.command({ query: 'SYSTEM STOP MERGES request_bodies' });
    const copies = await clickhouse.read<Record<string, unknown>>(
      'SELECT * FROM request_bodies WHERE request_id = {id:UUID}',
      { id: doubled },
    );
    await clickhouse.insert('request_bodies', copies, uuidV7(Date.now()));
    const present = await inClickHouse();
    await engine.command({ query: 'SYSTEM START MERGES request_bodies' });
    expect(present).toBe(4);

    expect(await drop()).toEqual({ did: 'copied again', bodies: 4, inClickHouse: 2 });
    expect(await inPostgres()).toBe(4);
  });

  it('stay in PostgreSQL with the whole day if some were stored before the copy began', async () => {
    await stored(yesterday);
    const runner = await copier();
    await stored(yesterday);
    await delivered(runner);
    expect(await drop()).toBeNull();
    expect(await inPostgres()).toBe(8);
  });

  it('that arrive after their day was dropped are copied and dropped in their turn', async () => {
    const { key } = await app.workspaceKey(['logs.list', 'logs.view']);
    const runner = await copier();
    const ids = await stored(yesterday);
    await delivered(runner);
    expect((await drop())?.did).toBe('dropped');

    const late = await stored(yesterday, 1);
    expect(await drop()).toBeNull();
    const before = await answers([...ids, ...late], key);
    await delivered(runner);
    expect(await drop()).toMatchObject({ did: 'dropped', bodies: 2, inClickHouse: 6 });
    expect(await answers([...ids, ...late], key)).toEqual(before);
  });

  it('of a day that has ended are dropped by retention, and no others', async () => {
    const runner = await copier();
    await stored(yesterday);
    await stored(new Date(Math.floor(Date.now() / DAY_MS) * DAY_MS));
    await delivered(runner);

    const keeping = new Retention(app.dataSource, { ...app.settings, postgresBodyDays: 1 }, clickhouse);
    await keeping.round();
    expect(await inPostgres()).toBe(8);
    await new Retention(app.dataSource, app.settings, clickhouse).round();
    expect(await inPostgres()).toBe(4);
    expect(await inClickHouse()).toBe(8);
  });

  it('are hidden when they expire, removed after PostgreSQL has removed its own, and kept by a legal hold', async () => {
    const { key } = await app.workspaceKey(['logs.list', 'logs.view']);
    const two = await app.anotherWorkspace('ws-bodies');
    const runner = await copier();
    const long = dayNamed(new Date(Date.now() - 80 * DAY_MS).toISOString().slice(0, 10).replaceAll('-', ''));
    const partition = (table: string) =>
      app.dataSource.query(
        `CREATE TABLE ${table}_${long.name} PARTITION OF ${table} FOR VALUES FROM ('${long.from.toISOString()}') TO ('${long.to.toISOString()}')`,
      );
    for (const table of ['request_logs', 'request_bodies']) await partition(table);
    const [own = ''] = await stored(long.from, 1);
    await stored(long.from, 1, two);
    await delivered(runner);
    expect((await dropCopiedBodies(app.dataSource, clickhouse, long))?.did).toBe('dropped');
    const hold = await app.call('POST', '/v1/admin/legal-holds', {
      body: { reason: 'Case 1', workspace_id: two },
    });
    expect(hold.status, hold.text).toBe(200);

    const shown = await app.call('GET', `/v1/logs/${own}`, { key });
    expect(shown.body.request?.body ?? null).toBeNull();
    const under = underTimes(app.dataSource, app.settings.retentionDays);
    const cut = () => cutClickHouseDay(clickhouse, under, { part: 'bodies', day: long });
    expect(await cut()).toBeNull();
    const cutting = {
      day: long,
      usual: app.settings.retentionDays,
      now: Date.now(),
      isStopping: () => false,
    };
    expect((await cutDay(app.dataSource, { ...cutting, part: 'bodies' }))?.did).toBe('rewritten');
    expect((await cut())?.did).toBe('deleted from');
    await eventually(async () => (await inClickHouse()) === 2, { what: 'the deletion in ClickHouse' });

    await app.call('POST', `/v1/admin/legal-holds/${hold.body.id}/release`, { body: { reason: 'Closed' } });
    expect((await cutDay(app.dataSource, { ...cutting, part: 'bodies' }))?.did).toBe('dropped');
    expect((await cut())?.did).toBe('dropped');
    expect(await inClickHouse()).toBe(0);
    for (const table of ['request_logs', 'request_bodies'])
      await app.dataSource.query(`DROP TABLE IF EXISTS ${table}_${long.name}`);
  });
});
