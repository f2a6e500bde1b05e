import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { DataSource, QueryRunner } from 'typeorm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runMigrations } from '../../../src/cli/database/run-migrations.js';
import { Secret } from '../../../src/common/settings/secret.js';
import { ADVISORY_LOCKS } from '../../../src/database/advisory-locks.js';
import { buildIndex } from '../../../src/schema/build-index.js';
import { createDataSource } from '../../../src/schema/data-source.js';
import { migrate } from '../../../src/schema/migrate.js';
import { emptyDatabase } from '../../support/database.js';
import { Started } from '../../support/started.js';
import { eventually } from '../../support/waiting.js';

const started = new Started();
let url: string;
let dataSource: DataSource;

beforeEach(async () => {
  const database = started.add(await emptyDatabase(), (it) => it.drop());
  url = database.url;
  dataSource = started.add(await createDataSource(url, 3, 'migrations').initialize(), (it) => it.destroy());
});
afterEach(() => started.end());

async function client(): Promise<pg.Client> {
  const made = started.add(new pg.Client({ connectionString: url }), (it) => it.end());
  made.on('error', () => undefined);
  await made.connect();
  return made;
}

const ROWS = 300_000;
const INDEX = { name: 'entries_by_number', table: 'entries', columns: '(number DESC) INCLUDE (text)' };

/** A table like the ones of the log: large, and partitioned or not. */
async function fill(isPartitioned: boolean): Promise<void> {
  const parts = [0, 1].map(
    (at) =>
      `CREATE TABLE entries_${at} PARTITION OF entries FOR VALUES FROM (${at * 1_000_000}) TO (${at + 1}000000)`,
  );
  await dataSource.query(`
    CREATE TABLE entries (number bigint NOT NULL, text text NOT NULL) ${isPartitioned ? 'PARTITION BY RANGE (number)' : ''};
    ${isPartitioned ? `${parts.join(';')};` : ''}
    INSERT INTO entries SELECT n, repeat('x', 100) FROM generate_series(1, ${ROWS}) n`);
}

/** Indexes of the table and its partitions, by name, and whether they are valid. */
async function indexes(): Promise<Record<string, boolean>> {
  const rows = await dataSource.query<{ name: string; valid: boolean }[]>(
    `SELECT indexrelid::regclass::text AS name, indisvalid AS valid FROM pg_index
     WHERE indrelid::regclass::text LIKE 'entries%' ORDER BY 1`,
  );
  return Object.fromEntries(rows.map(({ name, valid }) => [name, valid]));
}

/** A transaction that a concurrent build waits for. It leaves the parent alone, whose index takes a short lock. */
async function beginOlder(isPartitioned: boolean): Promise<pg.Client> {
  const older = await client();
  await older.query(`BEGIN; INSERT INTO ${isPartitioned ? 'entries_0' : 'entries'} VALUES (1, 'older')`);
  return older;
}

const isBuilding = async (): Promise<boolean> =>
  (
    await dataSource.query<unknown[]>(
      'SELECT FROM pg_stat_progress_create_index WHERE datname = current_database()',
    )
  ).length > 0;

async function withRunner<T>(work: (runner: QueryRunner) => Promise<T>): Promise<T> {
  const runner = dataSource.createQueryRunner();
  try {
    return await work(runner);
  } finally {
    await runner.release();
  }
}

const FORMS = [
  ['a table', false],
  ['a partitioned table', true],
] as const;

describe.each(FORMS)('the index of %s', (_, isPartitioned) => {
  beforeEach(() => fill(isPartitioned));

  const finished = isPartitioned
    ? { entries_by_number: true, entries_0_by_number: true, entries_1_by_number: true }
    : { entries_by_number: true };

  it('is built while rows are written', async () => {
    const writer = await client();
    await writer.query("SET lock_timeout = '1s'");
    let isOver = false;
    let writtenDuringBuild = 0;
    const writing = (async () => {
      for (let number = ROWS + 1; !isOver; number++) {
        const began = await isBuilding();
        await writer.query('INSERT INTO entries VALUES ($1, $2)', [number, 'written']);
        if (began && (await isBuilding())) writtenDuringBuild += 1;
      }
    })();

    // The build waits for a transaction that is older, so that it certainly is under way for a while.
    const older = await beginOlder(isPartitioned);
    const build = withRunner((runner) => buildIndex(runner, INDEX));
    await eventually(() => Promise.resolve(writtenDuringBuild > 5), {
      what: 'rows during the build',
    }).finally(() => older.query('COMMIT'));
    await build;
    isOver = true;
    await writing;

    expect(await indexes()).toEqual(finished);
  });

  it('is built again after its build was cancelled', async () => {
    const older = await beginOlder(isPartitioned);
    const build = withRunner((runner) => buildIndex(runner, INDEX)).catch((error: unknown) => error);
    await eventually(isBuilding, { what: 'the build' });
    await dataSource.query(
      'SELECT pg_terminate_backend(pid) FROM pg_stat_progress_create_index WHERE datname = current_database()',
    );
    expect(await build).toBeInstanceOf(Error);
    await older.query('COMMIT');
    expect(Object.values(await indexes())).toContain(false);

    await withRunner((runner) => buildIndex(runner, INDEX));

    expect(await indexes()).toEqual(finished);
    await withRunner((runner) => buildIndex(runner, INDEX));
    expect(await indexes()).toEqual(finished);
  });
});

describe('the migrations', () => {
  it('build indexes while another instance waits for the lock', async () => {
    const other = started.add(await createDataSource(url, 2, 'migrations').initialize(), (it) =>
      it.destroy(),
    );
    await Promise.all([migrate(dataSource), migrate(other)]);
    expect(await dataSource.showMigrations()).toBe(false);
  });

  it('wait for an instance that was killed, until PostgreSQL has ended its statement', async () => {
    const killed = await client();
    await killed.query(`SELECT pg_advisory_lock(${ADVISORY_LOCKS.migrations})`);
    let isDone = false;
    const migrating = migrate(dataSource).then(() => (isDone = true));
    await sleep(600);
    expect(isDone).toBe(false);
    await killed.end();
    await migrating;
  });

  it('are tried again when a table that they lock is in use, and then say how to find its user', async () => {
    await migrate(dataSource);
    await dataSource.undoLastMigration();
    // It stands for any table that a migration locks.
    const user = await client();
    await user.query('BEGIN; LOCK TABLE migrations IN SHARE MODE');

    await expect(runMigrations(dataSource, new Secret(url), { lockRetryMs: 0 })).rejects.toThrow(
      'A migration could not lock a table, because a transaction of another client uses it.',
    );
    const migrating = migrate(dataSource);
    await sleep(3_000);
    await user.query('COMMIT');
    await migrating;
    expect(await dataSource.showMigrations()).toBe(false);
  });
});
