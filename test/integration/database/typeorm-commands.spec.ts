import { execFile } from 'node:child_process';
import { promisify, stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDataSource } from '../../../src/schema/data-source.js';
import { emptyDatabase } from '../../support/database.js';

const execute = promisify(execFile);

describe("TypeORM's command line, with ormconfig.ts", () => {
  let database: { url: string; drop(): Promise<void> };
  beforeAll(async () => {
    database = await emptyDatabase();
  });
  afterAll(() => database.drop());

  async function typeorm(...words: readonly string[]): Promise<string> {
    const args = ['run', '--silent', 'typeorm', '--', ...words, '-d', 'ormconfig.ts'];
    const { stdout } = await execute('npm', args, { env: { ...process.env, DATABASE_URL: database.url } });
    // TypeORM colors its output wherever CI is set.
    return stripVTControlCharacters(stdout);
  }

  it('shows every migration of an empty database as pending, and runs them all', async () => {
    const dataSource = await createDataSource(database.url, 2, 'migrations').initialize();
    const pending = dataSource.migrations.map(({ name = '' }) => `[ ] ${name}`);

    expect(
      (await typeorm('migration:show')).split('\n').filter((line) => pending.includes(line.trim())),
    ).toHaveLength(pending.length);
    await typeorm('migration:run', '-t', 'each');
    expect(await dataSource.showMigrations()).toBe(false);
    await dataSource.destroy();
  });
});
