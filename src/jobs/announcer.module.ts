import { Module } from '@nestjs/common';
import { QueuesModule } from './queues/queues.module.js';
import { QueueBatchAnnouncer } from './queue-batch-announcer.js';

/** All that a process needs which stores batches and leaves the work on them to others. */
@Module({ imports: [QueuesModule], providers: [QueueBatchAnnouncer], exports: [QueueBatchAnnouncer] })
export class AnnouncerModule {}
