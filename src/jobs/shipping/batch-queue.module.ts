import { Module } from '@nestjs/common';
import { QueuesModule } from '../queues/queues.module.js';
import { BullBatchQueue } from './bull-batch-queue.js';

/** For processes that store batches and leave counting to others. */
@Module({ imports: [QueuesModule], providers: [BullBatchQueue], exports: [BullBatchQueue] })
export class BatchQueueModule {}
