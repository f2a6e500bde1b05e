import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DataSource, MigrationInterface } from 'typeorm';
import { createDataSource } from '../../../src/schema/data-source.js';
import { emptyDatabase } from '../../support/database.js';

/** What a migration can leave behind: columns, indexes, constraints, options, policies, rights, triggers and functions. */
const SHAPE = `
  SELECT format('column %s.%s %s null:%s default:%s generated:%s', attrelid::regclass, attname, format_type(atttypid, atttypmod),
    NOT attnotnull, pg_get_expr(adbin, adrelid), attgenerated) AS line
  FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
  WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm') AND attnum > 0 AND NOT attisdropped
  UNION ALL SELECT pg_get_indexdef(indexrelid) FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
  WHERE relnamespace = 'public'::regnamespace
  UNION ALL SELECT format('constraint %s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) FROM pg_constraint
  WHERE connamespace = 'public'::regnamespace
  UNION ALL SELECT format('%s %s %s rls:%s %s', relkind, oid::regclass, reloptions, relrowsecurity, relacl) FROM pg_class
  WHERE relnamespace = 'public'::regnamespace AND relkind <> 'i'
  UNION ALL SELECT format('policy %s %s %s %s %s', tablename, policyname, cmd, qual, with_check) FROM pg_policies
  WHERE schemaname = 'public'
  UNION ALL SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
  UNION ALL SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prokind = 'f'
  ORDER BY 1`;

/** From here on each can be undone; what a release before it made stays. */
const FIRST_UNDONE = 'GroupsOfPolicies1763790000001';

describe('the migrations of late', () => {
  let database: { url: string; drop(): Promise<void> };
  let dataSource: DataSource;
  beforeAll(async () => {
    database = await emptyDatabase();
    dataSource = await createDataSource(database.url, 2, 'migrations').initialize();
  });
  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  const shape = async (): Promise<string[]> =>
    (await dataSource.query<{ line: string }[]>(SHAPE)).map(({ line }) => line);

  async function run(migration: MigrationInterface, way: 'up' | 'down'): Promise<void> {
    await dataSource.transaction(async ({ queryRunner }) => {
      if (!queryRunner) throw new Error('A transaction has a runner.');
      await migration[way](queryRunner);
    });
  }

  it('leave the schema as it was when they are undone, and can be made again', async () => {
    const timeOf = ({ name = '' }: MigrationInterface): string => name.slice(-13);
    const inOrder = dataSource.migrations.toSorted((one, other) => timeOf(one).localeCompare(timeOf(other)));
    const first = inOrder.findIndex(({ name }) => name === FIRST_UNDONE);
    expect(first).toBeGreaterThan(0);

    for (const [index, migration] of inOrder.entries()) {
      const before = await shape();
      await run(migration, 'up');
      if (index < first) continue;
      const after = await shape();
      await run(migration, 'down');
      expect(await shape(), `${migration.name ?? ''} undone`).toEqual(before);
      await run(migration, 'up');
      expect(await shape(), `${migration.name ?? ''} made again`).toEqual(after);
    }
  });
});
