import type pg from 'pg';
import { createLogger } from '../../common/observability/logger.js';
import { postgresPool } from './postgres-connections.js';
import type { Queryable } from '../queryable.js';

const logger = createLogger('database');

/**
 * Connections of a gateway process, which reads a few rows occasionally. Entities, migrations and transactions belong to the
 * administration: loading their code would cost each gateway process memory and startup time.
 */
export class QueryPool implements Queryable {
  private readonly pool: pg.Pool;
  private isAwaited = false;

  /** `size`: the most connections; none is opened before the first statement. */
  constructor(url: string, size: number) {
    this.pool = postgresPool(
      'requests',
      { connectionString: url, max: size, application_name: 'gatehouse gateway' },
      (error) => logger.warn({ err: error }, 'An idle connection to the database was lost.'),
    );
  }

  /**
   * Refuses every statement at once, as if the database were unavailable, until `there` settles: a process that starts in an outage cannot
   * know whether the schema is that of this release.
   */
  awaitDatabase(there: Promise<void>): void {
    this.isAwaited = true;
    void there.then(() => (this.isAwaited = false));
  }

  /** Whether the database has been unavailable since the start. */
  get isAwaiting(): boolean {
    return this.isAwaited;
  }

  async query<Row>(sql: string, parameters?: unknown[]): Promise<Row[]> {
    if (this.isAwaited) throw new NotThereYet();
    const { rows } = await this.pool.query(sql, parameters);
    return rows as Row[];
  }

  /** Ends idle connections, and busy ones together with their statement. */
  async close(): Promise<void> {
    await this.pool.end();
  }
}

/** Has PostgreSQL's code for a server that accepts no connections now (cannot_connect_now). */
class NotThereYet extends Error {
  readonly code = '57P03';

  constructor() {
    super(
      'The database was unavailable when this process started, and its schema has not been checked since.',
    );
  }
}
