import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Json } from '../../support/admin-app.js';
import { freshDatabase, type TestDatabase } from '../../support/database.js';

const OTHERS = 3_000;

/** An organization with three thousand of each in one workspace, and ten in another. */
describe('in an organization that has thousands', () => {
  let database: TestDatabase;
  const organizationId = randomUUID();
  const [large, small] = [randomUUID(), randomUUID()];
  beforeAll(async () => {
    database = await freshDatabase();
    const sql = (text: string, parameters: unknown[]) => database.dataSource.query(text, parameters);
    await sql("INSERT INTO organizations (id, name, wrapped_key) VALUES ($1, 'o', '\\x00')", [
      organizationId,
    ]);
    for (const [id, count] of [
      [large, OTHERS],
      [small, 10],
    ] as const) {
      await sql('INSERT INTO workspaces (id, organization_id, name, slug) VALUES ($1, $2, $3, $3)', [
        id,
        organizationId,
        `ws-${count}`,
      ]);
      await sql(
        `INSERT INTO virtual_keys (id, organization_id, workspace_id, name, slug, provider_id, fields, sealed_credentials)
         SELECT gen_random_uuid(), $1, $2, 'k', 'k-' || $3 || '-' || n, 'openai', '{}', '\\x00' FROM generate_series(1, $3::int) n`,
        [organizationId, id, count],
      );
      await sql(
        `INSERT INTO users (id, organization_id, email, role)
         SELECT gen_random_uuid(), $1, $2 || '-' || n || '@example.com', 'member' FROM generate_series(1, $2::int) n`,
        [organizationId, count],
      );
    }
    for (const table of ['virtual_keys', 'users']) await sql(`ANALYZE ${table}`, []);
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

  it("lists a small workspace's virtual keys without reading those of others", async () => {
    const read = await rowsReadBy(
      `SELECT * FROM virtual_keys WHERE organization_id = $1 AND workspace_id = $2 AND integration_id IS NULL
       ORDER BY created_at DESC, id DESC LIMIT 50`,
      [organizationId, small],
    );

    expect(read).toBe(10);
  });

  it('finds a person by the email address without reading the others', async () => {
    const read = await rowsReadBy(
      `SELECT * FROM users WHERE organization_id = $1 AND email = $2 ORDER BY created_at DESC, id DESC LIMIT 50`,
      [organizationId, '10-3@example.com'],
    );

    expect(read).toBe(1);
  });
});
