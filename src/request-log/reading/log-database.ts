import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { AppError } from '../../common/errors/app-error.js';
import { createLogger } from '../../common/observability/logger.js';
import { POSTGRES_TIMEOUTS } from '../../common/net/store-timeouts.js';
import { AsyncContext } from '../../database/async-context.js';
import { postgresPool } from '../../database/sessions/postgres-connections.js';
import { UnitOfWork } from '../../database/unit-of-work.js';

const CONNECTIONS = 2;
const STATEMENT_TIMEOUT_S = POSTGRES_TIMEOUTS.logReading.serverMs / 1_000;
/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const QUERY_CANCELED = '57014';
/**
 * JIT compilation takes longer than most of these queries, and so do parallel workers for an index range of a few MB: 90,000 rows by end
 * user take 30 ms alone and 40 ms with two more workers, on two cores. Groups over millions of requests need some 20 MB, which by default
 * would spill to disk.
 */
const SESSION = '-c jit=off -c work_mem=32MB -c parallel_setup_cost=50000';

/** A row by column name, with values as the driver returns them. */
export type AnyRow = Readonly<Record<string, unknown>>;

/**
 * Reads the request log through a separate pool of two connections per process, opened on demand.
 *
 * However heavy the reads, they cannot take the connections that the data plane needs to look up keys, and each ends within five seconds
 * (`query_timeout`). Only rows of the caller's organization are visible. A request uses one connection at a time, however many reads it
 * starts. A caller that gets no connection within two seconds is refused (`database_busy`).
 */
@Injectable()
export class LogDatabase implements OnApplicationShutdown {
  private readonly pool: pg.Pool;
  private readonly session = new AsyncContext<ReadSession>();

  constructor(
    dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
  ) {
    const { options } = dataSource;
    const log = createLogger('log-database');
    this.pool = postgresPool(
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
    return this.with(async (client) => (await client.query<Row>(sql, [...parameters])).rows);
  }

  /** Passes each row to `take` on arrival, so that they are never all in memory. Resolves after the last one. */
  each(sql: string, parameters: readonly unknown[], take: (row: AnyRow) => void): Promise<void> {
    return this.with((client) => eachRow(client.query(new pg.Query(sql, [...parameters])), take));
  }

  /** Runs all reads that `work` starts in one transaction, one after another, instead of one for each: each costs two more round trips. */
  together<T>(work: () => Promise<T>): Promise<T> {
    return this.with((client) => this.session.run({ client, lastRead: Promise.resolve() }, work));
  }

  private with<T>(run: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const session = this.session.get();
    if (session) return nextIn(session, run);
    return this.unitOfWork.inTurn(() => this.connected(run));
  }

  private async connected<T>(run: (client: pg.PoolClient) => Promise<T>): Promise<T> {
    const beginning = await this.unitOfWork.beginningElsewhere();
    const client = await this.pool.connect();
    try {
      if (beginning !== null) await client.query(beginning);
      const answer = await run(client);
      if (beginning !== null) await client.query('COMMIT');
      client.release();
      return answer;
    } catch (error) {
      // Closing the connection ends its transaction in any state.
      client.release(true);
      throw (error as { readonly code?: unknown }).code === QUERY_CANCELED ? tooSlow(error) : error;
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.pool.end();
  }
}

/** Reads that share a transaction. */
interface ReadSession {
  readonly client: pg.PoolClient;
  /** Settles with the last read that was started. */
  lastRead: Promise<unknown>;
}

/** After a failure the transaction is over, so the reads behind it fail in the same way. */
function nextIn<T>(session: ReadSession, run: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const read = session.lastRead.then(() => run(session.client));
  session.lastRead = read;
  return read;
}

const tooSlow = (cause: unknown): AppError =>
  new AppError('query_timeout', { seconds: STATEMENT_TIMEOUT_S }, { cause });

/** An error thrown by `take` must not reach the calling connection, which would not catch it. */
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
