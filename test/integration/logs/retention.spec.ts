import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PostgresLogRows } from '../../../src/admin/logs/rows/postgres-log-rows.js';
import { KeptLogs } from '../../../src/request-log/reading/kept-logs.js';
import { verifyMoney } from '../../../src/request-log/charging/verify-money.js';
import { UnitOfWork } from '../../../src/database/unit-of-work.js';
import { uuidV7 } from '../../../src/common/ids/uuid-v7.js';
import type { LogPart } from '../../../src/request-log/retention/kept-times.js';
import { PostgresBatchAggregator } from '../../../src/request-log/analytics/postgres/postgres-batch-aggregator.js';
import { cutDay } from '../../../src/jobs/retention/rewrite-day.js';
import { forgetDeadLetters } from '../../../src/jobs/retention/forget-dead-letters.js';
import { underTimes } from '../../../src/jobs/retention/under-times.js';
import { dayNamed, type LogDay } from '../../../src/jobs/retention/log-days.js';
import { AdminApp, type Json } from '../../support/admin-app.js';
import { exportWriter } from '../../support/log-exports.js';
import { storeAttempts, storeBatch, storeMessages } from '../../support/stored-batches.js';
import { eventually } from '../../support/waiting.js';

const DAY_MS = 86_400_000;
const TABLES = ['request_logs', 'request_attempts', 'request_bodies'];

let app: AdminApp;
let folder: string;
/** Workspaces of one organization; each test says how long they are kept. */
let one: string;
let two: string;
let keyOfTwo: string;

beforeAll(async () => {
  app = await AdminApp.start({ GATEHOUSE_LOG_RETENTION_DAYS: '60', GATEHOUSE_BODY_RETENTION_DAYS: '60' });
  folder = mkdtempSync(join(tmpdir(), 'retention-'));
  one = app.first.workspace_id;
  two = await app.anotherWorkspace('ws-two');
  keyOfTwo = (await app.workspaceKey(['logs.list', 'logs.view', 'logs.export', 'analytics.view'], two)).key;
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await app.close();
});
beforeEach(async () => {
  await app.dataSource.query(
    'UPDATE workspaces SET log_retention_days = NULL, body_retention_days = NULL; UPDATE organizations SET settings = $$ {} $$;',
  );
  await app.dataSource.query(
    'DELETE FROM legal_holds; DELETE FROM log_partition_cuts; DELETE FROM retention_of_removed_workspaces;',
  );
});

const keep = (workspace: string, body: object) =>
  app.call('PUT', `/v1/admin/workspaces/${workspace}`, { body });
const hold = (body: object) => app.call('POST', '/v1/admin/legal-holds', { body });

/** A day with its partitions, and a request of each of both workspaces in it: attempt, body and all. */
async function dayWithRequests(daysAgo: number) {
  const start = Math.floor(Date.now() / DAY_MS) * DAY_MS - daysAgo * DAY_MS;
  const day = dayNamed(new Date(start).toISOString().slice(0, 10).replaceAll('-', ''));
  for (const table of TABLES) {
    await app.dataSource.query(`DROP TABLE IF EXISTS ${table}_${day.name}`);
    await app.dataSource.query(
      `CREATE TABLE ${table}_${day.name} PARTITION OF ${table} FOR VALUES FROM ('${day.from.toISOString()}') TO ('${day.to.toISOString()}')`,
    );
  }
  const requests = [one, two].map((workspace_id) => ({
    id: uuidV7(start + 3_600_000),
    workspace_id,
    organisation_id: app.first.organisation_id,
    created_at: new Date(start + 3_600_000),
    trace_id: `${day.name}-${randomUUID()}`,
    metadata: { of: workspace_id },
  }));
  const batch = await storeBatch(app.dataSource, requests);
  for (const { id } of requests) {
    await storeAttempts(app.dataSource, id, [200]);
    const body = Buffer.from(JSON.stringify({ text: `body of ${id}` }));
    await storeMessages(app.dataSource, id, [
      { direction: 'request', body, content_type: 'application/json' },
    ]);
  }
  await new PostgresBatchAggregator(app.dataSource).aggregate(batch);
  const [ofOne, ofTwo] = requests as [(typeof requests)[0], (typeof requests)[0]];
  return { day, batch, one: ofOne, two: ofTwo };
}

