import pg from 'pg';
import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import type { StatementNames } from './statement-names.js';
import { runAfter, type Statement } from './tenant-statement.js';
import type { Tenancy, TenantWall } from './tenant-wall.js';

/** What of `pg`'s connection a session uses, and all that TypeORM's runner asks of what it is given as one. */
interface Connection {
  query(statement: pg.Submittable): unknown;
  query(text: string): Promise<pg.QueryResult | pg.QueryResult[]>;
}

interface GivenConnection {
  query(text: string, values?: unknown[]): Promise<pg.QueryResult>;
}

/** The two members of a runner that say where a transaction begins. */
interface Runner extends Omit<QueryRunner, 'connect' | 'isTransactionActive'> {
  connect(): Promise<Connection | GivenConnection>;
  isTransactionActive: boolean;
}

const START = 'START TRANSACTION';

/**
 * What one administrative request does in the database. It takes a connection with its first statement: a request that
 * needs no database takes none.
 *
 * TypeORM would begin a transaction by itself and nothing else with it. Here the runner is given a connection that sends
 * who is asking along with the statement, in one round trip. Each statement of a reader is a transaction of its own, as each sees
 * what was committed by then anyway; those of a writer are one, which its first statement begins.
 */
export class TenantSession {
  private runner: Runner | undefined;
  private connection: Promise<Connection> | undefined;
  /** The first statement of a writer, which begins the transaction. */
  private beginning: Promise<pg.QueryResult> | undefined;
  private readonly parting: string[] = [];

  constructor(
    private readonly dataSource: DataSource,
    private readonly wall: TenantWall,
    private readonly names: StatementNames,
    readonly tenancy: Tenancy,
  ) {}

  get manager(): EntityManager {
    return (this.runner ??= this.open()).manager;
  }

  /** Whether there is a transaction that will be committed. */
  get hasBegun(): boolean {
    return this.beginning !== undefined;
  }

  /** Notifies a channel when the transaction that has begun commits, with its last round trip: https://www.postgresql.org/docs/current/sql-notify.html */
  notify(channel: string, payload: string): void {
    this.parting.push(`SELECT pg_notify(${pg.escapeLiteral(channel)}, ${pg.escapeLiteral(payload)})`);
  }

  async commit(): Promise<void> {
    await this.end(async (connection) => {
      const ended = await this.committed(connection);
      // PostgreSQL answers so, without an error, when a statement had failed and nobody minded.
      if ([ended].flat().at(-1)?.command !== 'COMMIT')
        throw new Error('The transaction was rolled back, because a statement in it had failed.');
    });
  }

  /** Never rejects: what went wrong before is what the caller must hear. */
  async rollback(): Promise<void> {
    await this.end((connection) => connection.query('ROLLBACK')).catch(() => undefined);
  }

  /** Gives the connection back while something else is waited for. What was read stays read; the next statement takes one anew. */
  async pause(): Promise<void> {
    if (this.tenancy.isReading) await this.commit();
  }

  private open(): Runner {
    const runner = this.dataSource.createQueryRunner() as unknown as Runner;
    const connect = runner.connect.bind(runner) as () => Promise<Connection>;
    const given = { query: (text: string, values: unknown[] = []) => this.send(connect, text, values) };
    runner.connect = () => Promise.resolve(given);
    // So that nothing within begins, or commits, one of its own.
    runner.isTransactionActive = true;
    return runner;
  }

  private async send(
    connect: () => Promise<Connection>,
    text: string,
    values: unknown[],
  ): Promise<pg.QueryResult> {
    const entrance = await this.wall.entrance(this.tenancy);
    const connection = await (this.connection ??= connect());
    const statement = { text, values, name: this.names.of(text) };
    try {
      if (this.tenancy.isReading) return await runAfter(connection, [entrance], statement);
      if (this.beginning) return await this.goOn(connection, statement);
      const start = { text: START, values: [], name: this.names.ofOwn(START) };
      return await (this.beginning = runAfter(connection, [start, entrance], statement));
    } catch (error) {
      this.names.hear(error);
      throw error;
    }
  }

  /** Only behind a beginning that succeeded: else there might be no transaction, and the statement would be nobody's. */
  private async goOn(connection: Connection, statement: Statement): Promise<pg.QueryResult> {
    await this.beginning;
    return runAfter(connection, [], statement);
  }

  private async committed(connection: Connection): Promise<pg.QueryResult | pg.QueryResult[]> {
    try {
      await this.beginning;
      return await connection.query([...this.parting, 'COMMIT'].join('; '));
    } catch (error) {
      await connection.query('ROLLBACK').catch(() => undefined);
      throw error;
    }
  }

  private async end(finish: (connection: Connection) => Promise<unknown>): Promise<void> {
    const { runner, connection } = this;
    if (!runner) return;
    this.runner = undefined;
    this.connection = undefined;
    try {
      if (connection && this.beginning) await finish(await connection);
    } finally {
      this.beginning = undefined;
      runner.isTransactionActive = false;
      await runner.release();
    }
  }
}
