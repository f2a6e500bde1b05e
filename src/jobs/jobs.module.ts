import { Module } from '@nestjs/common';
import { AggregateLogsProcessor } from './aggregate-logs.processor.js';
import { BatchQueueModule } from './shipping/batch-queue.module.js';
import { ClickHouseModule } from '../request-log/analytics/clickhouse/clickhouse.module.js';
import { UsageCountingModule } from '../request-log/analytics/usage-counting.module.js';
import { ForgetAnswers } from './forget-answers.js';
import { Retention } from './retention/retention.js';
import { RollUpUsage } from './roll-up-usage.js';
import { SweepBatches } from './sweep-batches.js';

/** Background work on stored request logs. Requires `SettingsModule` and `DatabaseModule`. */
@Module({
  imports: [BatchQueueModule, ClickHouseModule, UsageCountingModule],
  providers: [AggregateLogsProcessor, SweepBatches, RollUpUsage, Retention, ForgetAnswers],
  exports: [BatchQueueModule],
})
export class JobsModule {}