const cut = (part: LogPart, day: LogDay, isStopping = () => false) =>
  cutDay(app.dataSource, {
    part,
    day,
    usual: app.settings.retentionDays,
    now: Date.now(),
    isStopping,
  });

/** Rows of each table that a day has, by request. */
async function left({ day, one: first, two: second }: Awaited<ReturnType<typeof dayWithRequests>>) {
  const counts: Record<string, Json> = {};
  for (const [table, id] of [
    ['request_logs', 'id'],
    ['request_attempts', 'id'],
    ['request_bodies', 'request_id'],
  ] as const) {
    const rows: Json[] = await app.dataSource.query(
      `SELECT ${id} AS id FROM ${table} WHERE created_at >= $1 AND created_at < $2`,
      [day.from, day.to],
    );
    counts[table] = [first, second].map((request) => rows.some((row) => row.id === request.id));
  }
  return counts;
}
const ALL = { request_logs: [true, true], request_attempts: [true, true], request_bodies: [true, true] };

const traces = async (key: string | undefined, query = ''): Promise<string[]> => {
  const { body } = await app.call('GET', `/v1/logs?page_size=100&${query}`, {
    key: key ?? app.first.admin_api_key,
  });
  return body.data.map((row: Json) => row.trace_id);
};

describe('rows that have expired by the time of their workspace', () => {
  it('is unreadable in every way, and other rows of the same day are not', async () => {
    const { batch, one: kept, two: over } = await dayWithRequests(20);
    expect(await traces(undefined)).toEqual(expect.arrayContaining([kept.trace_id, over.trace_id]));
    expect((await keep(two, { log_retention_days: 10 })).status).toBe(200);

    for (const key of [undefined, keyOfTwo]) {
      expect(await traces(key)).not.toContain(over.trace_id);
      const call = (path: string) => app.call('GET', path, { key: key ?? app.first.admin_api_key });
      expect((await call(`/v1/logs/${over.id}`)).status).toBe(404);
      expect((await call(`/v1/logs/traces/${over.trace_id}`)).status).toBe(404);
      expect((await call(`/v1/logs?trace_id=${over.trace_id}&include_total=true`)).body.total).toBe(0);
      const range = `time_of_generation_min=${over.created_at.toISOString()}&time_of_generation_max=${new Date().toISOString()}`;
      const graph = await call(`/v1/analytics/graphs/requests?${range}&trace_id=${over.trace_id}`);
      expect(graph.body.summary.total).toBe(0);
      // The sums say nothing of single requests, and stay.
      expect((await call(`/v1/analytics/graphs/requests?${range}`)).body.summary.total).toBeGreaterThan(0);
    }
    expect(await traces(undefined)).toContain(kept.trace_id);

    const unitOfWork = app.app.get(UnitOfWork);
    const reach = { organizationId: app.first.organisation_id };
    const streamed = await unitOfWork.runFor({ ...reach, isReading: true }, async () =>
      app.app
        .get(PostgresLogRows)
        .ofBatch(
          reach,
          await app.app.get(KeptLogs).conditions(reach),
          { id: batch, first: new Date(0), last: new Date() },
          10,
        ),
    );
    expect(streamed[0].map(({ trace_id }) => trace_id)).toEqual([kept.trace_id]);
  });

  it('is not exported', async () => {
    const { two: over } = await dayWithRequests(21);
    const { two: kept } = await dayWithRequests(5);
    await keep(two, { log_retention_days: 10 });
    const body = { filters: {}, requested_data: ['id', 'request'] };
    const { body: made } = await app.call('POST', '/v1/logs/exports', { key: keyOfTwo, body });
    await app.call('POST', `/v1/logs/exports/${made.id}/start`, { key: keyOfTwo });

    expect(await exportWriter(app.dataSource, { folder }).write(made.id)).toBe('success');
    const file = readFileSync(join(folder, `${made.id}.jsonl`), 'utf8');
    expect(file).toContain(kept.id);
    expect(file).not.toContain(over.id);
  });

  it('may be bodies alone: their request is shown without them, and exported without them', async () => {
    const { one: other, two: over } = await dayWithRequests(22);
    await keep(two, { body_retention_days: 10 });
    const shown = async (id: string) => (await app.call('GET', `/v1/logs/${id}`)).body;

    expect((await shown(over.id)).request).toMatchObject({ body: null, headers: {} });
    expect((await shown(other.id)).request.body).toEqual({ text: `body of ${other.id}` });
    const wanted = { filters: { trace_id: over.trace_id }, requested_data: ['id', 'request'] };
    const { body: made } = await app.call('POST', '/v1/logs/exports', { key: keyOfTwo, body: wanted });
    await app.call('POST', `/v1/logs/exports/${made.id}/start`, { key: keyOfTwo });
    await exportWriter(app.dataSource, { folder }).write(made.id);
    const line = JSON.parse(readFileSync(join(folder, `${made.id}.jsonl`), 'utf8'));
    expect(line).toMatchObject({ id: over.id, request: { body: null } });
  });

  it('stays over when the workspace is deleted', async () => {
    const id = await app.anotherWorkspace('ws-gone');
    await keep(id, { log_retention_days: 10, name: 'Gone' });
    const trace_id = randomUUID();
    await storeBatch(app.dataSource, [
      {
        workspace_id: id,
        organisation_id: app.first.organisation_id,
        created_at: new Date(Date.now() - 20 * DAY_MS),
        trace_id,
      },
    ]);
    expect((await app.call('DELETE', `/v1/admin/workspaces/${id}?name=Gone`)).status).toBe(200);

    expect(await traces(undefined, `trace_id=${trace_id}`)).toEqual([]);
  });

  it('follows the organization where the workspace does not say, and workspaces may be kept longer', async () => {
    const { one: over, two: kept } = await dayWithRequests(23);
    await app.call('PUT', '/v1/admin/organisation', { body: { log_retention_days: 10 } });
    await keep(two, { log_retention_days: 40 });

    expect(await traces(undefined)).toContain(kept.trace_id);
    expect(await traces(undefined)).not.toContain(over.trace_id);
  });
});

