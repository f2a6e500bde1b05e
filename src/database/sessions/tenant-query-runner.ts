import { type DataSource, QueryRunnerAlreadyReleasedError } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { PostgresQueryRunner } from 'typeorm/driver/postgres/PostgresQueryRunner.js';

/** A statement with its parameters. */
export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/**
 * TypeORM's query runner, whose first statement begins a tenant's transaction. Until then it has no connection, so a request that needs no
 * database uses none.
 */
export class TenantQueryRunner extends PostgresQueryRunner {
  private beginning: Promise<void> | undefined;
  private hasFailed = false;

  /** `enter` resolves when a connection may be taken, to the statement that sets the tenant until the end of the transaction. */
  constructor(
    dataSource: DataSource,
    private readonly enter: () => Promise<Statement>,
  ) {
    super(dataSource.driver as PostgresDriver, 'master');
    this.manager = dataSource.createEntityManager(this);
    // TypeORM then begins no other transaction, and uses a savepoint for a nested one.
    this.isTransactionActive = true;
    this.transactionDepth = 1;
  }

  /** Whether there is a transaction to end. */
  get hasBegun(): boolean {
    return this.beginning !== undefined;
  }

  override async query(
    text: string,
    values?: unknown[],
    isStructured?: boolean,
  ): ReturnType<PostgresQueryRunner['query']> {
    await (this.beginning ??= this.begin());
    try {
      return (await super.query(text, values, isStructured)) as unknown;
    } catch (error) {
      this.hasFailed = true;
      throw error;
    }
  }

  /**
   * Rolls back and rejects when a statement failed and its error was caught: PostgreSQL then turns COMMIT into a rollback, without an
   * error.
   */
  override async commitTransaction(): Promise<void> {
    if (!this.hasFailed) return super.commitTransaction();
    await this.rollbackTransaction();
    throw new Error('The transaction was rolled back, because a statement in it had failed.');
  }

  /** After a rollback to a savepoint, the transaction continues. */
  override async rollbackTransaction(): Promise<void> {
    await super.rollbackTransaction();
    this.hasFailed = false;
  }

  /** No statement runs before the tenant is set: each waits for this, and fails if it failed. */
  private async begin(): Promise<void> {
    if (this.isReleased) throw new QueryRunnerAlreadyReleasedError();
    const { text, values } = await this.enter();
    try {
      await super.query('START TRANSACTION');
      await super.query(text, [...values]);
    } catch (error) {
      await super.query('ROLLBACK').catch(() => undefined);
      throw error;
    }
  }
}
