import type pg from 'pg';
import { type DataSource, type EntityManager, QueryFailedError, type QueryRunner } from 'typeorm';
import type { Release } from '../../common/processes/slots.js';
import type { FinishedWork } from '../commit-hook.js';
import type { PlainQuery } from '../plain-queries/plain-find.js';
import type { StatementNames } from './statement-names.js';
import { runAfter, type Statement } from './tenant-statement.js';
import type { Tenancy, TenantWall } from './tenant-wall.js';
import type { Writers } from './writers.js';

/** What of `pg`'s connection a session uses, and all that TypeORM's runner asks of what it is given as one. */
interface Connection {
  query(statement: pg.Submittable): unknown;
  query(text: string): Promise<pg.QueryResult | pg.QueryResult[]>;
}

interface GivenConnection {
  query(text: string, values?: unknown[]): Promise<pg.QueryResult>;
}

/** What all sessions of a process share. */
export interface TenantSessionContext {
  readonly dataSource: DataSource;
  readonly wall: TenantWall;
  readonly names: StatementNames;
  readonly writers: Writers;
}

/** The members of a runner that say where a transaction begins, and who runs its statements. */
interface Runner extends Omit<QueryRunner, 'connect' | 'isTransactionActive' | 'query'> {
  connect(): Promise<Connection | GivenConnection>;
  isTransactionActive: boolean;
  query(text: string, values?: unknown[], isStructured?: boolean): Promise<unknown>;
}

const START = 'START TRANSACTION';
const COMMIT = 'COMMIT';
const NOTIFY = 'SELECT pg_notify($1, $2)';

/**
 * What one administrative request does in the database. It takes a connection with its first statement: a request that
 * needs no database takes none.
 *
 * TypeORM would begin a transaction by itself and nothing else with it. Here the runner is given a connection that sends
 * who is asking along with the statement, in one round trip. Each statement of a reader is a transaction of its own, as each sees
 * what was committed by then anyway; those of a writer are one, which its first statement begins.
 */
export class TenantSession implements FinishedWork {
  private runner: Runner | undefined;
  private connection: Promise<Connection> | undefined;
  private connect: () => Promise<Connection> = () => Promise.reject(new Error('Nothing is open.'));
  /** The first statement of a writer, which begins the transaction. */
  private beginning: Promise<unknown> | undefined;
  private writing: Promise<Release> | undefined;
  private entrance: Promise<Statement> | undefined;
  private readonly parting: Statement[] = [];

  constructor(
    private readonly shared: TenantSessionContext,
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
    this.parting.push({ text: NOTIFY, values: [channel, payload], name: this.shared.names.ofOwn(NOTIFY) });
  }

  async commit(): Promise<void> {
    if (this.beginning) await this.commitAfter([]);
    else await this.end(() => Promise.resolve());
  }

  query<Rows>(text: string, values: readonly unknown[] = []): Promise<Rows> {
    return this.manager.query<Rows>(text, [...values]);
  }

  async commitAfter(statements: readonly PlainQuery[]): Promise<void> {
    const last = statements.map(({ text, values }) => ({ text, values, name: this.shared.names.of(text) }));
    const commit = { text: COMMIT, values: [], name: this.shared.names.ofOwn(COMMIT) };
    const { command } = await this.heard(() => this.finish(last, commit));
    this.beginning = undefined;
    await this.end(() => Promise.resolve());
    // PostgreSQL answers so, without an error, when a statement had failed and nobody minded.
    if (command !== COMMIT)
      throw new Error('The transaction was rolled back, because a statement in it had failed.');
  }

  /** Never rejects: the earlier failure is the one to report. */
  async rollback(): Promise<void> {
    await this.end((connection) => connection.query('ROLLBACK')).catch(() => undefined);
  }

  /** Gives the connection back while something else is waited for. What was read stays read; the next statement takes one again. */
  async pause(): Promise<void> {
    if (this.tenancy.isReading) await this.commit();
  }