describe('a day', () => {
  it('is rewritten without what expired a week ago, and the rest is unchanged', async () => {
    const made = await dayWithRequests(25);
    await keep(two, { log_retention_days: 20 });
    expect(await cut('bodies', made.day)).toBeNull();
    await keep(two, { log_retention_days: 10 });
    expect(await cut('logs', made.day), 'requests go after their bodies').toBeNull();
    expect(await left(made)).toEqual(ALL);

    expect(await cut('bodies', made.day)).toMatchObject({
      did: 'rewritten',
      tenants: [{ workspace_id: two }],
    });
    expect(await left(made)).toEqual({ ...ALL, request_bodies: [true, false] });
    expect(await cut('logs', made.day)).toMatchObject({ did: 'rewritten' });

    const half = [true, false];
    expect(await left(made)).toEqual({ request_logs: half, request_attempts: half, request_bodies: half });
    expect((await app.call('GET', `/v1/logs/${made.one.id}`)).body).toMatchObject({
      metadata: { of: one },
      attempts: [{ status: 200 }],
      request: { body: { text: `body of ${made.one.id}` } },
    });
    expect([await cut('bodies', made.day), await cut('logs', made.day)]).toEqual([null, null]);
    // It is a partition as before: it takes rows, and can be written anew.
    await storeBatch(app.dataSource, [{ ...made.two, id: uuidV7(made.two.created_at.getTime()) }]);
    const [{ before }] = await app.dataSource.query("SELECT before FROM rollup_seals WHERE grain = 'row'");
    expect(before).toEqual(made.day.to);
    const books = await verifyMoney(app.dataSource);
    const rollups = books.find(({ name }) => name.startsWith('Rollups'))?.differences;
    expect(rollups).toContainEqual({
      what: `rollup of ${made.day.from.toISOString().slice(0, 10)}`,
      expected: 1_000n,
      found: 2_000n,
      reason: 'its records were removed by retention',
    });
  });

  it('is rewritten again for what came after it was, a week later', async () => {
    const made = await dayWithRequests(30);
    await keep(two, { log_retention_days: 10 });
    expect(await cut('bodies', made.day)).toMatchObject({ did: 'rewritten' });
    expect(await cut('logs', made.day)).toMatchObject({ did: 'rewritten' });
    const late = { ...made.two, id: uuidV7(made.two.created_at.getTime()) };
    const batch = await storeBatch(app.dataSource, [late]);
    await storeAttempts(app.dataSource, late.id, [200]);
    await storeMessages(app.dataSource, late.id, [{ direction: 'request', body: Buffer.from('late') }]);
    await app.dataSource.query('UPDATE log_batches SET aggregated_at = now() WHERE id = $1', [batch]);
    const weekLater = () =>
      app.dataSource.query("UPDATE log_partition_cuts SET cut_at = cut_at - interval '8 days'");
    const stands = () => left({ ...made, two: late });

    expect([await cut('bodies', made.day), await cut('logs', made.day)]).toEqual([null, null]);
    expect(await stands()).toEqual(ALL);
    await weekLater();
    expect(await cut('logs', made.day), 'requests go after their bodies').toBeNull();
    expect(await cut('bodies', made.day)).toMatchObject({ did: 'rewritten' });
    expect(await stands()).toEqual({ ...ALL, request_bodies: [true, false] });
    expect(await cut('logs', made.day)).toMatchObject({ did: 'rewritten', tenants: [{ workspace_id: two }] });
    const half = [true, false];
    expect(await stands()).toEqual({ request_logs: half, request_attempts: half, request_bodies: half });
    await weekLater();
    expect([await cut('bodies', made.day), await cut('logs', made.day)]).toEqual([null, null]);
  });

  it('is dropped as a whole when no workspace keeps any of it, and not while one request of it is uncounted', async () => {
    const made = await dayWithRequests(26);
    await app.call('PUT', '/v1/admin/organisation', { body: { log_retention_days: 10 } });
    const batch = await storeBatch(app.dataSource, [
      { ...made.two, id: uuidV7(made.two.created_at.getTime()) },
    ]);

    expect(await cut('bodies', made.day)).toMatchObject({ did: 'dropped' });
    expect(await cut('logs', made.day)).toBeNull();
    await app.dataSource.query('UPDATE log_batches SET aggregated_at = now() WHERE aggregated_at IS NULL');
    expect(batch).toBeDefined();
    expect(await cut('logs', made.day)).toMatchObject({
      did: 'dropped',
      partitions: [`request_logs_${made.day.name}`, `request_attempts_${made.day.name}`],
    });
    expect(await cut('logs', made.day)).toBeNull();
  });

  it('is as it was when the process ends in the middle', async () => {
    const made = await dayWithRequests(27);
    await keep(two, { log_retention_days: 10 });

    await expect(cut('bodies', made.day, () => true)).rejects.toThrow('ends');
    expect(await left(made)).toEqual(ALL);
    expect(await cut('bodies', made.day)).toMatchObject({ did: 'rewritten' });
  });
});

