import { readdirSync, readFileSync } from 'node:fs';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { afterEach, describe, expect, it } from 'vitest';
import { readSchemaState } from '../../../src/cli/database/schema-state.js';
import { VERSION } from '../../../src/common/version.js';
import { Secret } from '../../../src/common/settings/secret.js';
import { createDataSource } from '../../../src/schema/data-source.js';
import { migrate } from '../../../src/schema/migrate.js';
import { administer } from '../../support/administer.js';
import { emptyDatabase } from '../../support/database.js';
import { shapeOf } from '../../support/schema-shape.js';

/**
 * A dump of each release, `schema-<version>.sql`, with rows in most tables (docs/schema.md says how one is made). Releases stay,
 * so that every upgrade is tested for ever.
 */
const FIXTURES = new URL('../../fixtures/', import.meta.url);
const RELEASES = readdirSync(FIXTURES).flatMap((file) => /^schema-(.+)\.sql$/.exec(file)?.[1] ?? []);

/** A partition belongs to its day or month. */
const isOfADay = (line: string): boolean => /_(\d{6}|\d{8})(_|\b)/.test(line);

const ended: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ended.splice(0).reverse()) await end();
});

async function empty(): Promise<{ url: string; dataSource: DataSource }> {
  const database = await emptyDatabase();
  ended.push(() => database.drop());
  const dataSource = await createDataSource(database.url, 2, 'migrations').initialize();
  ended.push(() => dataSource.destroy());
  return { url: database.url, dataSource };
}

async function databaseOf(release: string): Promise<{ url: string; dataSource: DataSource }> {
  const database = await empty();
  await administer(database.url, readFileSync(new URL(`schema-${release}.sql`, FIXTURES), 'utf8'));
  return database;
}

/** Without parentheses: conditions that were dumped and read again are nested in another way. */
const shape = async (dataSource: DataSource): Promise<string[]> =>
  (await shapeOf(dataSource))
    .filter((line) => !isOfADay(line))
    .map((line) => line.replaceAll(/[()]/g, ''))
    .sort();

const namesIn = async (dataSource: DataSource): Promise<string[]> =>
  (await dataSource.query<{ name: string }[]>('SELECT name FROM migrations ORDER BY id')).map(
    ({ name }) => name,
  );

/** All rows by table, without those of TypeORM and of the partitions, whose rows are their parent's. */
async function rowsOf(url: string): Promise<Map<string, unknown[]>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows: tables } = await client.query<{ name: string }>(
      `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
       AND NOT relispartition AND relname <> 'migrations'`,
    );
    const found = new Map<string, unknown[]>();
    for (const { name } of tables) {
      const { rows } = await client.query<{ row: unknown }>(
        `SELECT to_jsonb(found) AS row FROM ${name} AS found ORDER BY 1`,
      );
      found.set(
        name,
        rows.map(({ row }) => row),
      );
    }
    return found;
  } finally {
    await client.end();
  }
}

describe.each(RELEASES)('a database of release %s', (release) => {
  it('was made by migrations that are still here, unchanged', async () => {
    const { dataSource: released } = await databaseOf(release);
    const { dataSource: today } = await empty();
    const names = await namesIn(released);
    const kept = today.migrations.slice(0, names.length);

    expect(kept.map(({ name }) => name)).toEqual(names);
    await today.transaction(async ({ queryRunner }) => {
      if (queryRunner) for (const migration of kept) await migration.up(queryRunner);
    });
    const shapeToday = await shape(today);
    expect(shapeToday.length).toBeGreaterThan(500);
    expect((await shape(released)).filter((line) => !/\bmigrations(_|\b)/.test(line))).toEqual(shapeToday);
  });

  it('has the schema of a new one after its upgrade, and the rows that it had', async () => {
    const { url, dataSource } = await databaseOf(release);
    const rows = await rowsOf(url);
    const pending = dataSource.migrations.length - (await namesIn(dataSource)).length;
    expect((await readSchemaState(new Secret(url), null)).pending).toHaveLength(pending);

    await migrate(dataSource);

    expect(await readSchemaState(new Secret(url), null)).toEqual({ pending: [], later: [], populated: true });
    const { dataSource: fresh } = await empty();
    await migrate(fresh);
    expect(await shape(dataSource)).toEqual(await shape(fresh));
    const upgraded = await rowsOf(url);
    expect([...rows.values()].filter((of) => of.length > 0).length).toBeGreaterThan(30);
    // A migration may add rows, such as the heads of audit logs that were empty.
    for (const [table, before] of rows)
      for (const row of before)
        expect(upgraded.get(table), table).toContainEqual(expect.objectContaining(row));
  });
});

describe('a database of a development version before the first release', () => {
  it('is refused with the reason', async () => {
    const { url, dataSource } = await empty();
    await dataSource.query(`
      CREATE TABLE migrations (id serial PRIMARY KEY, timestamp bigint NOT NULL, name character varying NOT NULL);
      INSERT INTO migrations (timestamp, name) VALUES (1763690000000, 'Foundation1763690000000')`);

    await expect(readSchemaState(new Secret(url), null)).rejects.toThrow(
      'The database has the schema of a development version before 0.1.0, which cannot be upgraded.',
    );
  });
});

describe('a database of a later release', () => {
  const LATER = { timestamp: 9_999_999_999_999, name: 'Later9999999999999' };

  async function upgradedFurther(): Promise<{ url: string; dataSource: DataSource }> {
    const database = await empty();
    await migrate(database.dataSource);
    await database.dataSource.query('INSERT INTO migrations (timestamp, name) VALUES ($1, $2)', [
      LATER.timestamp,
      LATER.name,
    ]);
    return database;
  }

  it('is used where this release can run on its schema', async () => {
    const { url } = await upgradedFurther();

    expect(await readSchemaState(new Secret(url), null)).toEqual({
      pending: [],
      later: [LATER.name],
      populated: false,
    });
  });

  it.each([
    // Not compared as texts.
    VERSION.replace(/\d+$/, (patch) => String(Number(patch) + 10)),
    '99.0.0',
  ])('is refused where it needs %s', async (oldest) => {
    const { url, dataSource } = await upgradedFurther();
    await dataSource.query('UPDATE schema_compatibility SET oldest_release = $1', [oldest]);

    await expect(readSchemaState(new Secret(url), null)).rejects.toThrow(
      `cannot run on its schema. Start ${oldest} or later, or restore a backup from before the upgrade (docs/upgrade.md).`,
    );
  });
});
