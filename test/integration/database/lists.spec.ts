import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { USABLE } from '../../../src/admin/integrations/integration-finder.service.js';
import { POLICY_ENTITIES } from '../../../src/admin/policies/policy-entities.service.js';
import type { Json } from '../../support/admin-app.js';
import { freshDatabase, type TestDatabase } from '../../support/database.js';

const OTHERS = 3_000;
const FEW = 10;
const PAGE = 50;
const NEWEST = `ORDER BY created_at DESC, id DESC LIMIT ${PAGE}`;

/** What stands in a workspace ($2) of an organization ($1) so many times ($3). */
const THINGS: readonly string[] = [
  `INSERT INTO virtual_keys (id, organization_id, workspace_id, name, slug, provider_id, fields, sealed_credentials)
   SELECT gen_random_uuid(), $1, $2, 'k', 'k-' || $3 || '-' || n, 'openai', '{}', '\\x00' FROM generate_series(1, $3::int) n`,
  `INSERT INTO guardrails (id, organization_id, workspace_id, name, slug, checks, actions, version_id, owner_id)
   SELECT gen_random_uuid(), $1, $2, 'g', 'pg-' || $3 || '-' || n, '[]', '{}', gen_random_uuid(), gen_random_uuid()
   FROM generate_series(1, $3::int) n`,
  `INSERT INTO log_exports (id, organization_id, workspace_id, user_id, description, filters, requested_data, format, compression)
   SELECT gen_random_uuid(), $1, $2, $2, 'e', '{}', '{}', 'jsonl', 'none' FROM generate_series(1, $3::int) n`,
  `INSERT INTO limit_policies (id, organization_id, workspace_id, name, conditions, group_by, budget, archived_at)
   SELECT gen_random_uuid(), $1, $2, 'p', '[]', '[]', '{}', CASE WHEN $3::int > ${FEW} THEN now() END
   FROM generate_series(1, $3::int) n`,
  `WITH made AS (
     INSERT INTO users (id, organization_id, email, role)
     SELECT gen_random_uuid(), $1, $3 || '-' || n || '@example.com', CASE WHEN $3::int = ${FEW} THEN 'admin' ELSE 'member' END
     FROM generate_series(1, $3::int) n RETURNING id, split_part(split_part(email, '@', 1), '-', 2)::int AS n)
   INSERT INTO workspace_members (workspace_id, user_id, organization_id, role) SELECT $2, id, $1, CASE WHEN n <= ${FEW} THEN 'manager' ELSE 'member' END FROM made`,
  `INSERT INTO invites (id, organization_id, email, role, status, invited_by, expires_at)
   SELECT gen_random_uuid(), $1, $3 || '-' || n || '@example.com', CASE WHEN $3::int = ${FEW} THEN 'admin' ELSE 'member' END,
     CASE WHEN $3::int = ${FEW} THEN 'expired' ELSE 'cancelled' END, $2, now() FROM generate_series(1, $3::int) n`,
  `INSERT INTO integrations (id, organization_id, workspace_id, slug, name, provider_id, fields)
   SELECT gen_random_uuid(), $1, $2, 'i-' || $3 || '-' || n, 'i', 'openai', '{}' FROM generate_series(1, $3::int) n`,
];

