import { BullModule } from '@nestjs/bullmq';
import { Module } from '@nestjs/common';
import { PostgresUsageReader } from '../../request-log/analytics/postgres/postgres-usage-reader.js';
import { KeptLogs } from '../../request-log/reading/kept-logs.js';
import { LogDatabase } from '../../request-log/reading/log-database.js';
import { LogReadingModule } from '../../request-log/reading/log-reading.module.js';
import { LogScope } from '../../request-log/reading/log-scope.js';
import { COUNT_GROUPS } from '../queues/count-groups.queue.js';
import { QueuesModule } from '../queues/queues.module.js';
import { CountGroupsProcessor } from './count-groups.processor.js';
import { SweepAnalyticsJobs } from './sweep-analytics-jobs.js';

/** Counts groups of requests in the background. Requires `SettingsModule` and `DatabaseModule`. */
@Module({
  imports: [LogReadingModule, QueuesModule, BullModule.registerQueue({ name: COUNT_GROUPS })],
  providers: [
    CountGroupsProcessor,
    SweepAnalyticsJobs,
    {
      provide: PostgresUsageReader,
      inject: [LogDatabase, KeptLogs, LogScope],
      useFactory: (database: LogDatabase, kept: KeptLogs, scope: LogScope) =>
        new PostgresUsageReader(database, kept, scope),
    },
  ],
})
export class CountGroupsModule {}
