import pg from 'pg';
import { createLogger } from '../observability/logger.js';
import { CONNECT_TIMEOUT_MS, PATIENCE, sessionLimits } from './patience.js';
import type { Queryable } from './queryable.js';

const logger = createLogger('database');

/**
 * Connections of a gateway process, which reads a few rows now and then. Entities, migrations and transactions are
 * the administration's: carrying their code along would cost each gateway process its memory and its start.
 */
export class QueryPool implements Queryable {
  private readonly pool: pg.Pool;

  /** `size`: connections at most; none is opened before the first statement. */
  constructor(url: string, size: number) {
    this.pool = new pg.Pool({
      connectionString: url,
      max: size,
      application_name: 'gatehouse gateway',
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      ...sessionLimits(PATIENCE.requests),
    });
    this.pool.on('error', (error) =>
      logger.warn({ err: error }, 'An idle connection to the database was lost.'),
    );
  }

  async query<Row>(sql: string, parameters?: unknown[]): Promise<Row[]> {
    const { rows } = await this.pool.query(sql, parameters);
    return rows as Row[];
  }

  /** Ends idle connections, and busy ones with their statement. */
  async close(): Promise<void> {
    await this.pool.end();
  }
}