/** An organization with three thousand of each in one workspace, and ten in another. */
describe('in an organization that has thousands', () => {
  let database: TestDatabase;
  const organizationId = randomUUID();
  const [large, small] = [randomUUID(), randomUUID()];
  const sql = (text: string, parameters: unknown[] = []) => database.dataSource.query(text, parameters);
  beforeAll(async () => {
    database = await freshDatabase();
    await sql("INSERT INTO organizations (id, name, wrapped_key) VALUES ($1, 'o', '\\x00')", [
      organizationId,
    ]);
    for (const [id, count] of [
      [large, OTHERS],
      [small, FEW],
    ] as const) {
      await sql('INSERT INTO workspaces (id, organization_id, name, slug) VALUES ($1, $2, $3, $3)', [
        id,
        organizationId,
        `ws-${count}`,
      ]);
      for (const insert of THINGS) await sql(insert, [organizationId, id, count]);
    }
    const integrationId = randomUUID();
    await sql(
      `INSERT INTO integrations (id, organization_id, slug, name, provider_id, fields) VALUES ($1, $2, 'i', 'i', 'openai', '{}')`,
      [integrationId, organizationId],
    );
    await sql(
      `INSERT INTO virtual_keys (id, organization_id, workspace_id, integration_id, name, slug, fields, created_at)
       SELECT gen_random_uuid(), $1, $2, $3, 'p', 'p-' || n, '{}', now() - interval '1 day' FROM generate_series(1, ${FEW}) n`,
      [organizationId, large, integrationId],
    );
    await sql(
      `INSERT INTO limit_policies (id, organization_id, workspace_id, name, conditions, group_by, rate, archived_at, created_at)
       SELECT gen_random_uuid(), $1, $2, 'r', '[]', '[]', '{}', now(), now() - interval '1 day' FROM generate_series(1, ${FEW})`,
      [organizationId, large],
    );
    await sql('ANALYZE');
  });
  afterAll(() => database.drop());

  /** Rows that are read, and read in vain, to answer a query. */
  async function rowsReadBy(query: string, parameters: unknown[]): Promise<number> {
    const [row] = await database.dataSource.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${query}`, parameters);
    const visit = (node: Json): number =>
      (node.Plans ?? []).reduce(
        (sum: number, child: Json) => sum + visit(child),
        Number(node['Relation Name'] ? node['Actual Rows'] : 0) + Number(node['Rows Removed by Filter'] ?? 0),
      );
    return visit(row['QUERY PLAN'][0].Plan);
  }

  it.each([
    ['virtual keys', 'virtual_keys', 'AND integration_id IS NULL'],
    ['guardrails', 'guardrails', ''],
    ['exports', 'log_exports', ''],
    ['policies', 'limit_policies', 'AND budget IS NOT NULL AND archived_at IS NULL'],
  ])("lists a small workspace's %s without reading those of others", async (_, table, more) => {
    const read = await rowsReadBy(
      `SELECT * FROM ${table} WHERE organization_id = $1 AND workspace_id = $2 ${more} ${NEWEST}`,
      [organizationId, small],
    );

    expect(read).toBe(FEW);
  });

  it.each([
    ['policies in force among archived ones', 'limit_policies', 'budget IS NOT NULL AND archived_at IS NULL'],
    ['providers among virtual keys', 'virtual_keys', 'integration_id IS NOT NULL'],
    ['people of a rare role among the others', 'users', "role = 'admin'"],
    [
      'archived rates among archived budgets',
      'limit_policies',
      'rate IS NOT NULL AND archived_at IS NOT NULL',
    ],
    ['invites of a rare role among the others', 'invites', "role = 'admin'"],
    ['invites that are over among the others', 'invites', "status = 'expired'"],
  ])('lists a few %s without reading those', async (_, table, which) => {
    const read = await rowsReadBy(
      `SELECT * FROM ${table} WHERE organization_id = $1 AND ${which} ${NEWEST}`,
      [organizationId],
    );

    expect(read).toBe(FEW);
  });

  it("lists a large workspace's managers without reading the other members", async () => {
    const read = await rowsReadBy(
      `SELECT * FROM workspace_members WHERE organization_id = $1 AND workspace_id = $2 AND role = 'manager'
       ORDER BY created_at DESC, user_id DESC LIMIT ${PAGE}`,
      [organizationId, large],
    );

    expect(read).toBe(FEW);
  });

  it.each([
    ['all of them', ''],
    ['those of workspaces', 'AND workspace_id IS NOT NULL'],
    ['those of the organization', 'AND workspace_id IS NULL'],
  ])("lists a small workspace's integrations without reading those of others: %s", async (_, more) => {
    const usable = USABLE.replaceAll(':workspaceId', '$2');
    const read = await rowsReadBy(
      `SELECT * FROM integrations integration WHERE organization_id = $1 AND ${usable} ${more} ${NEWEST}`,
      [organizationId, small],
    );

    // And the one of the organization, of which nothing is said.
    expect(read).toBeLessThanOrEqual(FEW + 1);
  });

  it('lists the few integrations of the organization among those of workspaces', async () => {
    const read = await rowsReadBy(
      `SELECT * FROM integrations WHERE organization_id = $1 AND workspace_id IS NULL ${NEWEST}`,
      [organizationId],
    );

    expect(read).toBe(1);
  });

  it('lists the exports of the few that one user made', async () => {
    const read = await rowsReadBy(
      `SELECT * FROM log_exports WHERE organization_id = $1 AND user_id = $2 ${NEWEST}`,
      [organizationId, small],
    );

    expect(read).toBe(FEW);
  });

  it.each([
    ['virtual keys', 'virtual_keys', 'integration_id IS NULL', 'id'],
    ['exports', 'log_exports', 'true', 'id'],
    ["a large workspace's members", 'workspace_members', 'workspace_id = $2', 'user_id'],
  ])('reads no more of %s than the first page', async (_, table, which, key) => {
    const parameters = which.includes('$2') ? [organizationId, large] : [organizationId];
    const read = await rowsReadBy(
      `SELECT * FROM ${table} WHERE organization_id = $1 AND ${which} ORDER BY created_at DESC, ${key} DESC LIMIT ${PAGE}`,
      parameters,
    );

    expect(read).toBe(PAGE);
  });

  it.each([
    ['workspaces', 'true'],
    ['users', 'true'],
    ['invites', 'true'],
    ['guardrails', 'true'],
    ['virtual_keys', 'integration_id IS NULL'],
    ['virtual_keys', 'integration_id IS NOT NULL'],
    ['workspace_members', 'workspace_id = $2'],
  ])('counts off %s (%s) in an index of nothing else', async (table, which) => {
    await sql(`VACUUM ANALYZE ${table}`);
    // Of the few workspaces, too, as if they were many.
    const runner = database.dataSource.createQueryRunner();
    await runner.query('SET enable_seqscan = off');
    const parameters = which.includes('$2') ? [organizationId, large] : [organizationId];
    const [row] = await runner.query(
      `EXPLAIN (FORMAT JSON) SELECT count(*) FROM ${table} WHERE organization_id = $1 AND ${which}`,
      parameters,
    );
    await runner.query('RESET enable_seqscan');
    await runner.release();

    const [scan] = row['QUERY PLAN'][0].Plan.Plans;
    expect(scan).toMatchObject({
      'Node Type': 'Index Only Scan',
      'Index Name': expect.stringMatching(/_counted$/),
    });
  });

  it.each(['users', 'invites'])('finds %s by the email address without reading the others', async (table) => {
    const read = await rowsReadBy(
      `SELECT * FROM ${table} WHERE organization_id = $1 AND email = $2 ${NEWEST}`,
      [organizationId, `${FEW}-3@example.com`],
    );

    expect(read).toBe(1);
  });
});

/** A policy with many groups, those of its last period, and those of another policy. */
describe('the groups of a policy', () => {
  const GROUPS = 20_000;
  /** Of one power of two's sixteenth, where no group has used more than it is given. */
  const MOST_OF_A_BAND = GROUPS / 16;
  const [organizationId, limitId, otherId] = [randomUUID(), randomUUID(), randomUUID()];
  const NOW = 1_760_000_000;
  let database: TestDatabase;
  const sql = (text: string, parameters: unknown[] = []) => database.dataSource.query(text, parameters);
  beforeAll(async () => {
    database = await freshDatabase();
    for (const [limit, period] of [
      [limitId, NOW],
      [limitId, NOW - 2_592_000],
      [otherId, NOW],
    ] as const)
      await sql(
        `INSERT INTO limit_counters (key, organization_id, limit_id, measure, group_text, amount, spent, forgiven)
         SELECT $2::uuid || '/' || md5(n::text) || '@' || $3, $1, $2, 'cost', 'metadata._user:u' || n, 15000000, n * 1000, n % 7
         FROM generate_series(1, ${GROUPS}) n`,
        [organizationId, limit, period],
      );
    // Some that used nothing, and some that used the same.
    await sql(
      'UPDATE limit_counters SET spent = 0, forgiven = 0 WHERE limit_id = $1 AND spent BETWEEN 500000 AND 1000000',
      [limitId],
    );
    await sql(
      'UPDATE limit_counters SET spent = 9000000, forgiven = 5 WHERE limit_id = $1 AND spent > 19900000',
      [limitId],
    );
    await sql('VACUUM ANALYZE limit_counters');
  }, 120_000);
  afterAll(() => database.drop());

  const entities = (status: boolean | null, search: string | null, skip: number, take: number) =>
    sql(POLICY_ENTITIES, [organizationId, limitId, NOW, status, search, skip, take]);

  it.each([
    ['all', null, null, 'true'],
    ['exhausted ones', true, null, 'spent - forgiven >= amount'],
    ['active ones', false, null, 'spent - forgiven < amount'],
    ['those that are searched for', null, 'u123', "group_text LIKE '%u123%'"],
  ] as const)(
    'are listed in the order of what they used: %s, on any page',
    async (_, status, search, which) => {
      const wanted = await sql(
        `SELECT key, group_text, spent - forgiven AS spent, spent - forgiven >= amount AS is_exhausted
       FROM limit_counters WHERE limit_id = $1 AND key LIKE '%@' || $2 AND ${which}
       ORDER BY spent - forgiven DESC, key`,
        [limitId, NOW],
      );
      const total = wanted.length;
      expect(total).toBeGreaterThan(100);

      for (const skip of [0, 50, Math.floor(total / 3), Math.floor(total / 2), total - 60, total - 10]) {
        const page = wanted.slice(skip, skip + 50).map((row: Json) => ({ total, ...row }));
        expect(await entities(status, search, skip, 50), `from ${skip}`).toEqual(page);
      }
      expect(await entities(status, search, total, 50)).toMatchObject([{ total, key: null }]);
    },
  );

  it('are read only as far as they may be on the page, by an index', async () => {
    for (const skip of [0, GROUPS / 2, GROUPS - 50]) {
      const plan = `EXPLAIN (ANALYZE, FORMAT JSON) ${POLICY_ENTITIES}`;
      const [row] = await sql(plan, [organizationId, limitId, NOW, null, null, skip, 50]);
      const nodes = (node: Json): Json[] => [node, ...(node.Plans ?? []).flatMap(nodes)];
      const scans = nodes(row['QUERY PLAN'][0].Plan).filter((node) => node['Relation Name']);
      const readOf = (isInIndex: boolean): number =>
        scans
          .filter((node) => (node['Node Type'] === 'Index Only Scan') === isInIndex)
          .reduce<number>(
            (sum, node) => sum + Number(node['Actual Rows']) + Number(node['Rows Removed by Filter'] ?? 0),
            0,
          );

      expect(readOf(true), `counted for ${skip}`).toBe(GROUPS);
      expect(readOf(false), `read for ${skip}`).toBeLessThanOrEqual(2 * MOST_OF_A_BAND);
    }
  });

  it('stay where they are in all indexes when they are charged within their band', async () => {
    const key = (await entities(null, null, 0, 1))[0].key;
    const isMoved = async (spent: string): Promise<boolean> => {
      const version = () => sql('SELECT band FROM limit_counters WHERE key = $1', [key]);
      const before = await version();
      await sql(`UPDATE limit_counters SET spent = ${spent} WHERE key = $1`, [key]);
      return before[0].band !== (await version())[0].band;
    };

    expect(await isMoved('spent + 1000')).toBe(false);
    expect(await isMoved('spent * 2')).toBe(true);
  });
});
