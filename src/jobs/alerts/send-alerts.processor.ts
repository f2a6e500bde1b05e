import { OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import type { BeforeApplicationShutdown } from '@nestjs/common';
import type { Job } from 'bullmq';
import { createLogger } from '../../common/observability/logger.js';
import { reportSparsely } from '../../common/observability/report-sparsely.js';
import { countOutcome } from '../background-outcomes.js';
import { SEND_ALERTS, sendAlertPayload, type SendAlertPayload } from '../queues/send-alerts.queue.js';
import { LimitAlerts, type AlertDelivery } from './limit-alerts.js';

const log = createLogger('send-alerts');

/** Sends announced alerts. A killed worker loses its job after `lockDuration`. */
@Processor(SEND_ALERTS, {
  concurrency: 2,
  lockDuration: 15_000,
  stalledInterval: 5_000,
  maxStalledCount: 1_000_000,
  runRetryDelay: 2_000,
})
export class SendAlertsProcessor extends WorkerHost implements BeforeApplicationShutdown {
  private readonly report = reportSparsely(log);

  constructor(private readonly alerts: LimitAlerts) {
    super();
  }

  process({ data }: Job<SendAlertPayload>): Promise<AlertDelivery> {
    return countOutcome('alert', this.alerts.send(sendAlertPayload.parse(data).alert_id));
  }

  @OnWorkerEvent('failed')
  onFailed(job: Job<SendAlertPayload> | undefined, error: Error): void {
    log.error(
      { err: error, alert_id: job?.data.alert_id, attempt: job?.attemptsMade },
      'An alert could not be sent.',
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