describe('a legal hold', () => {
  it('keeps a workspace whole and readable, whatever its retention, until the last one is released', async () => {
    const made = await dayWithRequests(28);
    await app.call('PUT', '/v1/admin/organisation', { body: { log_retention_days: 10 } });
    const first = (await hold({ reason: 'Case 1', workspace_id: two })).body;
    const second = (await hold({ reason: 'Case 2' })).body;

    expect(await cut('bodies', made.day)).toBeNull();
    expect((await app.call('GET', `/v1/logs/${made.two.id}`)).body.request.body).not.toBeNull();
    await app.call('POST', `/v1/admin/legal-holds/${second.id}/release`, { body: { reason: 'Closed' } });
    expect(await traces(undefined)).not.toContain(made.one.trace_id);
    expect(await cut('bodies', made.day)).toMatchObject({ tenants: [{ workspace_id: one }] });
    expect((await left(made))['request_bodies']).toEqual([false, true]);
    await app.call('POST', `/v1/admin/legal-holds/${first.id}/release`, { body: { reason: 'Closed' } });
    expect(await traces(undefined)).not.toContain(made.two.trace_id);
    expect(await cut('bodies', made.day)).toMatchObject({ did: 'dropped' });
  });

  it('says who, why and when, in the audit trail too, and what is released stays on record', async () => {
    const { body: placed } = await hold({ reason: 'Case 3', workspace_id: 'ws-two' });
    expect(placed).toMatchObject({ status: 'active', workspace_id: two, reason: 'Case 3' });
    expect(placed.placed_by.api_key_id).toEqual(expect.any(String));
    const path = `/v1/admin/legal-holds/${placed.id}`;
    const released = await app.call('POST', `${path}/release`, { body: { reason: 'Closed' } });
    expect(released.body).toMatchObject({ status: 'released', release_reason: 'Closed' });
    expect((await app.call('POST', `${path}/release`, { body: { reason: 'Again' } })).status).toBe(409);
    expect((await app.call('GET', path)).body).toEqual(released.body);
    expect((await app.call('GET', '/v1/admin/legal-holds?status=active')).body.total).toBe(0);
    expect((await app.call('GET', '/v1/admin/legal-holds')).body.data).toEqual([released.body]);

    const records = (await app.audited()).filter(({ target_id }) => target_id === placed.id);
    expect(records.map(({ outcome }) => outcome)).toEqual(['success', 'success', 'refused']);
    expect(JSON.stringify(records[1])).toContain('Closed');
  });

  it('that is placed while a day is cut comes first or finds nothing gone', async () => {
    const made = await dayWithRequests(29);
    await app.call('PUT', '/v1/admin/organisation', { body: { log_retention_days: 10 } });
    const runner = app.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query(
      'INSERT INTO legal_holds (id, organization_id, reason) VALUES (gen_random_uuid(), $1, $2)',
      [app.first.organisation_id, 'Case 4'],
    );

    const cutting = cut('bodies', made.day).catch((error: unknown) => error);
    await eventually(
      async () =>
        (
          await app.dataSource.query(
            "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
          )
        ).length > 0,
      { what: 'the cut to wait for the hold' },
    );
    await runner.commitTransaction();
    await runner.release();

    expect(String(await cutting)).toContain('kept again');
    expect(await left(made)).toEqual(ALL);
  });

  it('keeps its workspace from being deleted', async () => {
    const id = await app.anotherWorkspace('ws-held');
    await hold({ reason: 'Case 5', workspace_id: id });

    const refused = await app.call('DELETE', `/v1/admin/workspaces/${id}?name=ws-held`);
    expect(refused.status).toBe(409);
    expect(refused.body.error.message).toContain('legal hold');
  });
});

