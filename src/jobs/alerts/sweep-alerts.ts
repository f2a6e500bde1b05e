import { InjectQueue } from '@nestjs/bullmq';
import { type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { DataSource } from 'typeorm';
import { IntervalJob } from '../../common/loops/interval-job.js';
import { createLogger } from '../../common/observability/logger.js';
import { SEND_ALERTS, sendAlertJob, type SendAlertPayload } from '../queues/send-alerts.queue.js';
import { BoundedQueue } from '../bounded-queue.js';

const EVERY_MS = 5_000;
const MOST_PER_SWEEP = 100;

/** After a day an alert is no longer useful. */
const WAITING = `
  SELECT id FROM limit_alerts
  WHERE done_at IS NULL AND (leased_until IS NULL OR leased_until < now()) AND created_at > now() - interval '1 day'
  ORDER BY created_at LIMIT $1`;

/** Queues alerts that were committed and not sent. The table is their only record. */
@Injectable()
export class SweepAlerts implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly queue: BoundedQueue<SendAlertPayload>;
  private readonly job = new IntervalJob(() => this.round(), {
    name: 'sweep-alerts',
    everyMs: EVERY_MS,
    logger: createLogger('sweep-alerts'),
    failure: 'Alerts could not be swept.',
  });

  constructor(
    private readonly database: DataSource,
    @InjectQueue(SEND_ALERTS) queue: Queue<SendAlertPayload>,
  ) {
    this.queue = new BoundedQueue(queue, 'sweep-alerts');
  }

  onApplicationBootstrap(): void {
    this.job.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.job.stop();
  }

  /** One round. Never rejects. */
  sweep(): Promise<void> {
    return this.job.round();
  }

  private async round(): Promise<void> {
    const waiting: { id: string }[] = await this.database.query(WAITING, [MOST_PER_SWEEP]);
    for (const { id } of waiting) await this.queue.add(sendAlertJob(id));
  }
}
