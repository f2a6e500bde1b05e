import { Injectable } from '@nestjs/common';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import {
  DataSource,
  type EntityManager,
  type EntityTarget,
  type ObjectLiteral,
  type QueryDeepPartialEntity,
  type Repository,
} from 'typeorm';
import { createLogger } from '../common/observability/logger.js';
import { AsyncContext } from './async-context.js';
import { type TenantSessionContext, TenantSession } from './sessions/tenant-session.js';
import { type Tenancy, RlsContext } from './sessions/rls-context.js';
import { WriteSemaphore } from './sessions/write-semaphore.js';

/**
 * The last step of a unit of work, in its transaction. The only place for locks that every change of an organization needs: only the commit
 * follows. When it rejects, the transaction is rolled back.
 */
export type CommitHook = (manager: EntityManager) => Promise<void>;

interface Work {
  /** A response that is still being streamed runs on in the flow of a unit that has ended. */
  hasEnded: boolean;
  /** A transaction of a tenant, or of the service itself. */
  readonly transaction: { readonly manager: EntityManager };
  readonly afterCommit: (() => void)[];
  commitHook?: CommitHook;
  /** Settles with the last read that was passed to `inTurn`. */
  lastRead?: Promise<unknown>;
}

const logger = createLogger('database');

/**
 * One transaction for all changes of a request. It follows the asynchronous flow, so that services need not pass it on: everything they do
 * through injected repositories or `manager` inside `run` is committed or rolled back together.
 */
@Injectable()
export class UnitOfWork {
  private readonly current = new AsyncContext<Work>();
  private readonly sessions: TenantSessionContext;

  constructor(private readonly dataSource: DataSource) {
    const wall = new RlsContext(dataSource);
    this.sessions = { dataSource, wall, writeSemaphore: new WriteSemaphore(dataSource) };
  }

  /** Commits when `work` resolves and rolls back when it rejects. Inside a running unit it joins that one. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.running) return work();
    const release = await this.sessions.writeSemaphore.take(null);
    const afterCommit: (() => void)[] = [];
    try {
      const result = await this.dataSource.transaction(async (manager) => {
        const unit: Work = { hasEnded: false, transaction: { manager }, afterCommit };
        const done = await this.within(unit, work);
        await unit.commitHook?.(manager);
        return done;
      });
      afterCommit.forEach(attempt);
      return result;
    } finally {
      release();
    }
  }

  /**
   * The same for a caller: whatever the queries select, the database shows only the rows of this organization. Inside a running unit it
   * joins that one.
   */
  async runFor<T>(tenancy: Tenancy, work: () => Promise<T>): Promise<T> {
    return this.running ? work() : this.apart(tenancy, work);
  }

  /**
   * A transaction of its own, committed whatever the current unit does later. For a request that reads and must note something: its
   * connection is released first, so that it uses one at a time.
   */
  async runApart<T>(tenancy: Tenancy, work: () => Promise<T>): Promise<T> {
    const transaction = this.running?.transaction;
    if (transaction instanceof TenantSession) await transaction.pause();
    return this.apart(tenancy, work);
  }

  private async apart<T>(tenancy: Tenancy, work: () => Promise<T>): Promise<T> {
    const session = new TenantSession(this.sessions, tenancy);
    const unit: Work = { hasEnded: false, transaction: session, afterCommit: [] };
    try {
      const result = await this.within(unit, work);
      await unit.commitHook?.(session.manager);
      await session.commit();
      unit.afterCommit.forEach(attempt);
      return result;
    } catch (error) {
      await session.rollback();
      throw error;
    }
  }

  /** Runs a hook after the work of the current unit, right before its commit. A unit has one. */
  beforeCommit(hook: CommitHook): void {
    const work = this.running;
    if (!work) throw new Error('A commit hook needs a unit of work.');
    if (work.commitHook) throw new Error('A unit of work has one commit hook.');
    work.commitHook = hook;
  }

  /** The manager of the current transaction; outside of one, each statement is its own. */
  get manager(): EntityManager {
    return this.running?.transaction.manager ?? this.dataSource.manager;
  }

  /** The repository of an entity in the current transaction, for entities that are only known at run time. */
  repository<T extends ObjectLiteral>(entity: EntityTarget<T>): Repository<T> {
    return this.manager.getRepository(entity);
  }

  /**
   * For a reader with its own connections: releases the connection of the current request, and returns how the reader's transaction must
   * begin to see the same rows. Null outside a caller's unit.
   */
  async beginningElsewhere(): Promise<string | null> {
    const transaction = this.running?.transaction;
    if (!(transaction instanceof TenantSession)) return null;
    await transaction.pause();
    return this.sessions.wall.beginning({ ...transaction.tenancy, isReading: true });
  }

  /**
   * For a reader with its own connections: runs the reads of one unit one after another, so that a caller uses one connection at a time and
   * cannot keep others waiting. Reads that have not begun when the unit ends, because an earlier one failed, do not run.
   */
  inTurn<T>(read: () => Promise<T>): Promise<T> {
    const work = this.running;
    if (!work) return read();
    const turn = Promise.resolve(work.lastRead).then(() => {
      if (work.hasEnded) throw new Error('The unit of work ended before this read began.');
      return read();
    });
    // Before the next read begins, a caller that a failure ends has ended.
    work.lastRead = turn.catch(() => endOfTurn());
    return turn;
  }

  /**
   * Inserts rows, except those that violate a unique index, and returns how many it inserted. Only the index can decide reliably, and this
   * way a conflict does not abort the transaction.
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

  /** Calls back after the commit, never after a rollback; outside a unit, at once. For stores without transactions. */
  afterCommit(then: () => void): void {
    const work = this.running;
    if (work) work.afterCommit.push(then);
    else attempt(then);
  }

  /** Notifies a PostgreSQL channel when the current transaction commits; outside a unit, at once. */
  async notify(channel: string, payload: string): Promise<void> {
    await this.manager.query('SELECT pg_notify($1, $2)', [channel, payload]);
  }

  private get running(): Work | undefined {
    const work = this.current.get();
    return work?.hasEnded ? undefined : work;
  }

  private async within<T>(unit: Work, work: () => Promise<T>): Promise<T> {
    try {
      return await this.current.run(unit, work);
    } finally {
      unit.hasEnded = true;
    }
  }
}

/** The change is already committed: a failing callback must not turn the response into an error. */
function attempt(then: () => void): void {
  try {
    then();
  } catch (error) {
    logger.error({ err: error }, 'A callback after the commit failed.');
  }
}
