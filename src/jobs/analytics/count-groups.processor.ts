import { OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import type { BeforeApplicationShutdown } from '@nestjs/common';
import type { Job } from 'bullmq';
import { DataSource } from 'typeorm';
import { createLogger } from '../../common/observability/logger.js';
import { reportSparsely } from '../../common/observability/report-sparsely.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { PostgresUsageReader } from '../../request-log/analytics/postgres/postgres-usage-reader.js';
import { countOutcome } from '../background-outcomes.js';
import { COUNT_GROUPS, countGroupsPayload, type CountGroupsPayload } from '../queues/count-groups.queue.js';
import { AnalyticsLeases } from './analytics-leases.js';
import { type CountingEnding, GroupCounter } from './group-counter.js';

const log = createLogger('count-groups');

/** Counts started analytics jobs. One that is interrupted by the end of its process is continued by the next process. */
@Processor(COUNT_GROUPS, {
  concurrency: 2,
  lockDuration: 15_000,
  stalledInterval: 5_000,
  maxStalledCount: 1_000_000,
  runRetryDelay: 2_000,
})
export class CountGroupsProcessor extends WorkerHost implements BeforeApplicationShutdown {
  private readonly report = reportSparsely(log);
  private readonly counter: GroupCounter;
  private isStopping = false;

  constructor(dataSource: DataSource, unitOfWork: UnitOfWork, reader: PostgresUsageReader) {
    super();
    this.counter = new GroupCounter({
      leases: new AnalyticsLeases(dataSource),
      reader,
      unitOfWork,
      isStopping: () => this.isStopping,
    });
  }

  async process({ data }: Job<CountGroupsPayload>): Promise<CountingEnding> {
    const { job_id } = countGroupsPayload.parse(data);
    return countOutcome('analytics', this.counter.count(job_id));
  }

  @OnWorkerEvent('failed')
  onFailed(job: Job<CountGroupsPayload> | undefined, error: Error): void {
    log.error({ err: error, job_id: job?.data.job_id }, 'An analytics job was interrupted. Trying again.');
  }

  @OnWorkerEvent('error')
  onError(error: Error): void {
    this.report('The queue is unavailable.', error);
  }

  /** Before connections close: running jobs stop after their next part. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await this.worker.close();
  }
}
