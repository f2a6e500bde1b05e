import { randomBytes, randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placeOfPage } from '../../../src/admin/api-keys/api-key-pages.js';
import { KINDS } from '../../../src/admin/api-keys/api-key-kinds.js';
import type { Reach } from '../../../src/auth/tenant.js';
import type { ApiKeyType } from '../../../src/common/contracts/api-key-type.js';
import { uuidV7 } from '../../../src/common/ids/uuid-v7.js';
import { freshDatabase, type TestDatabase } from '../../support/database.js';

const ALL_KINDS = Object.keys(KINDS) as ApiKeyType[];

let database: TestDatabase;
beforeAll(async () => {
  database = await freshDatabase();
});
afterAll(() => database.drop());

const sql = (text: string, parameters: unknown[] = []) => database.dataSource.query(text, parameters);

interface World {
  readonly organizationId: string;
  readonly workspaces: readonly [string, string];
  readonly userId: string;
}

async function anOrganization(): Promise<World> {
  const [organizationId, one, two, userId] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()];
  await sql("INSERT INTO organizations (id, name, wrapped_key) VALUES ($1, 'A', $2)", [
    organizationId,
    Buffer.alloc(1),
  ]);
  for (const id of [one, two])
    await sql('INSERT INTO workspaces (id, organization_id, name, slug) VALUES ($1, $2, $3, $3)', [
      id,
      organizationId,
      id,
    ]);
  await sql("INSERT INTO users (id, organization_id, email, role) VALUES ($1, $2, $3, 'member')", [
    userId,
    organizationId,
    `${userId}@example.com`,
  ]);
  return { organizationId, workspaces: [one, two], userId };
}

/** Of each ten keys one is an admin key and three are people's; two of three of the others are in the first workspace. */
function rowOf({ organizationId, workspaces, userId }: World, at: number, number: number) {
  const kind: ApiKeyType =
    number % 10 === 0 ? 'organisation-service' : number % 10 < 4 ? 'workspace-user' : 'workspace-service';
  const workspace = kind === 'organisation-service' ? null : workspaces[number % 3 === 0 ? 1 : 0];
  const person = kind === 'workspace-user' ? userId : null;
  return [uuidV7(at), kind, organizationId, workspace, person, randomBytes(32)];
}

const INSERT = `
  INSERT INTO api_keys (id, kind, organization_id, workspace_id, user_id, key_hash, creation_mode, name, prefix, last_four, scopes)
  SELECT id, kind, organization_id, workspace_id, user_id, key_hash, 'api', 'k', 'p', 'abcd', '{}'
  FROM unnest($1::uuid[], $2::text[], $3::uuid[], $4::uuid[], $5::uuid[], $6::bytea[])
    AS new (id, kind, organization_id, workspace_id, user_id, key_hash)`;
const REVOKE = 'UPDATE api_keys SET deleted_at = now(), key_hash = NULL WHERE id = ANY($1)';

async function makeKeys(world: World, count: number, from = 1_700_000_000_000): Promise<string[]> {
  const rows = Array.from({ length: count }, (_, number) => rowOf(world, from + number, number));
  await sql(
    INSERT,
    [0, 1, 2, 3, 4, 5].map((column) => rows.map((row) => row[column])),
  );
  return rows.map(([id]) => id as string);
}

/** Blocks of the organization whose counts are not what is there. */
const WRONG_BLOCKS = `
  WITH bounded AS (
    SELECT *, lead(first_id) OVER (PARTITION BY list_id ORDER BY first_id) AS next_id FROM api_key_blocks
    WHERE organization_id = $1
  )
  SELECT * FROM bounded block, LATERAL (
    SELECT count(*) FILTER (WHERE kind = 'organisation-service') AS admin_keys,
      count(*) FILTER (WHERE kind = 'workspace-service') AS service_keys,
      count(*) FILTER (WHERE kind = 'workspace-user') AS user_keys
    FROM api_keys key WHERE key.deleted_at IS NULL AND key.organization_id = $1
      AND block.list_id IN (key.organization_id, key.workspace_id)
      AND key.id >= block.first_id AND (block.next_id IS NULL OR key.id < block.next_id)
  ) found
  WHERE (organisation_service, workspace_service, workspace_user) IS DISTINCT FROM (admin_keys, service_keys, user_keys)`;
const UNCOUNTED = `
  SELECT list_id FROM api_keys, unnest(array_remove(ARRAY[organization_id, workspace_id], NULL)) list_id
  WHERE organization_id = $1 AND deleted_at IS NULL
  EXCEPT SELECT list_id FROM api_key_blocks WHERE organization_id = $1`;

async function expectExact({ organizationId }: World): Promise<void> {
  expect(await sql(WRONG_BLOCKS, [organizationId])).toEqual([]);
  expect(await sql(UNCOUNTED, [organizationId])).toEqual([]);
}

const blocksOf = (listId: string) =>
  sql('SELECT * FROM api_key_blocks WHERE list_id = $1 ORDER BY first_id', [listId]);

