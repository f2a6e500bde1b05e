import { Module } from '@nestjs/common';
import { AggregateLogsProcessor } from './aggregate-logs.processor.js';
import { AnnouncerModule } from './announcer.module.js';
import { BatchAggregator } from './batch-aggregator.js';
import { SweepBatches } from './sweep-batches.js';

/** Background work on what the shipper stored. It needs `SettingsModule` and `DatabaseModule` beside it. */
@Module({
  imports: [AnnouncerModule],
  providers: [BatchAggregator, AggregateLogsProcessor, SweepBatches],
  exports: [AnnouncerModule],
})
export class JobsModule {}