  private open(): Runner {
    const runner = this.shared.dataSource.createQueryRunner() as unknown as Runner;
    const connect = runner.connect.bind(runner) as () => Promise<Connection>;
    this.connect = this.tenancy.isReading ? connect : () => this.connectAsWriter(connect);
    const given = { query: (text: string, values: unknown[] = []) => this.send(runner, text, values) };
    runner.connect = () => Promise.resolve(given);
    // So that nothing within begins, or commits, one of its own.
    runner.isTransactionActive = true;
    const usual = runner.query.bind(runner);
    // One that was released refuses: its connection is somebody else's by then.
    runner.query = (text, values, isStructured) =>
      isStructured || runner.isReleased
        ? usual(text, values, isStructured)
        : this.answer(runner, text, values);
    return runner;
  }

  private async connectAsWriter(connect: () => Promise<Connection>): Promise<Connection> {
    this.writing = this.shared.writers.take(this.tenancy.organizationId);
    await this.writing;
    return connect();
  }

  /** What TypeORM's runner answers, without its steps for those who listen to statements: nobody does. */
  private async answer(runner: Runner, text: string, values: unknown[] = []): Promise<unknown> {
    try {
      const { command, rows, rowCount } = await this.send(runner, text, values);
      return command === 'UPDATE' || command === 'DELETE' ? [rows, rowCount] : rows;
    } catch (error) {
      throw new QueryFailedError(text, values, error as Error);
    }
  }

  private async send(runner: Runner, text: string, values: unknown[]): Promise<pg.QueryResult> {
    const statement = { text, values, name: this.shared.names.of(text) };
    const entrance = this.shared.wall.known(this.tenancy) ?? (await this.entranceOnce());
    // Nobody would give back what it connected now.
    if (runner.isReleased) throw new Error('The work ended before this statement began.');
    const connection = await (this.connection ??= this.connect());
    return this.heard(() => {
      if (this.tenancy.isReading) return runAfter(connection, [entrance], statement);
      if (this.beginning) return this.goOn(connection, statement);
      const first = runAfter(connection, [this.start(), entrance], statement);
      this.beginning = first;
      return first;
    });
  }

  /** All of it in one round trip, and the beginning too where there was none. */
  private async finish(last: readonly Statement[], commit: Statement): Promise<pg.QueryResult> {
    await this.beginning;
    const entrance = this.shared.wall.known(this.tenancy) ?? (await this.entranceOnce());
    this.runner ??= this.open();
    const connection = await (this.connection ??= this.connect());
    const opening = this.beginning ? [] : [this.start(), entrance];
    this.beginning = Promise.resolve();
    return runAfter(connection, [...opening, ...last, ...this.parting], commit);
  }

  /**
   * Asked for once, before this session has a connection: the wall may look into the database over one of its own, and sessions that
   * waited for that with a connection each would wait for each other.
   */
  private entranceOnce(): Promise<Statement> {
    return (this.entrance ??= this.shared.wall.entrance(this.tenancy));
  }

  private start(): Statement {
    return { text: START, values: [], name: this.shared.names.ofOwn(START) };
  }

  private async heard<T>(send: () => Promise<T>): Promise<T> {
    try {
      return await send();
    } catch (error) {
      this.shared.names.hear(error);
      throw error;
    }
  }

  /** Only behind a beginning that succeeded: else there might be no transaction, and the statement would be nobody's. */
  private async goOn(connection: Connection, statement: Statement): Promise<pg.QueryResult> {
    await this.beginning;
    return runAfter(connection, [], statement);
  }

  private async end(finish: (connection: Connection) => Promise<unknown>): Promise<void> {
    const { runner, connection, writing } = this;
    if (!runner) return;
    this.runner = undefined;
    this.connection = undefined;
    this.writing = undefined;
    try {
      // One that is still being waited for would never be given back.
      const connected = await connection?.catch(() => undefined);
      if (connected && this.beginning) await finish(connected);
    } finally {
      this.beginning = undefined;
      runner.isTransactionActive = false;
      await runner.release();
      await writing?.then((release) => release(), nothing);
    }
  }
}

const nothing = (): void => undefined;
