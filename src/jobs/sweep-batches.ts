import { Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { IntervalJob, type Round } from '../common/loops/interval-job.js';
import { createLogger } from '../common/observability/logger.js';
import { reportSparsely } from '../common/observability/report-sparsely.js';
import { BatchAggregator } from '../request-log/analytics/usage-store.js';
import { BullBatchQueue } from './shipping/bull-batch-queue.js';

const EVERY_MS = 15_000;
const MOST_PER_SWEEP = 100;

/** Seconds after which a batch is announced again, and after which it no longer relies on the queue. */
const UNHEARD_AFTER_S = 30;
const UNQUEUED_AFTER_S = 120;

interface WaitingBatch {
  readonly id: string;
  readonly age_s: number;
}

const WAITING = `
  SELECT id, extract(epoch FROM now() - created_at)::float8 AS age_s
  FROM log_batches
  WHERE aggregated_at IS NULL AND created_at < now() - make_interval(secs => $1)
  ORDER BY created_at
  LIMIT $2`;

/**
 * Finds batches that are stored and not aggregated: their announcement was lost, or their job failed.
 *
 * It announces them again, and aggregates those that have waited for two minutes itself, so that analytics are complete even while the
 * queue is unavailable.
 */
@Injectable()
export class SweepBatches implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly log = createLogger('sweep-batches');
  private readonly report = reportSparsely(this.log);
  private readonly job = new IntervalJob((round) => this.round(round), {
    name: 'sweep-batches',
    everyMs: EVERY_MS,
    logger: this.log,
    failure: 'Batches could not be swept.',
  });

  constructor(
    private readonly database: DataSource,
    private readonly batchQueue: BullBatchQueue,
    private readonly batches: BatchAggregator,
  ) {}

  onApplicationBootstrap(): void {
    this.job.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.job.stop();
  }

  /** One round. Never rejects. A concurrent call waits for the running round. */
  sweep(): Promise<void> {
    return this.job.round();
  }

  private async round(round: Round): Promise<void> {
    const waiting: WaitingBatch[] = await this.database.query(WAITING, [UNHEARD_AFTER_S, MOST_PER_SWEEP]);
    const enqueued = await Promise.allSettled(waiting.map(({ id }) => this.batchQueue.enqueue(id)));
    for (const each of enqueued)
      if (each.status === 'rejected') this.report('A batch could not be announced again.', each.reason);
    for (const { id } of waiting.filter(({ age_s }) => age_s > UNQUEUED_AFTER_S)) {
      if (round.hasEnded) return;
      await this.aggregate(id);
      round.progressed();
    }
  }

  /** A batch that cannot be aggregated must not block the others. */
  private async aggregate(batchId: string): Promise<void> {
    try {
      await this.batches.aggregate(batchId);
    } catch (error) {
      this.log.error({ err: error, batch_id: batchId }, 'An overdue batch could not be aggregated.');
    }
  }
}
