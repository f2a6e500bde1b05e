import { OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import type { BeforeApplicationShutdown } from '@nestjs/common';
import type { Job } from 'bullmq';
import {
  AGGREGATE_LOGS,
  aggregateLogsPayload,
  type AggregateLogsPayload,
} from './queues/aggregate-logs.queue.js';
import { reportSparsely } from '../common/observability/report-sparsely.js';
import { createLogger } from '../common/observability/logger.js';
import { type Aggregation, BatchAggregator } from '../request-log/analytics/usage-store.js';

const log = createLogger('aggregate-logs');

/**
 * Counts announced batches; many at once, because concurrent ones are counted together. A killed worker loses its job after `lockDuration`,
 * and another one takes it within twice `stalledInterval`. Stalls say nothing about the job, so their number is not limited.
 * https://docs.bullmq.io/guide/workers/stalled-jobs
 */
@Processor(AGGREGATE_LOGS, {
  concurrency: 32,
  lockDuration: 15_000,
  stalledInterval: 5_000,
  maxStalledCount: 1_000_000,
  runRetryDelay: 2_000,
})
export class AggregateLogsProcessor extends WorkerHost implements BeforeApplicationShutdown {
  private readonly report = reportSparsely(log);

  constructor(private readonly batches: BatchAggregator) {
    super();
  }

  async process({ data }: Job<AggregateLogsPayload>): Promise<Aggregation> {
    const { batch_id } = aggregateLogsPayload.parse(data);
    const outcome = await this.batches.aggregate(batch_id);
    if (outcome === 'absent') log.warn({ batch_id }, 'An announced batch does not exist.');
    return outcome;
  }

  @OnWorkerEvent('failed')
  onFailed(job: Job<AggregateLogsPayload> | undefined, error: Error): void {
    log.error(
      { err: error, batch_id: job?.data.batch_id, attempt: job?.attemptsMade },
      'A batch could not be aggregated.',
    );
  }

  @OnWorkerEvent('error')
  onError(error: Error): void {
    this.report('The queue is unavailable.', error);
  }

  /** Before connections close: running jobs finish first. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.worker.close();
  }
}
