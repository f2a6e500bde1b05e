import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { LogDatabase } from '../../../request-log/reading/log-database.js';
import { LogReadingModule } from '../../../request-log/reading/log-reading.module.js';
import type { ClickHouse } from '../../../request-log/analytics/clickhouse/clickhouse.js';
import { CLICKHOUSE, ClickHouseModule } from '../../../request-log/analytics/clickhouse/clickhouse.module.js';
import { ClickHouseLogRows } from './clickhouse-log-rows.js';
import { LogRows } from './log-rows.js';
import { LogRowsOrPostgres } from './log-rows-or-postgres.js';
import { PostgresLogRows } from './postgres-log-rows.js';
import { RequestParts } from '../request-parts.js';
import { RouteParts } from '../route/route-parts.js';

/** Rows in PostgreSQL, and the batches not inserted into ClickHouse yet, which belong to no tenant. */
interface LogRowStores {
  readonly postgres: PostgresLogRows;
  readonly database: LogDatabase;
  readonly batches: DataSource;
}

export const logRowsOf = (clickhouse: ClickHouse | null, stores: LogRowStores): LogRows =>
  clickhouse
    ? new LogRowsOrPostgres(new ClickHouseLogRows(clickhouse, stores), stores.postgres)
    : stores.postgres;

/** Reads stored requests. Requires `DatabaseModule` and `SettingsModule`. */
@Module({
  imports: [ClickHouseModule, LogReadingModule],
  providers: [
    PostgresLogRows,
    RequestParts,
    RouteParts,
    {
      provide: LogRows,
      inject: [CLICKHOUSE, PostgresLogRows, LogDatabase, DataSource],
      useFactory: (
        clickhouse: ClickHouse | null,
        postgres: PostgresLogRows,
        database: LogDatabase,
        batches: DataSource,
      ) => logRowsOf(clickhouse, { postgres, database, batches }),
    },
  ],
  exports: [LogReadingModule, LogRows, PostgresLogRows, RequestParts, RouteParts],
})
export class LogRowsModule {}
