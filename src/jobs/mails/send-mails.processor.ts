import { OnWorkerEvent, Processor, WorkerHost } from '@nestjs/bullmq';
import type { BeforeApplicationShutdown } from '@nestjs/common';
import type { Job } from 'bullmq';
import { createLogger } from '../../common/observability/logger.js';
import { reportSparsely } from '../../common/observability/report-sparsely.js';
import { countOutcome } from '../background-outcomes.js';
import { SEND_MAILS, sendMailPayload, type SendMailPayload } from '../queues/send-mails.queue.js';
import { InviteMails, type MailDelivery } from './invite-mails.js';

const log = createLogger('send-mails');

/** Sends announced mails. A killed worker loses its job after `lockDuration`. */
@Processor(SEND_MAILS, {
  concurrency: 2,
  lockDuration: 15_000,
  stalledInterval: 5_000,
  maxStalledCount: 1_000_000,
  runRetryDelay: 2_000,
})
export class SendMailsProcessor extends WorkerHost implements BeforeApplicationShutdown {
  private readonly report = reportSparsely(log);

  constructor(private readonly mails: InviteMails) {
    super();
  }

  process({ data }: Job<SendMailPayload>): Promise<MailDelivery> {
    return countOutcome('mail', this.mails.send(sendMailPayload.parse(data).mail_id));
  }

  @OnWorkerEvent('failed')
  onFailed(job: Job<SendMailPayload> | undefined, error: Error): void {
    log.error(
      { err: error, mail_id: job?.data.mail_id, attempt: job?.attemptsMade },
      'A mail could not be sent.',
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
