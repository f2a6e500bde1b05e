import { InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import type { Queue } from 'bullmq';
import {
  AGGREGATE_LOGS,
  aggregateLogsJob,
  type AggregateLogsPayload,
} from '../queues/aggregate-logs.queue.js';
import { BoundedQueue } from '../bounded-queue.js';
import type { BatchQueue } from './ports.js';

/** Announces stored batches to the queue. Only a hint: the sweep finds batches whose announcement was lost. */
@Injectable()
export class BullBatchQueue implements BatchQueue {
  private readonly queue: BoundedQueue<AggregateLogsPayload>;

  constructor(@InjectQueue(AGGREGATE_LOGS) queue: Queue<AggregateLogsPayload>) {
    this.queue = new BoundedQueue(queue, 'announcer');
  }

  /** Settles within two seconds; rejects when the queue did not accept it. Announcing a batch again adds no second job. */
  enqueue(batchId: string): Promise<void> {
    return this.queue.add(aggregateLogsJob(batchId));
  }
}
