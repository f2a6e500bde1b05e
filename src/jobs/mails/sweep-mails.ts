import { InjectQueue } from '@nestjs/bullmq';
import { type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { DataSource } from 'typeorm';
import { IntervalJob } from '../../common/loops/interval-job.js';
import { createLogger } from '../../common/observability/logger.js';
import { SEND_MAILS, sendMailJob, type SendMailPayload } from '../queues/send-mails.queue.js';
import { BoundedQueue } from '../bounded-queue.js';

const EVERY_MS = 2_000;
const MOST_PER_SWEEP = 100;

const WAITING = `
  SELECT id FROM mails
  WHERE sent_at IS NULL AND (leased_until IS NULL OR leased_until < now())
  ORDER BY created_at LIMIT $1`;

/**
 * Queues mails that were committed and not sent. The table is their only record; the administration writes it together with the change
 * itself, so it needs no queue, and no mail is lost with one.
 */
@Injectable()
export class SweepMails implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly queue: BoundedQueue<SendMailPayload>;
  private readonly job = new IntervalJob(() => this.round(), {
    name: 'sweep-mails',
    everyMs: EVERY_MS,
    logger: createLogger('sweep-mails'),
    failure: 'Mails could not be swept.',
  });

  constructor(
    private readonly database: DataSource,
    @InjectQueue(SEND_MAILS) queue: Queue<SendMailPayload>,
  ) {
    this.queue = new BoundedQueue(queue, 'sweep-mails');
  }

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

  private async round(): Promise<void> {
    const waiting: { id: string }[] = await this.database.query(WAITING, [MOST_PER_SWEEP]);
    for (const { id } of waiting) await this.queue.add(sendMailJob(id));
  }
}
