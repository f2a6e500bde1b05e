import type { DataSource, EntityManager, QueryRunner } from 'typeorm';
import type { Tenancy, TenantWall } from './tenant-wall.js';

interface Connection {
  query(sql: string): Promise<{ readonly command: string }>;
}

/** The two members of a runner that say where a transaction begins. */
interface Runner extends Omit<QueryRunner, 'connect' | 'isTransactionActive'> {
  connect(): Promise<Connection>;
  isTransactionActive: boolean;
}

/**
 * The transaction of one administrative request. It begins with the first statement: a request that needs no database
 * takes no connection.
 *
 * TypeORM would send the beginning by itself and nothing else with it. Here the runner's connection arrives with the
 * transaction begun and the tenant set, in one round trip.
 */
export class TenantSession {
  private runner: Runner | undefined;
  private connection: Promise<Connection> | undefined;

  constructor(
    private readonly dataSource: DataSource,
    private readonly wall: TenantWall,
    readonly tenancy: Tenancy,
  ) {}

  get manager(): EntityManager {
    return (this.runner ??= this.open()).manager;
  }

  async commit(): Promise<void> {
    await this.end(async (connection) => {
      const { command } = await connection.query('COMMIT');
      // PostgreSQL answers so, without an error, when a statement had failed and nobody minded.
      if (command !== 'COMMIT')
        throw new Error('The transaction was rolled back, because a statement in it had failed.');
    });
  }

  /** Never rejects: what went wrong before is what the caller must hear. */
  async rollback(): Promise<void> {
    await this.end((connection) => connection.query('ROLLBACK')).catch(() => undefined);
  }

  /** Gives the connection back while something else is waited for. What was read stays read; the next statement begins anew. */
  async pause(): Promise<void> {
    if (this.tenancy.isReading) await this.commit();
  }

  private open(): Runner {
    const runner = this.dataSource.createQueryRunner() as unknown as Runner;
    const connect = runner.connect.bind(runner);
    runner.connect = () => (this.connection ??= this.begin(connect));
    // So that nothing within begins, or commits, one of its own.
    runner.isTransactionActive = true;
    return runner;
  }

  private async begin(connect: Runner['connect']): Promise<Connection> {
    const beginning = await this.wall.beginning(this.tenancy);
    const connection = await connect();
    await connection.query(beginning);
    return connection;
  }

  private async end(finish: (connection: Connection) => Promise<unknown>): Promise<void> {
    const { runner, connection } = this;
    if (!runner) return;
    this.runner = undefined;
    this.connection = undefined;
    try {
      if (connection) await finish(await connection);
    } finally {
      runner.isTransactionActive = false;
      await runner.release();
    }
  }
}
