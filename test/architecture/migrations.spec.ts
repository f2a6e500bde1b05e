import { readFileSync } from 'node:fs';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { describe, expect, it } from 'vitest';
import { createDataSource } from '../../src/schema/data-source.js';

/** The migrations of 0.1.0, which only ever run on an empty database. */
const FIRST_RELEASE = 14;

type MigrationClass = new () => MigrationInterface;

const migrations = (createDataSource('postgres://localhost/unused').options.migrations as MigrationClass[])
  .slice(FIRST_RELEASE)
  .map((migration) => new migration());

/** What a migration would execute. A database that knows nothing returns no rows. */
async function statementsOf(migration: MigrationInterface): Promise<string> {
  const statements: string[] = [];
  const query = (sql: string) => {
    statements.push(sql);
    return Promise.resolve([]);
  };
  await migration.up({ query, manager: { query } } as unknown as QueryRunner);
  return statements.join(';\n');
}

/** Tables that the statements create, which no process writes to yet. */
const createdIn = (statements: string): Set<string> =>
  new Set([...statements.matchAll(/CREATE TABLE (\w+)/g)].map(([, table = '']) => table));

/** Indexes of existing tables that are built while writers wait. */
const blockingIndexes = (statements: string): string[] =>
  [...statements.matchAll(/CREATE (?:UNIQUE )?INDEX (?!CONCURRENTLY)(?:IF NOT EXISTS )?(\w+)\s+ON (\w+)/g)]
    .filter(([, , table = '']) => !createdIn(statements).has(table))
    .map(([, index = '']) => index);

/** What instances of the release before cannot run with. */
const INCOMPATIBLE =
  /DROP TABLE|DROP COLUMN|RENAME (?:COLUMN|TO)|ALTER COLUMN \w+ (?:TYPE|SET NOT NULL)|ADD COLUMN [^,;]*NOT NULL(?![^,;]*DEFAULT)/g;

describe.each(migrations)('migration $name', (migration) => {
  it('holds up no writer while it builds an index', async () => {
    expect(blockingIndexes(await statementsOf(migration))).toEqual([]);
  });

  it('leaves what instances of the release before use', async () => {
    expect((await statementsOf(migration)).match(INCOMPATIBLE)).toBeNull();
  });

  it('runs in a transaction unless it builds indexes', async () => {
    const buildsIndexes = /INDEX CONCURRENTLY/.test(await statementsOf(migration));
    expect(migration.transaction).toBe(buildsIndexes ? false : undefined);
  });
});

describe('these checks', () => {
  it('find a blocking index, and a change that the release before cannot run with', () => {
    const statements = readFileSync(
      new URL('../../src/schema/migrations/1763800000013-audit.ts', import.meta.url),
      'utf8',
    ).replaceAll('CREATE TABLE audit_records', 'ALTER TABLE audit_records');
    expect(blockingIndexes(statements)).toEqual([
      'audit_records_of_organization',
      'audit_records_of_request',
    ]);
    for (const change of [
      'ALTER TABLE a DROP COLUMN b',
      'ALTER TABLE a RENAME COLUMN b TO c',
      'ALTER TABLE a ALTER COLUMN b TYPE text',
      'ALTER TABLE a ADD COLUMN b text NOT NULL',
    ])
      expect(change.match(INCOMPATIBLE)).not.toBeNull();
    expect('ALTER TABLE a ADD COLUMN b text NOT NULL DEFAULT 1'.match(INCOMPATIBLE)).toBeNull();
  });
});
