import { OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import type { BeforeApplicationShutdown } from '@nestjs/common';
import type { Job } from 'bullmq';
import { createLogger } from '../../common/observability/logger.js';
import { reportSparsely } from '../../common/observability/report-sparsely.js';
import {
  FORWARD_AUDIT,
  forwardAuditPayload,
  type ForwardAuditPayload,
} from '../queues/forward-audit.queue.js';
import { AuditForwarder } from './audit-forwarder.js';

/** After that, other destinations have their turn; the sweep announces the rest. */
const MOST_BATCHES = 20;

/** Forwards to announced destinations. The concurrency is high enough that a few hanging receivers do not block the others. */
@Processor(FORWARD_AUDIT, {
  concurrency: 16,
  lockDuration: 30_000,
  stalledInterval: 10_000,
  maxStalledCount: 1_000_000,
  runRetryDelay: 2_000,
})
export class ForwardAuditProcessor extends WorkerHost implements BeforeApplicationShutdown {
  private readonly report = reportSparsely(createLogger('forward-audit'));
  private isStopping = false;

  constructor(private readonly forwarder: AuditForwarder) {
    super();
  }

  async process({ data }: Job<ForwardAuditPayload>): Promise<void> {
    const { destination_id: id } = forwardAuditPayload.parse(data);
    for (let batches = 0; batches < MOST_BATCHES && !this.isStopping; batches += 1)
      if ((await this.forwarder.forward(id)) !== 'delivered') return;
  }

  @OnWorkerEvent('failed')
  onFailed(_job: Job<ForwardAuditPayload> | undefined, error: Error): void {
    this.report('Audit records could not be forwarded.', error);
  }

  @OnWorkerEvent('error')
  onError(error: Error): void {
    this.report('The queue is unavailable.', error);
  }

  /** Before connections close: running jobs finish first. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await this.worker.close();
  }
}
