import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placeInTime, WRONG_BLOCKS } from '../../../src/admin/audit/audit-blocks.js';
import { AdminApp } from '../../support/admin-app.js';
import { fillChain } from '../../support/audit.js';
import { administer } from '../../support/administer.js';
import { freshDatabase, type TestDatabase } from '../../support/database.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await freshDatabase();
});
afterAll(() => database.drop());

const sql = (text: string, parameters: unknown[] = []) => database.dataSource.query(text, parameters);
const BEGAN = Date.UTC(2030, 0, 1);
const moment = (seconds: number) => new Date(BEGAN + seconds * 1000).toISOString();

/** A chain of records whose times are given in seconds; its first blocks are remembered, those of `forgotten` are not. */
async function aChain(times: readonly number[], forgotten: readonly number[] = []): Promise<string> {
  const id = randomUUID();
  await sql("INSERT INTO organizations (id, name, wrapped_key) VALUES ($1, 'A', '\\x00')", [id]);
  await sql(
    `INSERT INTO audit_records (id, seq, organization_id, actor_kind, actor_name, action, target_type, at, ip, method, path, outcome, status, request_id, hash)
     SELECT gen_random_uuid(), place, $1, 'admin_key', 'A', 'a.b', 'a', at, '127.0.0.1', 'PUT', '/', 'success', 200, 'r', '\\x00'
     FROM unnest($2::timestamptz[]) WITH ORDINALITY AS given (at, place)`,
    [id, times.map(moment)],
  );
  await sql("INSERT INTO audit_heads (organization_id, seq, hash) VALUES ($1, $2, '')", [id, times.length]);
  await sql(
    `INSERT INTO audit_blocks SELECT organization_id, (seq - 1) / 1000, min(at), max(at) FROM audit_records
     WHERE organization_id = $1 GROUP BY 1, 2 HAVING count(*) = 1000 AND NOT (seq - 1) / 1000 = ANY($2::bigint[])`,
    [id, forgotten],
  );
  return id;
}

interface Asked {
  readonly from: number | null;
  readonly to: number | null;
  readonly skip: number;
}

/** What a list of the time shows from `skip` on, and its total: as it is found, and as counting everything finds it. */
async function compare(times: readonly number[], id: string, asked: Asked): Promise<void> {
  const { from, to, skip } = asked;
  const isWithin = (at: number) => (from === null || at >= from) && (to === null || at <= to);
  const matching = times.flatMap((at, index) => (isWithin(at) ? [index + 1] : [])).reverse();
  const time = { start: from === null ? null : moment(from), end: to === null ? null : moment(to) };
  const { total, above, page } = await placeInTime(database.dataSource.manager, id, time, skip);
  const shown = page ? matching.filter((seq) => seq > above && seq <= page.upTo).slice(page.skip) : [];
  expect({ ...asked, total, shown: shown.slice(0, 50) }).toEqual({
    ...asked,
    total: matching.length,
    shown: matching.slice(skip, skip + 50),
  });
  expect(page?.skip ?? 0).toBeLessThan(1_000);
}

describe('the audit records of a time', () => {
  it.each([
    ['in the order of their times', (index: number) => index],
    ['many at one moment', (index: number) => Math.floor(index / 400) * 400],
    ['from machines whose clocks differ by minutes', (index: number) => index - (index % 3) * 90],
    ['with a clock that was set back', (index: number) => (index < 1_500 ? index : index - 1_200)],
    ['with one of the far future', (index: number) => (index === 1_100 ? 100_000 : index)],
  ])('are counted and found exactly: %s', async (_, timeAt) => {
    const times = Array.from({ length: 3_300 }, (_unused, index) => timeAt(index));
    const id = await aChain(times, [1]);
    const bounds = [null, -1, 0, 700, 1_999, 2_000, 3_299, 200_000];
    for (const from of bounds)
      for (const to of bounds)
        for (const skip of [0, 1_250, 3_290]) await compare(times, id, { from, to, skip });
  });

  it('are none where there is no chain', async () => {
    const nothing = await placeInTime(
      database.dataSource.manager,
      randomUUID(),
      { start: null, end: null },
      0,
    );

    expect(nothing).toMatchObject({ total: 0, page: null });
  });
});

describe('a block of the audit log', () => {
  let app: AdminApp;
  beforeAll(async () => {
    app = await AdminApp.start();
    await fillChain(app, app.first.organisation_id, 1_999);
  });
  afterAll(() => app.close());

  const blocks = () => app.dataSource.query('SELECT number::int, oldest, newest FROM audit_blocks');

  it('is remembered with its last record, and no block is changed afterwards', async () => {
    expect(await blocks()).toEqual([]);
    await app.workspaceKey(['logs.view']);
    await app.workspaceKey(['logs.view']);
    const [made] = await app.dataSource.query(
      'SELECT min(at) AS oldest, max(at) AS newest FROM audit_records WHERE seq BETWEEN 1001 AND 2000',
    );

    expect(await blocks()).toEqual([{ number: 1, ...made }]);
    const all = await app.call('GET', '/v1/audit-logs?start_time=2020-01-01&page_size=3&current_page=667');
    expect(all.body.total).toBe(2_001);
    expect(all.body.records).toEqual([]);
    const last = await app.call('GET', '/v1/audit-logs?start_time=2020-01-01&page_size=3&current_page=666');
    expect(last.body.records).toHaveLength(3);
    for (const statement of ['UPDATE audit_blocks SET newest = now()', 'DELETE FROM audit_blocks'])
      await expect(app.dataSource.query(statement)).rejects.toThrow('cannot be changed or removed');
  });

  it('that was forged is told by a verification', async () => {
    const wrong = async () => {
      const client = new pg.Client({ connectionString: app.url });
      await client.connect();
      const { rows } = await client.query(WRONG_BLOCKS, [app.first.organisation_id]);
      await client.end();
      return rows;
    };
    expect(await wrong()).toEqual([]);
    await administer(
      app.url,
      "SET session_replication_role = replica; UPDATE audit_blocks SET newest = newest - interval '1 year'",
    );

    expect(await wrong()).toEqual([{ number: '1' }]);
  });
});
