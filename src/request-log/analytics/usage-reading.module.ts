import { Module } from '@nestjs/common';
import { KeptLogs } from '../reading/kept-logs.js';
import { LogDatabase } from '../reading/log-database.js';
import { LogScope } from '../reading/log-scope.js';
import { LogReadingModule } from '../reading/log-reading.module.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import type { ClickHouse } from './clickhouse/clickhouse.js';
import { CLICKHOUSE, ClickHouseModule } from './clickhouse/clickhouse.module.js';
import { ClickHouseUsageReader } from './clickhouse/clickhouse-usage-reader.js';
import { PostgresUsageReader } from './postgres/postgres-usage-reader.js';
import { AnalyticsReader } from './usage-store.js';

function readerOf(
  [database, kept, scope]: readonly [LogDatabase, KeptLogs, LogScope],
  clickhouse: ClickHouse | null,
  { retentionDays }: Pick<Settings, 'retentionDays'>,
): AnalyticsReader {
  const postgres = new PostgresUsageReader(database, kept, scope);
  return clickhouse
    ? new ClickHouseUsageReader(clickhouse, { database, kept, postgres }, retentionDays)
    : postgres;
}

/** Reads counted requests. Requires `DatabaseModule` and `SettingsModule`. */
@Module({
  imports: [ClickHouseModule, LogReadingModule],
  providers: [
    {
      provide: AnalyticsReader,
      inject: [LogDatabase, KeptLogs, LogScope, CLICKHOUSE, SETTINGS],
      useFactory: (
        database: LogDatabase,
        kept: KeptLogs,
        scope: LogScope,
        ...stores: [ClickHouse | null, Settings]
      ) => readerOf([database, kept, scope], ...stores),
    },
  ],
  exports: [AnalyticsReader],
})
export class UsageReadingModule {}
