import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { PostgresBatchAggregator } from './postgres/postgres-batch-aggregator.js';
import { BatchAggregator } from './usage-store.js';

/** Where stored batches are counted. It needs `DatabaseModule` beside it. */
@Module({
  providers: [
    {
      provide: BatchAggregator,
      inject: [DataSource],
      useFactory: (database: DataSource) => new PostgresBatchAggregator(database),
    },
  ],
  exports: [BatchAggregator],
})
export class UsageCountingModule {}