describe('records that the tables refused', () => {
  const letters = async (): Promise<string[]> => {
    const rows: Json[] = await app.dataSource.query(
      'SELECT reason FROM request_log_dead_letters ORDER BY reason',
    );
    return rows.map(({ reason }) => reason as string);
  };
  /** `owner`: organization and workspace, as far as the record said it. */
  const letter = (reason: string, daysAgo: number, ...owner: (string | null)[]) =>
    app.dataSource.query(
      `INSERT INTO request_log_dead_letters (id, created_at, writer_id, reason, record, request_body, organisation_id, workspace_id)
       VALUES ($1, now() - make_interval(days => $2), $1, $3, '\\x00', '\\x00', $4, $5)`,
      [randomUUID(), daysAgo, reason, owner[0] ?? null, owner[1] ?? null],
    );
  const forget = () => forgetDeadLetters(underTimes(app.dataSource, app.settings.retentionDays));

  it('are removed when bodies of their workspace would be, and never by the time of the installation', async () => {
    const organization = app.first.organisation_id;
    await keep(one, { body_retention_days: 3 });
    await letter('one, young', 2, organization, one);
    await letter('one, old', 5, organization, one);
    await letter('two, not old there', 5, organization, two);
    await letter('two, old', 62, organization, two);
    await letter('organization, old', 62, organization);
    await letter('nobody, young', 59);
    await letter('nobody, old', 62);

    expect(await Promise.all([forget(), forget()])).toContain(4);
    expect(await letters()).toEqual(['nobody, young', 'one, young', 'two, not old there']);
    await app.dataSource.query('DELETE FROM request_log_dead_letters');
  });

  it('stay under a legal hold on their workspace, and under no other', async () => {
    const organization = app.first.organisation_id;
    await letter('one', 100, organization, one);
    await letter('two', 100, organization, two);
    await letter('nobody', 100);
    const held = await hold({ reason: 'Case', workspace_id: two });

    expect(await forget()).toBe(1);
    expect(await letters()).toEqual(['nobody', 'two']);

    await app.call('POST', `/v1/admin/legal-holds/${held.body.id}/release`, { body: { reason: 'Closed' } });
    expect(await forget()).toBe(2);
    expect(await letters()).toEqual([]);
  });
});
