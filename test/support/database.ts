import { randomBytes } from 'node:crypto';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { inject } from 'vitest';
import { createDataSource } from '../../src/schema/data-source.js';
import { connectionLimits } from '../../src/database/sessions/postgres-connections.js';
import { POSTGRES_TIMEOUTS } from '../../src/common/net/store-timeouts.js';
import { administer } from './administer.js';
import { eventually, PATIENCE_MS } from './waiting.js';

/** A database of its own for one test file, with the schema in place. */
export interface TestDatabase {
  readonly url: string;
  readonly dataSource: DataSource;
  /** Closes the connections and drops the database. */
  drop(): Promise<void>;
}

/** `isPatient`: whether statements may take longer than the service gives them. */
export async function freshDatabase(isPatient = true): Promise<TestDatabase> {
  const database = await madeAs(`TEMPLATE ${inject('templateDatabase')}`);
  const made = createDataSource(database.url);
  const dataSource = await (isPatient ? patient(made) : made).initialize();
  return {
    url: database.url,
    dataSource,
    drop: async () => {
      if (dataSource.isInitialized) await dataSource.destroy();
      await database.drop();
    },
  };
}

/** The connections of another process to the same database. */
export const anotherDataSource = (url: string): Promise<DataSource> =>
  patient(createDataSource(url)).initialize();

/**
 * The service gives a statement of a request two seconds and a connection three, and then says that it is busy. A test that
 * stores ten thousand rows, or asks a hundred times at once, on a machine that does other things wants to hear something else.
 */
function patient(dataSource: DataSource): DataSource {
  const limits = {
    connectTimeoutMS: PATIENCE_MS,
    extra: connectionLimits({
      ...POSTGRES_TIMEOUTS.requests,
      connectMs: PATIENCE_MS,
      serverMs: PATIENCE_MS,
      commandMs: PATIENCE_MS,
    }),
  };
  return dataSource.setOptions(limits);
}

/** A database without tables. */
export const emptyDatabase = (): Promise<BareDatabase> => madeAs('');

interface BareDatabase {
  readonly url: string;
  drop(): Promise<void>;
}

async function madeAs(origin: string): Promise<BareDatabase> {
  const server = inject('postgresUrl');
  const name = `gatehouse_test_${randomBytes(6).toString('hex')}`;
  await administer(server, `CREATE DATABASE ${name} ${origin}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => dropDatabase(server, name) };
}

/**
 * A pool says that it has ended before its sockets have, and a connection that is cut reports it to nobody, which ends the
 * process of the test. So they are waited for; one that stays is a mistake of the test, and named.
 */
async function dropDatabase(server: string, name: string): Promise<void> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  let open: string[] = [];
  const isFree = async (): Promise<boolean> => {
    const { rows } = await client.query<{ who: string }>(
      "SELECT format('%s: %s', application_name, query) AS who FROM pg_stat_activity WHERE datname = $1",
      [name],
    );
    open = rows.map(({ who }) => who);
    return open.length === 0;
  };
  try {
    await eventually(isFree, { everyMs: 20, what: 'the last connection to be closed' }).catch(
      () => undefined,
    );
    await client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  } finally {
    await client.end();
  }
  if (open.length > 0) throw new Error(`Nobody closed these connections:\n${open.join('\n')}`);
}
