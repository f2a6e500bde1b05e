import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DataSource, MigrationInterface } from 'typeorm';
import { createDataSource } from '../../../src/schema/data-source.js';
import { emptyDatabase } from '../../support/database.js';
import { shapeOf } from '../../support/schema-shape.js';

describe('every migration', () => {
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

  /** As TypeORM does, which undoes all of them in a transaction. */
  async function run(migration: MigrationInterface, way: 'up' | 'down'): Promise<void> {
    if (migration.transaction === false && way === 'up') {
      const runner = dataSource.createQueryRunner();
      return migration.up(runner).finally(() => runner.release());
    }
    await dataSource.transaction(async ({ queryRunner }) => {
      if (!queryRunner) throw new Error('A transaction has a runner.');
      await migration[way](queryRunner);
    });
  }

  it('leaves the schema as it was when it is undone, and can be run again', async () => {
    for (const migration of dataSource.migrations) {
      const before = await shapeOf(dataSource);
      await run(migration, 'up');
      const after = await shapeOf(dataSource);
      await run(migration, 'down');
      expect(await shapeOf(dataSource), `${migration.name ?? ''} undone`).toEqual(before);
      await run(migration, 'up');
      expect(await shapeOf(dataSource), `${migration.name ?? ''} run again`).toEqual(after);
    }
  });

  it('is listed in the order in which it runs', () => {
    const names = dataSource.migrations.map(({ name = '' }) => name);
    expect(names).toEqual(names.toSorted((one, other) => one.slice(-13).localeCompare(other.slice(-13))));
  });
});
