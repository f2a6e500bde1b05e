import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
     FROM generate_series(1, $3::int) n RETURNING id)
   INSERT INTO workspace_members (workspace_id, user_id, organization_id, role) SELECT $2, id, $1, 'member' FROM made`,
  `INSERT INTO invites (id, organization_id, email, role, status, invited_by, expires_at)
   SELECT gen_random_uuid(), $1, $3 || '-' || n || '@example.com', 'member', 'cancelled', $2, now() FROM generate_series(1, $3::int) n`,
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
  ])('lists a few %s without reading those', async (_, table, which) => {
    const read = await rowsReadBy(
      `SELECT * FROM ${table} WHERE organization_id = $1 AND ${which} ${NEWEST}`,
      [organizationId],
    );

    expect(read).toBe(FEW);
  });

  it('lists the exports of the few that one person made', async () => {
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

  it.each(['users', 'invites'])('finds %s by the email address without reading the others', async (table) => {
    const read = await rowsReadBy(
      `SELECT * FROM ${table} WHERE organization_id = $1 AND email = $2 ${NEWEST}`,
      [organizationId, `${FEW}-3@example.com`],
    );

    expect(read).toBe(1);
  });
});