const LISTED = `
  SELECT id FROM api_keys WHERE organization_id = $1 AND deleted_at IS NULL AND kind = ANY($2)
    AND ($3::uuid IS NULL OR workspace_id = $3) ORDER BY id DESC`;

/** Where pages begin, as the blocks tell it and as the whole list does. */
async function comparePages(reach: Reach, kinds: readonly ApiKeyType[]): Promise<void> {
  const rows: { id: string }[] = await sql(LISTED, [reach.organizationId, kinds, reach.workspaceId ?? null]);
  const list = rows.map(({ id }) => id);
  const { length } = list;
  for (const skip of [0, 1, 999, 1_000, 1_001, Math.max(0, length - 1), length, length + 1, 100_000_000]) {
    const { total, page } = await placeOfPage(database.dataSource.manager, reach, kinds, skip);
    const { below } = page ?? {};
    const inBlock = below == null ? list : list.filter((id) => id < below);
    expect([total, page === null ? undefined : inBlock[page.skip]]).toEqual([length, list[skip]]);
    expect(page?.skip ?? 0).toBeLessThan(1_000);
  }
}

describe('the blocks of a list of API keys', () => {
  it('hold what is in force, by kind, in the list of the organization and of each workspace', async () => {
    const world = await anOrganization();
    const ids = await makeKeys(world, 2_500);

    expect(await blocksOf(world.organizationId)).toHaveLength(3);
    expect(await blocksOf(world.workspaces[0])).toHaveLength(2);
    await expectExact(world);

    await sql(REVOKE, [ids.filter((_, index) => index % 7 === 0)]);
    await expectExact(world);
    // A revoked key that lets go of its workspace was counted off before.
    await sql(
      'UPDATE api_keys SET workspace_id = NULL WHERE deleted_at IS NOT NULL AND organization_id = $1',
      [world.organizationId],
    );
    await sql('DELETE FROM api_keys WHERE id = ANY($1)', [ids.slice(0, 500)]);
    await expectExact(world);
  });

  it('stay exact when many make and revoke at the same time, and some of it is undone', async () => {
    const world = await anOrganization();
    const old = await makeKeys(world, 1_500);
    const writers = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const client = new pg.Client({ connectionString: database.url });
        await client.connect();
        return client;
      }),
    );
    try {
      await Promise.all(
        writers.map(async (client, writer) => {
          for (let turn = 0; turn < 20; turn += 1) {
            const rows = Array.from({ length: 10 }, (_, number) =>
              rowOf(world, 1_800_000_000_000 + turn * 10 + number, writer + number),
            );
            const doomed = [old[writer * 200 + turn * 2], rows[3]?.[0], old[1_499 - writer * 20 - turn]];
            await client.query('BEGIN');
            await client.query(
              INSERT,
              [0, 1, 2, 3, 4, 5].map((column) => rows.map((row) => row[column])),
            );
            await client.query(REVOKE, [doomed]);
            await client.query(turn % 5 === 4 ? 'ROLLBACK' : 'COMMIT');
          }
        }),
      );
    } finally {
      await Promise.all(writers.map((client) => client.end()));
    }

    const [{ count }] = await sql(
      'SELECT count(*)::int FROM api_keys WHERE deleted_at IS NULL AND organization_id = $1',
      [world.organizationId],
    );
    expect(count).toBe(1_500 + 6 * 16 * (10 - 3));
    await expectExact(world);
  });

  it('are found again when they were lost', async () => {
    const world = await anOrganization();
    await makeKeys(world, 1_200);
    const before = await blocksOf(world.organizationId);
    await sql('DELETE FROM api_key_blocks');
    await sql('SELECT recount_api_keys()');

    expect(await blocksOf(world.organizationId)).toEqual(before);
    await expectExact(world);
    const [late] = await makeKeys(world, 1, 1_900_000_000_000);
    await sql(REVOKE, [[late]]);
    await expectExact(world);
  });

  it('tell where any page begins, of every kind and of some', async () => {
    const world = await anOrganization();
    const ids = await makeKeys(world, 2_300);
    await sql(REVOKE, [ids.slice(1_100, 1_400)]);
    const { organizationId, workspaces } = world;
    const reaches = [
      { organizationId },
      { organizationId, workspaceId: workspaces[0] },
      { organizationId, workspaceId: randomUUID() },
    ];
    const someKinds: ApiKeyType[][] = [
      ALL_KINDS,
      ['workspace-user'],
      ['organisation-service', 'workspace-service'],
    ];
    for (const reach of reaches) for (const kinds of someKinds) await comparePages(reach, kinds);
  });

  it('are not those of another organization', async () => {
    const [one, other] = [await anOrganization(), await anOrganization()];
    await makeKeys(other, 20);
    const reach = { organizationId: one.organizationId, workspaceId: other.workspaces[0] };

    expect(await placeOfPage(database.dataSource.manager, reach, ALL_KINDS, 0)).toEqual({
      total: 0,
      page: null,
    });
  });
});
