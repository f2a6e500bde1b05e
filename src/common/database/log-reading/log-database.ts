import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { createLogger } from '../../observability/logger.js';
import { UnitOfWork } from '../unit-of-work.js';

const CONNECTIONS = 2;
const STATEMENT_TIMEOUT_MS = 5_000;
const WAIT_MS = 2_000;
const IDLE_MS = 10_000;
/**
 * Compiling a statement takes longer than most of these run. Counting end users sorts some 15 MB, which by default goes by way of the disk.
 */
const SESSION = '-c jit=off -c work_mem=32MB';

/**
 * Where the request log is read: a pool of its own, of two connections per process that are opened when needed.
 *
 * However heavy the reading, it can neither take the connections that the data plane asks for keys with, nor run longer
 * than five seconds. It sees the rows of the caller's organization and no others. Who finds both connections taken for two seconds is refused.
 */
@Injectable()
export class LogDatabase implements OnApplicationShutdown {
  readonly #pool: pg.Pool;

  constructor(
    dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
  ) {
    const { options } = dataSource;
    this.#pool = new pg.Pool({
      connectionString: 'url' in options ? options.url : undefined,
      application_name: 'gatehouse-logs',
      max: CONNECTIONS,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      options: SESSION,
      connectionTimeoutMillis: WAIT_MS,
      idleTimeoutMillis: IDLE_MS,
      allowExitOnIdle: true,
    });
    const log = createLogger('log-database');
    // An idle connection that breaks is reported here, and would end the process if nobody listened.
    this.#pool.on('error', (error) => log.warn({ err: error }, 'an idle connection broke'));
  }

  async read<Row extends pg.QueryResultRow>(
    sql: string,
    parameters: readonly unknown[],
  ): Promise<readonly Row[]> {
    const beginning = await this.unitOfWork.beginningElsewhere();
    if (beginning === null) return (await this.#pool.query<Row>(sql, [...parameters])).rows;
    const client = await this.#pool.connect();
    try {
      await client.query(beginning);
      const { rows } = await client.query<Row>(sql, [...parameters]);
      await client.query('COMMIT');
      client.release();
      return rows;
    } catch (error) {
      // With the connection its transaction ends, whatever state it was in.
      client.release(true);
      throw error;
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.#pool.end();
  }
}
