import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { ClickHouse } from './clickhouse/clickhouse.js';
import { CLICKHOUSE, ClickHouseModule } from './clickhouse/clickhouse.module.js';
import { ClickHouseBatchAggregator } from './clickhouse/clickhouse-batch-aggregator.js';
import { PostgresBatchAggregator } from './postgres/postgres-batch-aggregator.js';
import { BatchAggregator } from './usage-store.js';

const aggregatorOf = (database: DataSource, clickhouse: ClickHouse | null): BatchAggregator =>
  clickhouse ? new ClickHouseBatchAggregator(database, clickhouse) : new PostgresBatchAggregator(database);

/** Counts stored batches. Requires `DatabaseModule` and `SettingsModule`. */
@Module({
  imports: [ClickHouseModule],
  providers: [{ provide: BatchAggregator, inject: [DataSource, CLICKHOUSE], useFactory: aggregatorOf }],
  exports: [BatchAggregator],
})
export class UsageCountingModule {}
