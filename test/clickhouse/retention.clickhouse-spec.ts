import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { uuidV7 } from '../../src/common/ids/uuid-v7.js';
import { clickHouseDays, cutClickHouseDay } from '../../src/jobs/retention/cut-clickhouse-day.js';
import { underTimes } from '../../src/jobs/retention/under-times.js';
import { AdminApp } from '../support/admin-app.js';
import { chdb, chdbClient } from '../support/chdb.js';
import { storeBatch } from '../support/stored-batches.js';
import { aggregatorOn, runOnClickHouse } from '../support/usage-store.js';

const DAY_MS = 86_400_000;
runOnClickHouse(chdb);
const clickhouse = chdb();
const engine = chdbClient();
let app: AdminApp;
let one: string;
let two: string;

beforeAll(async () => {
  app = await AdminApp.start({ GATEHOUSE_LOG_RETENTION_DAYS: '60' });
  one = app.first.workspace_id;
  two = await app.anotherWorkspace('ws-two');
});
afterAll(async () => {
  await app.close();
  await engine.close();
});
beforeEach(async () => {
  await app.dataSource.query('DELETE FROM legal_holds; UPDATE workspaces SET log_retention_days = NULL;');
  await engine.command({ query: 'TRUNCATE TABLE IF EXISTS request_logs' });
});

/** A request of each workspace that came so long ago, in ClickHouse. PostgreSQL has no partition of that day. */
async function requestsOf(daysAgo: number): Promise<void> {
  const created_at = new Date(Date.now() - daysAgo * DAY_MS);
  const batch = await storeBatch(
    app.dataSource,
    [one, two].map((workspace_id) => ({
      id: uuidV7(created_at.getTime()),
      organisation_id: app.first.organisation_id,
      workspace_id,
      created_at,
    })),
  );
  await aggregatorOn(app.dataSource, clickhouse).aggregate(batch);
}

async function cut(): Promise<(string | undefined)[]> {
  const under = underTimes(app.dataSource, app.settings.retentionDays);
  const did: (string | undefined)[] = [];
  for (const day of await clickHouseDays(clickhouse, 'logs', Date.now()))
    did.push((await cutClickHouseDay(clickhouse, under, { part: 'logs', day }))?.did);
  await expect
    .poll(
      async () =>
        (await clickhouse.read('SELECT 1 AS one FROM system.mutations WHERE NOT is_done', {})).length,
    )
    .toBe(0);
  return did;
}

/** Whose rows ClickHouse has. */
async function left(): Promise<string[]> {
  const rows = await clickhouse.read<{ workspace_id: string }>(
    'SELECT DISTINCT workspace_id FROM request_logs',
    {},
  );
  return rows.map(({ workspace_id }) => (workspace_id === one ? 'one' : 'two')).sort();
}

const hold = (body: object) => app.call('POST', '/v1/admin/legal-holds', { body });

describe('a day in ClickHouse', () => {
  it('is dropped when no workspace keeps it any more, and not before', async () => {
    await requestsOf(61);
    await requestsOf(59);
    expect(await cut()).toEqual(['dropped', undefined]);
    expect(await left()).toEqual(['one', 'two']);
    expect(await clickHouseDays(clickhouse, 'logs', Date.now())).toHaveLength(1);
  });

  it('keeps the rows of a held workspace when those of others go, and loses them after the release', async () => {
    await requestsOf(70);
    const held = await hold({ reason: 'Case 1', workspace_id: two });
    expect(held.status, held.text).toBe(200);
    expect(await cut()).toEqual(['deleted from']);
    expect(await left()).toEqual(['two']);
    expect(await cut()).toEqual([undefined]);

    await app.call('POST', `/v1/admin/legal-holds/${held.body.id}/release`, { body: { reason: 'Closed' } });
    expect(await cut()).toEqual(['dropped']);
    expect(await left()).toEqual([]);
  });

  it('is left whole under a hold on the organization', async () => {
    await requestsOf(90);
    expect((await hold({ reason: 'Case 2' })).status).toBe(200);
    expect(await cut()).toEqual([undefined]);
    expect(await left()).toEqual(['one', 'two']);
  });

  it('waits a week with rewriting for one workspace, and keeps what another keeps for longer', async () => {
    await app.call('PUT', `/v1/admin/workspaces/${two}`, { body: { log_retention_days: 200 } });
    await requestsOf(63);
    await requestsOf(80);
    expect(await cut()).toEqual(['deleted from', undefined]);
    const rows = await clickhouse.read('SELECT count() AS rows FROM request_logs', {});
    expect(rows).toEqual([{ rows: 3 }]);
  });

  it('is not removed before PostgreSQL has removed it, which would copy it again', async () => {
    const day = new Date(Date.now() - 75 * DAY_MS).toISOString().slice(0, 10);
    const partition = `request_logs_${day.replaceAll('-', '')}`;
    await requestsOf(75);
    await app.dataSource.query(`CREATE TABLE ${partition} (LIKE request_logs)`);
    expect(await cut()).toEqual([undefined]);
    await app.dataSource.query(`DROP TABLE ${partition}`);
    expect(await cut()).toEqual(['dropped']);
  });

  it('takes nothing from what was counted', async () => {
    await engine.command({ query: 'TRUNCATE TABLE usage_day' });
    await requestsOf(61);
    await cut();
    expect(await clickhouse.read('SELECT toInt32(sum(requests)) AS requests FROM usage_day', {})).toEqual([
      { requests: 2 },
    ]);
  });
});
