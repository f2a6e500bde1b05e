import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AnyRow, LogDatabase } from '../../../src/request-log/reading/log-database.js';
import { toAdministrationError } from '../../../src/admin/http/error.filter.js';
import { UnitOfWork } from '../../../src/database/unit-of-work.js';
import { createDataSource } from '../../../src/schema/data-source.js';
import { freshDatabase, type TestDatabase } from '../../support/database.js';
import { TcpProxy } from '../../support/tcp-proxy.js';

let database: TestDatabase;
let unit: UnitOfWork;
let logs: LogDatabase;

beforeAll(async () => {
  database = await freshDatabase();
  unit = new UnitOfWork(database.dataSource);
  logs = new LogDatabase(database.dataSource, unit);
});
afterAll(async () => {
  await logs.onApplicationShutdown();
  await database.drop();
});

const NUMBERS = 'SELECT number, repeat($1, 1000) AS text FROM generate_series(1, 10000) AS number';
const SLEEPING = 'SELECT pg_sleep(4)';
const CUT = `${SLEEPING} AS cut`;
const noRow = (): void => undefined;

const withPort = (url: string, port: number): string => {
  const at = new URL(url);
  at.port = String(port);
  return at.href;
};

/** Reads as a tenant does, in a transaction, and as the service itself does. */
const tenant = <T>(read: () => Promise<T>): Promise<T> =>
  unit.runFor({ organizationId: randomUUID(), isReading: true }, read);
const WAYS = { 'of a tenant': tenant, 'of the service': <T>(read: () => Promise<T>) => read() };

async function cutConnections(): Promise<void> {
  for (let cut = 0; cut === 0; await sleep(20))
    [{ cut }] = await database.dataSource.query(
      `SELECT count(pg_terminate_backend(pid))::int AS cut FROM pg_stat_activity
       WHERE application_name = 'gatehouse-logs' AND query = $1 AND datname = current_database()`,
      [CUT],
    );
}

describe.each(Object.entries(WAYS))('a reader %s', (_, as) => {
  it('receives each row once and in order, and ends with the last', async () => {
    const seen: AnyRow[] = [];
    await as(() => logs.each(NUMBERS, ['x'], (row) => seen.push(row)));

    expect(seen.map(({ number }) => number)).toEqual(Array.from({ length: 10_000 }, (__, at) => at + 1));
    expect(seen.at(-1)?.['text']).toBe('x'.repeat(1_000));
  });

  it('receives the error of the database, also after rows that came, and can read again', async () => {
    let rows = 0;
    const dividing = as(() =>
      logs.each('SELECT 1 / (500 - number) FROM generate_series(1, 1000) AS number', [], () => (rows += 1)),
    );

    await expect(dividing).rejects.toThrow('division by zero');
    expect(rows).toBeLessThan(500);
    await as(() => logs.each(NUMBERS, ['x'], noRow));
  });

  it('receives the error of a row handler, and no row comes after it', async () => {
    let rows = 0;
    const taking = as(() =>
      logs.each(NUMBERS, ['x'], () => {
        rows += 1;
        throw new Error('this row is none');
      }),
    );

    await expect(taking).rejects.toThrow('this row is none');
    expect(rows).toBe(1);
    await as(() => logs.each(NUMBERS, ['x'], noRow));
  });

  it('receives the loss of the database connection, and the process continues', async () => {
    const { hostname, port } = new URL(database.url);
    const line = await TcpProxy.start({ host: hostname, port: Number(port) });
    const options = { ...database.dataSource.options, url: withPort(database.url, line.port) };
    const far = new LogDatabase({ options } as DataSource, unit);
    const ways: (() => Promise<unknown>)[] = [
      () => far.read(SLEEPING, []),
      () => far.each(SLEEPING, [], noRow),
    ];
    for (const read of ways) {
      const broken = expect(as(read)).rejects.toThrow(/ECONNRESET|terminated/);
      await sleep(500);
      line.mode = 'refuse';
      await broken;
      await sleep(50);
      line.mode = 'pass';
    }
    await far.onApplicationShutdown();
    await line.stop();
  });

  it.each(['read', 'each'] as const)(
    'reports by %s that its connection broke, and the next one reads',
    async (way) => {
      const broken = as(async () => (way === 'read' ? logs.read(CUT, []) : logs.each(CUT, [], noRow)));
      await Promise.all([expect(broken).rejects.toThrow(/terminat/), cutConnections()]);
      await sleep(50);

      await as(() => logs.each(NUMBERS, ['x'], noRow));
    },
  );
});

const codeOf = (failure: unknown): string => toAdministrationError(failure, { contentType: 'none' }).code;
/** The codes of reads that were refused, in any order. */
const refusals = async (reads: readonly Promise<unknown>[]): Promise<readonly string[]> =>
  (await Promise.allSettled(reads)).flatMap((each) =>
    each.status === 'rejected' ? [codeOf(each.reason)] : [],
  );

describe('a pool whose connections are all taken', () => {
  it('refuses with "database_busy" when other reads use them', async () => {
    const reads = [1, 2, 3].map(() => logs.read(SLEEPING, []));

    expect(await refusals(reads)).toEqual(['database_busy']);
    await logs.each(NUMBERS, ['x'], noRow);
  });

  it('refuses with "database_busy" for entities, too', async () => {
    const small = createDataSource(database.url, 1, 'logReading');
    await small.initialize();
    const reads = [1, 2].map(() => small.query(SLEEPING));

    expect(await refusals(reads)).toEqual(['database_busy']);
    await small.destroy();
  });

  it('refuses with "database_unavailable" when none of them can be opened', async () => {
    const { hostname, port } = new URL(database.url);
    const line = await TcpProxy.start({ host: hostname, port: Number(port) });
    line.mode = 'blackhole';
    const options = { ...database.dataSource.options, url: withPort(database.url, line.port) };
    const far = new LogDatabase({ options } as DataSource, unit);
    const reads = [1, 2, 3].map(() => far.read(SLEEPING, []));

    expect(await refusals(reads)).toEqual(Array(3).fill('database_unavailable'));
    await far.onApplicationShutdown();
    await line.stop();
  });
});

describe('the reads that a request starts at once', () => {
  const WHO = 'SELECT pg_backend_pid() AS connection, pg_sleep(0.1)';

  it('use one connection, so that two requests cannot take all of them', async () => {
    const read = (): Promise<readonly AnyRow[]> => logs.read(WHO, []);
    const reads = await tenant(() => Promise.all([read(), read(), read(), read()]));

    expect(new Set(reads.flat().map(({ connection }) => connection)).size).toBe(1);
  });

  it('do not begin once the request failed with one of them', async () => {
    const late: Promise<unknown>[] = [];
    const reading = tenant(() => {
      const failing = logs.read('SELECT 1 / 0', []);
      late.push(logs.read(WHO, []).catch((error: unknown) => error));
      return failing;
    });

    await expect(reading).rejects.toThrow('division by zero');
    expect(await Promise.all(late)).toEqual([
      expect.objectContaining({ message: expect.stringContaining('ended') }),
    ]);
  });
});
