import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { AppError } from '../../common/errors/app-error.js';
import { createLogger } from '../../common/observability/logger.js';
import { POSTGRES_TIMEOUTS } from '../../common/net/store-timeouts.js';
import { postgresPool } from '../../database/sessions/postgres-connections.js';
import { UnitOfWork } from '../../database/unit-of-work.js';

const CONNECTIONS = 2;
const STATEMENT_TIMEOUT_S = POSTGRES_TIMEOUTS.logReading.serverMs / 1_000;
/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const QUERY_CANCELED = '57014';
/**
 * Compiling a statement takes longer than most of these run, and so does starting processes for a range of an index of some MB: 90,000 rows by
 * end user take 30 ms alone and 40 together with two more processes, on two cores. Groups of millions of requests hold some 20 MB, which by
 * default go by way of the disk.
 */
const SESSION = '-c jit=off -c work_mem=32MB -c parallel_setup_cost=50000';

/** A row by the names of its columns, its values as the driver reads them. */
export type AnyRow = Readonly<Record<string, unknown>>;

/**
 * Where the request log is read: a pool of its own, of two connections per process that are opened when needed.
 *
 * However heavy the reading, it can neither take the connections that the data plane asks for keys with, nor run longer
 * than five seconds (`query_timeout`). It sees the rows of the caller's organization and no others. Who finds both connections taken for two seconds is refused.
 */
@Injectable()
export class LogDatabase implements OnApplicationShutdown {
  readonly #pool: pg.Pool;

  constructor(
    dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
  ) {
    const { options } = dataSource;
    const log = createLogger('log-database');
    this.#pool = postgresPool(
      'logReading',
      {
        connectionString: 'url' in options ? options.url : undefined,
        application_name: 'gatehouse-logs',
        max: CONNECTIONS,
        options: SESSION,
        allowExitOnIdle: true,
      },
      (error) => log.warn({ err: error }, 'An idle connection to the database was lost.'),
    );
  }

  read<Row extends pg.QueryResultRow>(sql: string, parameters: readonly unknown[]): Promise<readonly Row[]> {
    return this.#with(async (client) => (await client.query<Row>(sql, [...parameters])).rows);
  }

  /** Gives each row to `take` when it comes, so that they are not all held at once, and is over with the last of them. */
  each(sql: string, parameters: readonly unknown[], take: (row: AnyRow) => void): Promise<void> {
    return this.#with((client) => eachRow(client.query(new pg.Query(sql, [...parameters])), take));
  }

  async #with<T>(run: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const beginning = await this.unitOfWork.beginningElsewhere();
    const client = await this.#pool.connect();
    try {
      if (beginning !== null) await client.query(beginning);
      const answer = await run(client);
      if (beginning !== null) await client.query('COMMIT');
      client.release();
      return answer;
    } catch (error) {
      // With the connection its transaction ends, whatever state it was in.
      client.release(true);
      throw (error as { readonly code?: unknown }).code === QUERY_CANCELED ? tooSlow(error) : error;
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#pool.end();
  }
}

const tooSlow = (cause: unknown): AppError =>
  new AppError('query_timeout', { seconds: STATEMENT_TIMEOUT_S }, { cause });

/** What `take` throws must not reach the connection that calls it: it would not be caught there. */
async function eachRow(query: pg.Query, take: (row: AnyRow) => void): Promise<void> {
  const failures: unknown[] = [];
  query.on('row', (row: AnyRow) => {
    if (failures.length > 0) return;
    try {
      take(row);
    } catch (failure) {
      failures.push(failure);
    }
  });
  await new Promise((resolve, reject) => query.on('end', resolve).on('error', reject));
  if (failures.length > 0) throw failures[0];
}
