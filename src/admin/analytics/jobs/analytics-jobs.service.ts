import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, LessThanOrEqual, MoreThan, Not, type Repository } from 'typeorm';
import type { Principal } from '../../../auth/principal.js';
import { AppError } from '../../../common/errors/app-error.js';
import { isUuid, uuidV7 } from '../../../common/ids/uuid-v7.js';
import { UnitOfWork } from '../../../database/unit-of-work.js';
import type { TimeRange } from '../../../request-log/analytics/usage-store.js';
import { Organization } from '../../tenancy/organization.entity.js';
import { AnalyticsJob, type AnalyticsJobQuery } from './analytics-job.entity.js';

/** Maximum number of running jobs of one organization. */
const MOST_RUNNING = 5;
/** Maximum number of finished jobs of one organization: each may have 100,000 groups. */
const MOST_KEPT = 20;
/** A job that is not finished by then fails. */
export const LONGEST_RUN_MINUTES = 15;
const MINUTE_MS = 60_000;

/** What a caller may see. A job has the scope of the request that started it. */
export interface AnalyticsJobScope {
  readonly organizationId: string;
  readonly workspaceId?: string;
  /** The user whose own traffic is visible; absent for all traffic in scope. */
  readonly seesOnlyOf?: string;
}

/** The jobs of grouped analytics. The background process sweeps for started jobs and counts (src/jobs/analytics). */
@Injectable()
export class AnalyticsJobs {
  constructor(
    @InjectRepository(AnalyticsJob) private readonly jobs: Repository<AnalyticsJob>,
    @InjectRepository(Organization) private readonly organizations: Repository<Organization>,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** A running or finished job of this identity, as long as it is kept. */
  find(scope: AnalyticsJobScope, identity: string): Promise<AnalyticsJob | null> {
    const { organizationId } = scope;
    const kept = { organizationId, identity: ofScope(scope, identity), expiresAt: MoreThan(new Date()) };
    return this.jobs.findOneBy([
      { ...kept, status: 'in_progress' },
      { ...kept, status: 'success' },
    ]);
  }

  /** Of two callers that start the same job at once, both get the one that was stored. */
  async start(
    scope: AnalyticsJobScope,
    identity: string,
    { query, range }: { readonly query: AnalyticsJobQuery; readonly range: TimeRange },
  ): Promise<AnalyticsJob> {
    const { organizationId, workspaceId = null, seesOnlyOf = null } = scope;
    return this.unitOfWork.runApart({ organizationId, isReading: false }, async () => {
      await this.lockStarts(organizationId);
      await this.checkRunning(organizationId);
      await this.expireOldest(organizationId);
      // The sweep has not removed it yet.
      await this.jobs.delete({
        organizationId,
        identity: ofScope(scope, identity),
        expiresAt: LessThanOrEqual(new Date()),
      });
      await this.unitOfWork.insertUnlessTaken(AnalyticsJob, {
        id: uuidV7(Date.now()),
        ...{ organizationId, workspaceId, seesOnlyOf, query },
        identity: ofScope(scope, identity),
        ...{ fromAt: new Date(range.from), toAt: new Date(range.to), cursorAt: new Date(range.from) },
        expiresAt: new Date(Date.now() + LONGEST_RUN_MINUTES * MINUTE_MS),
      });
      // It may be finished already if another caller started it.
      return this.jobs.findOneByOrFail({
        organizationId,
        identity: ofScope(scope, identity),
        status: In(['in_progress', 'success']),
      });
    });
  }

  /** Only for callers that may send the request that the job counts. */
  async get({ organizationId, workspaceId, seesOnlyOf }: Principal, id: string): Promise<AnalyticsJob> {
    const job = isUuid(id)
      ? await this.jobs.findOneBy({ organizationId, id, expiresAt: MoreThan(new Date()) })
      : null;
    const isOwn =
      job !== null &&
      (workspaceId === null || workspaceId === job.workspaceId) &&
      (seesOnlyOf ?? null) === job.seesOnlyOf;
    if (!isOwn) throw new AppError('not_found', { resource: 'analytics job' });
    return job;
  }

  /** Concurrent starts would each see a job less than the limit, so those of an organization run one after the other. */
  private async lockStarts(id: string): Promise<void> {
    await this.organizations.findOneOrFail({
      select: { id: true },
      where: { id },
      lock: { mode: 'for_no_key_update' },
    });
  }

  /** The sweep deletes expired jobs with their groups. */
  private async expireOldest(organizationId: string): Promise<void> {
    const now = new Date();
    const finished = { organizationId, status: Not('in_progress' as const), expiresAt: MoreThan(now) };
    const excess = await this.jobs.find({
      select: { id: true },
      where: finished,
      order: { expiresAt: 'DESC' },
      skip: MOST_KEPT - 1,
    });
    if (excess.length > 0) await this.jobs.update({ id: In(excess.map(({ id }) => id)) }, { expiresAt: now });
  }

  private async checkRunning(organizationId: string): Promise<void> {
    if ((await this.jobs.countBy({ organizationId, status: 'in_progress' })) < MOST_RUNNING) return;
    throw new AppError('conflict', {
      detail: `${MOST_RUNNING} analytics jobs of this organization are running, which is the limit. Try again when one has finished.`,
    });
  }
}

const ofScope = ({ workspaceId, seesOnlyOf }: AnalyticsJobScope, identity: string): string =>
  createHash('sha256')
    .update(JSON.stringify([workspaceId ?? null, seesOnlyOf ?? null, identity]))
    .digest('hex');
