import { Injectable } from '@nestjs/common';
import {
  DataSource,
  type EntityManager,
  type EntityTarget,
  type ObjectLiteral,
  type Repository,
} from 'typeorm';
import type { QueryDeepPartialEntity } from 'typeorm';
import { createLogger } from '../observability/logger.js';
import { AsyncContext } from './async-context.js';

interface Work {
  readonly manager: EntityManager;
  readonly afterCommit: (() => void)[];
}

const logger = createLogger('database');

/**
 * One transaction for all that a request changes. It travels with the asynchronous flow, so that services need not
 * hand it on: whatever they do through `manager` or `repository` inside `run` is done or undone together.
 */
@Injectable()
export class UnitOfWork {
  private readonly current = new AsyncContext<Work>();

  constructor(private readonly dataSource: DataSource) {}

  /** Commits when `work` resolves and rolls back when it rejects. Inside a running unit it joins that one. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.current.get()) return work();
    const afterCommit: (() => void)[] = [];
    const result = await this.dataSource.transaction((manager) =>
      this.current.run({ manager, afterCommit }, work),
    );
    afterCommit.forEach(attempt);
    return result;
  }

  /** The manager of the running transaction; outside of one, each statement is its own. */
  get manager(): EntityManager {
    return this.current.get()?.manager ?? this.dataSource.manager;
  }

  repository<T extends ObjectLiteral>(entity: EntityTarget<T>): Repository<T> {
    return this.manager.getRepository(entity);
  }

  /**
   * Inserts rows, but not those that a unique index refuses, and answers how many it inserted. The index is the only judge
   * that cannot be wrong, and this way of asking it keeps the transaction alive.
   */
  async insertUnlessTaken<T extends ObjectLiteral>(
    entity: EntityTarget<T>,
    rows: QueryDeepPartialEntity<T> | QueryDeepPartialEntity<T>[],
  ): Promise<number> {
    const { raw } = (await this.manager
      .createQueryBuilder()
      .insert()
      .into(entity)
      .values(rows)
      .orIgnore()
      .returning('organization_id')
      .execute()) as { raw: readonly unknown[] };
    return raw.length;
  }

  /** Calls back after the commit, never after a rollback; outside of a unit, at once. For stores that know no transactions. */
  afterCommit(then: () => void): void {
    const work = this.current.get();
    if (work) work.afterCommit.push(then);
    else attempt(then);
  }
}

/** The change is made by now: a callback that fails must not turn the answer into a failure. */
function attempt(then: () => void): void {
  try {
    then();
  } catch (error) {
    logger.error({ err: error }, 'A callback after the commit failed.');
  }
}
