import { InjectQueue } from '@nestjs/bullmq';
import { type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { IntervalJob } from '../../common/loops/interval-job.js';
import { createLogger } from '../../common/observability/logger.js';
import { FORWARD_AUDIT, forwardAuditJob, type ForwardAuditPayload } from '../queues/forward-audit.queue.js';
import { BoundedQueue } from '../bounded-queue.js';
import { forwardingMetrics } from './forwarding-metrics.js';
import { DueBatches } from './due-batches.js';

const EVERY_MS = 2_000;
const MOST_PER_SWEEP = 200;

/**
 * Queues destinations that are behind. Their rows and the heads of the chains show which ones are, so the administration announces nothing,
 * and no record is lost with a queue.
 */
@Injectable()
export class SweepAudit implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly queue: BoundedQueue<ForwardAuditPayload>;
  private readonly job = new IntervalJob(() => this.round(), {
    name: 'sweep-audit',
    everyMs: EVERY_MS,
    logger: createLogger('sweep-audit'),
    failure: 'Audit destinations could not be swept.',
  });

  constructor(
    private readonly batches: DueBatches,
    @InjectQueue(FORWARD_AUDIT) queue: Queue<ForwardAuditPayload>,
  ) {
    this.queue = new BoundedQueue(queue, 'sweep-audit');
  }

  onApplicationBootstrap(): void {
    this.job.start();
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.job.stop();
  }

  private async round(): Promise<void> {
    for (const id of await this.batches.due(MOST_PER_SWEEP)) await this.queue.add(forwardAuditJob(id));
    const { count, seconds } = await this.batches.failing();
    forwardingMetrics.failing.set(count);
    forwardingMetrics.failingSeconds.set(seconds);
  }
}
