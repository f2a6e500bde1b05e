import { Module } from '@nestjs/common';
import { QueuesModule } from '../queues/queues.module.js';
import { QueueBatchAnnouncer } from './queue-batch-announcer.js';

/** For processes that store batches and leave counting to others. */
@Module({ imports: [QueuesModule], providers: [QueueBatchAnnouncer], exports: [QueueBatchAnnouncer] })
export class AnnouncerModule {}
