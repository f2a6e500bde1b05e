import { InjectQueue } from '@nestjs/bullmq';
import { type BeforeApplicationShutdown, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import type { Queue } from 'bullmq';
import { DataSource } from 'typeorm';
import { createLogger } from '../../common/observability/logger.js';
import { reportSparsely } from '../../common/observability/report-sparsely.js';
import { SEND_MAILS, sendMailJob, type SendMailPayload } from '../../common/queues/send-mails.queue.js';
import { PatientQueue } from '../patient-queue.js';

const EVERY_MS = 2_000;
const MOST_PER_SWEEP = 100;

const WAITING = `
  SELECT id FROM mails
  WHERE sent_at IS NULL AND (leased_until IS NULL OR leased_until < now())
  ORDER BY created_at LIMIT $1`;

/**
 * Takes mails to the queue that were committed and not sent. The table is the only place that says so, which the
 * administration writes with the change itself: it needs no queue, and no mail is lost with one.
 */
@Injectable()
export class SweepMails implements OnApplicationBootstrap, BeforeApplicationShutdown {
  readonly #report = reportSparsely(createLogger('sweep-mails'));
  readonly #queue: PatientQueue<SendMailPayload>;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  constructor(
    private readonly database: DataSource,
    @InjectQueue(SEND_MAILS) queue: Queue<SendMailPayload>,
  ) {
    this.#queue = new PatientQueue(queue, 'sweep-mails');
  }

  onApplicationBootstrap(): void {
    this.#timer = setInterval(() => void this.sweep(), EVERY_MS);
    this.#timer.unref();
  }

  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  /** One round. Never rejects; while a round runs, another call waits for that one. */
  async sweep(): Promise<void> {
    this.#running ??= this.#round()
      .catch((error: unknown) => this.#report('mails could not be swept', error))
      .finally(() => (this.#running = undefined));
    await this.#running;
  }

  async #round(): Promise<void> {
    const waiting: { id: string }[] = await this.database.query(WAITING, [MOST_PER_SWEEP]);
    for (const { id } of waiting) await this.#queue.add(sendMailJob(id));
  }
}
