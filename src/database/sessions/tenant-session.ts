import type { DataSource, EntityManager } from 'typeorm';
import type { Release } from '../../common/processes/semaphore.js';
import { type Statement, TenantQueryRunner } from './tenant-query-runner.js';
import type { Tenancy, RlsContext } from './rls-context.js';
import type { WriteSemaphore } from './write-semaphore.js';

/** Shared by all sessions of a process. */
export interface TenantSessionContext {
  readonly dataSource: DataSource;
  readonly wall: RlsContext;
  readonly writeSemaphore: WriteSemaphore;
}

/** The transaction of one administrative request, which its first statement begins. */
export class TenantSession {
  private runner: TenantQueryRunner | undefined;
  private writing: Promise<Release> | undefined;

  constructor(
    private readonly shared: TenantSessionContext,
    readonly tenancy: Tenancy,
  ) {}

  get manager(): EntityManager {
    this.runner ??= new TenantQueryRunner(this.shared.dataSource, () => this.enter());
    return this.runner.manager;
  }

  async commit(): Promise<void> {
    await this.end((runner) => runner.commitTransaction());
  }

  /** Never rejects: the earlier failure is the one to report. */
  async rollback(): Promise<void> {
    await this.end((runner) => runner.rollbackTransaction()).catch(() => undefined);
  }

  /** Releases a reader's connection while other work is awaited. The next statement begins another transaction. */
  async pause(): Promise<void> {
    if (this.tenancy.isReading) await this.commit();
  }

  /**
   * Before the session has a connection: the check of row-level security may need one of its own, and sessions that hold a connection while
   * waiting for it would deadlock.
   */
  private async enter(): Promise<Statement> {
    const { wall, writeSemaphore } = this.shared;
    const entrance = await wall.entrance(this.tenancy);
    if (!this.tenancy.isReading) await (this.writing = writeSemaphore.take(this.tenancy.organizationId));
    return entrance;
  }

  /** Each transaction ends once, even if several callers wait for it at the same time. */
  private async end(finish: (runner: TenantQueryRunner) => Promise<void>): Promise<void> {
    const { runner } = this;
    this.runner = undefined;
    if (!runner) return;
    try {
      if (runner.hasBegun) await finish(runner);
    } finally {
      await runner.release();
      await this.writing?.then(
        (release) => release(),
        () => undefined,
      );
    }
  }
}
