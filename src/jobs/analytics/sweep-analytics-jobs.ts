import { InjectQueue } from '@nestjs/bullmq';
import { type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { DataSource } from 'typeorm';
import { LONGEST_RUN_MINUTES } from '../../admin/analytics/jobs/analytics-jobs.service.js';
import { IntervalJob } from '../../common/loops/interval-job.js';
import { createLogger } from '../../common/observability/logger.js';
import { BoundedQueue } from '../bounded-queue.js';
import { waitingRows } from '../leased-rows.js';
import { COUNT_GROUPS, countGroupsJob, type CountGroupsPayload } from '../queues/count-groups.queue.js';
import { KEPT_MINUTES } from './analytics-leases.js';

/** Users wait for the jobs. */
const EVERY_MS = 1_000;
const MOST_PER_SWEEP = 100;
const WAITING = waitingRows('analytics_jobs');

/** Rows that are locked belong to a part that is being added; the next sweep finds them. */
const LATE = `
  UPDATE analytics_jobs SET status = 'failed', leased_until = NULL, updated_at = now(),
    expires_at = now() + make_interval(mins => ${KEPT_MINUTES}),
    problem = 'Counting did not finish within ${LONGEST_RUN_MINUTES} minutes. Use a shorter time range or more filters.'
  WHERE id IN (
    SELECT id FROM analytics_jobs WHERE status = 'in_progress' AND expires_at <= now() FOR UPDATE SKIP LOCKED)`;

/** Groups are deleted with their job. */
const EXPIRED = `DELETE FROM analytics_jobs WHERE status <> 'in_progress' AND expires_at <= now()`;

/** Queues started jobs, whose only record is the table. Ends those that take too long, and deletes expired results. */
@Injectable()
export class SweepAnalyticsJobs implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly queue: BoundedQueue<CountGroupsPayload>;
  private readonly sweeping = new IntervalJob(() => this.sweepOnce(), {
    name: 'sweep-analytics-jobs',
    everyMs: EVERY_MS,
    logger: createLogger('sweep-analytics-jobs'),
    failure: 'Analytics jobs could not be enqueued.',
  });

  constructor(
    private readonly database: DataSource,
    @InjectQueue(COUNT_GROUPS) queue: Queue<CountGroupsPayload>,
  ) {
    this.queue = new BoundedQueue(queue, 'sweep-analytics-jobs');
  }

  onApplicationBootstrap(): void {
    this.sweeping.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.sweeping.stop();
  }

  /** One round. Never rejects. */
  sweep(): Promise<void> {
    return this.sweeping.round();
  }

  private async sweepOnce(): Promise<void> {
    await this.database.query(LATE);
    await this.database.query(EXPIRED);
    const waiting = await this.database.query<{ id: string }[]>(WAITING, [MOST_PER_SWEEP]);
    for (const { id } of waiting) await this.queue.add(countGroupsJob(id));
  }
}
