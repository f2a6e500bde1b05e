import { Module } from '@nestjs/common';
import { LogDatabase } from '../database/log-reading/log-database.js';
import { LogReadingModule } from '../database/log-reading/log-reading.module.js';
import { PostgresUsageReader } from './postgres/postgres-usage-reader.js';
import { UsageReader } from './usage-store.js';

/** Where counted requests are read. It needs `DatabaseModule` beside it. */
@Module({
  imports: [LogReadingModule],
  providers: [
    {
      provide: UsageReader,
      inject: [LogDatabase],
      useFactory: (database: LogDatabase) => new PostgresUsageReader(database),
    },
  ],
  exports: [UsageReader],
})
export class UsageReadingModule {}
