import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import type { Queue } from 'bullmq';
import {
  AGGREGATE_LOGS,
  aggregateLogsJob,
  type AggregateLogsPayload,
} from '../common/queues/aggregate-logs.queue.js';
import { reportSparsely } from '../common/observability/report-sparsely.js';
import { createLogger } from '../common/observability/logger.js';
import type { BatchAnnouncer } from './shipping/ports.js';

const PATIENCE_MS = 2_000;
/** Announcements under way at most. While Redis is away each waits for it, and they must not pile up. */
const MOST_UNDER_WAY = 100;

/** Tells the queue that a batch is stored. A hint and never more: the sweep finds each batch that nobody heard of. */
@Injectable()
export class QueueBatchAnnouncer implements BatchAnnouncer {
  #underWay = 0;

  constructor(@InjectQueue(AGGREGATE_LOGS) private readonly queue: Queue<AggregateLogsPayload>) {
    const report = reportSparsely(createLogger('announcer'));
    // BullMQ reports lost connections here, and an error that nobody listens to ends the process.
    queue.on('error', (error) => report('the queue is not reachable', error));
  }

  /** Settles within two seconds; rejects when the queue did not take it. Announcing a batch again adds no second job. */
  async announce(batchId: string): Promise<void> {
    if (this.#underWay >= MOST_UNDER_WAY) throw new Error('Too many announcements wait for the queue.');
    this.#underWay += 1;
    const { data, options } = aggregateLogsJob(batchId);
    const added = this.queue.add(AGGREGATE_LOGS, data, options).finally(() => (this.#underWay -= 1));
    // It may fail after nobody waits for it any more.
    added.catch(() => undefined);
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new Error('The queue did not take the announcement in time.')),
        PATIENCE_MS,
      );
    });
    await Promise.race([added, tooLate]).finally(() => clearTimeout(timer));
  }
}
