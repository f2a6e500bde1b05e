import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, describe, expect, it } from 'vitest';
import { readHead, verifyArchive } from '../../../src/cli/backup/archive-reader.js';
import { loadDatabase } from '../../../src/cli/backup/load-database.js';
import { readManifest } from '../../../src/cli/backup/manifest.js';
import {
  checkSchemaOf,
  migrateAsBackedUp,
  migrateToRelease,
} from '../../../src/cli/backup/migrate-as-backed-up.js';
import { BackupKeys } from '../../../src/cli/backup/sealed-secrets.js';
import { writeBackup } from '../../../src/cli/backup/write-backup.js';
import { readSchemaState } from '../../../src/cli/database/schema-state.js';
import { Secret } from '../../../src/common/settings/secret.js';
import { administer } from '../../support/administer.js';
import { emptyDatabase } from '../../support/database.js';

const FIXTURE = new URL('../../fixtures/schema-0.1.0.sql', import.meta.url);
const PASSPHRASE = new Secret('a passphrase of the test');

const ended: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

async function connected(): Promise<{ url: string; client: pg.Client }> {
  const database = await emptyDatabase();
  ended.push(() => database.drop());
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  ended.push(() => client.end());
  return { url: database.url, client };
}

async function backupOf(client: pg.Client, made?: BackupKeys): Promise<{ path: string; keys: BackupKeys }> {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-backup-'));
  ended.push(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'backup.tar');
  const keys = made ?? (await BackupKeys.make(PASSPHRASE));
  await writeBackup(path, client, { keys, content: new Secret('{}'), countedInClickhouse: false });
  return { path, keys };
}

async function restored(path: string, keys: BackupKeys): Promise<{ url: string; client: pg.Client }> {
  const target = await connected();
  const url = new Secret(target.url);
  const manifest = readManifest((await readHead(path)).manifest);
  const checksums = await verifyArchive(path, keys, () => undefined);
  await migrateAsBackedUp(url, manifest);
  await loadDatabase(target.client, { path, manifest, checksums, onRead: () => undefined });
  await migrateToRelease(url);
  return target;
}

/** Every row of the logged tables, as text, with its table. */
async function rowsOf(client: pg.Client): Promise<Map<string, unknown[]>> {
  const { rows: tables } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
     AND NOT relispartition AND relpersistence = 'p' AND relname <> 'migrations'`,
  );
  const found = new Map<string, unknown[]>();
  for (const { name } of tables) {
    const { rows } = await client.query<{ row: unknown }>(
      `SELECT to_jsonb(t) AS row FROM ${name} t ORDER BY 1`,
    );
    found.set(
      name,
      rows.map(({ row }) => row),
    );
  }
  return found;
}

describe('a backup of release 0.1.0', () => {
  it('is restored with every row, and migrated to this release', { timeout: 180_000 }, async () => {
    const source = await connected();
    await administer(source.url, readFileSync(FIXTURE, 'utf8'));
    // A connection whose text formats are not the standard ones.
    await source.client.query(
      "SET TimeZone = 'Asia/Tokyo'; SET DateStyle = 'German'; SET bytea_output = 'escape'",
    );
    const { path, keys } = await backupOf(source.client);
    await source.client.query('RESET ALL');
    const target = await restored(path, keys);

    expect(await readSchemaState(new Secret(target.url), null)).toEqual({
      pending: [],
      later: [],
      populated: true,
    });
    const before = await rowsOf(source.client);
    const after = await rowsOf(target.client);
    expect([...before.values()].filter((rows) => rows.length > 0).length).toBeGreaterThan(30);
    for (const [table, rows] of before)
      for (const row of rows)
        expect(after.get(table), table).toContainEqual(expect.objectContaining(row as object));
    const keysOf = async ({ client }: { client: pg.Client }): Promise<number> => {
      const { rows } = await client.query<{ keys: number }>(
        "SELECT count(*)::int AS keys FROM pg_constraint WHERE contype = 'f' AND convalidated",
      );
      return rows[0]?.keys ?? 0;
    };
    expect(await keysOf(target)).toBeGreaterThanOrEqual(await keysOf(source));
    await expect(target.client.query("UPDATE audit_records SET action = 'x'")).rejects.toThrow(
      'cannot be changed',
    );
  });

  it('is not restored if its file is replaced after its checksums were compared', async () => {
    const { url, client } = await connected();
    await migrateToRelease(new Secret(url));
    await client.query(
      `INSERT INTO organizations (id, name, wrapped_key) VALUES (gen_random_uuid(), 'before', 'x')`,
    );
    const { path, keys } = await backupOf(client);
    const manifest = readManifest((await readHead(path)).manifest);
    const checksums = await verifyArchive(path, keys, () => undefined);
    await client.query(`UPDATE organizations SET name = 'forged'`);
    const other = await backupOf(client, keys);

    const target = await connected();
    await migrateAsBackedUp(new Secret(target.url), manifest);
    await expect(
      loadDatabase(target.client, { path: other.path, manifest, checksums, onRead: () => undefined }),
    ).rejects.toThrow('changed while it was restored');
    await target.client.query('ROLLBACK');
    expect((await target.client.query('SELECT name FROM organizations')).rows).toEqual([]);
  });

  it('is refused by a release that lacks one of its migrations', async () => {
    const source = await connected();
    await administer(source.url, readFileSync(FIXTURE, 'utf8'));
    await source.client.query(
      "INSERT INTO migrations (timestamp, name) VALUES (9999999999999, 'OfTheFuture9999999999999')",
    );
    const { path } = await backupOf(source.client);
    const manifest = readManifest((await readHead(path)).manifest);

    expect(() => checkSchemaOf(manifest)).toThrow(/newer than this release's \(OfTheFuture9999999999999\)/);
  });
});

describe('a backup', () => {
  it('does not hold more memory than a few parts, whatever its size', { timeout: 180_000 }, async () => {
    const { client, url } = await connected();
    await migrateToRelease(new Secret(url));
    await client.query(
      'CREATE TABLE large AS SELECT g AS id, repeat(md5(g::text), 1000) AS text FROM generate_series(1, 4000) g',
    );
    // Deriving them takes 128 MiB, for a moment.
    const made = await BackupKeys.make(PASSPHRASE);
    let most = 0;
    const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 20);
    const before = process.memoryUsage().rss;
    const { path, keys } = await backupOf(client, made);
    await verifyArchive(path, keys, () => undefined);
    clearInterval(watch);

    const manifest = (await readHead(path)).manifest;
    expect(manifest).toContain('"large"');
    expect(statSync(path).size).toBeLessThan(256 * 1024 * 1024);
    expect(most - before).toBeLessThan(96 * 1024 * 1024);
  });
});
