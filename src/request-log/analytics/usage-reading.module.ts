import { Module } from '@nestjs/common';
import { KeptLogs } from '../reading/kept-logs.js';
import { LogDatabase } from '../reading/log-database.js';
import { LogReadingModule } from '../reading/log-reading.module.js';
import { SETTINGS } from '../../common/settings/settings.module.js';
import type { Settings } from '../../common/settings/settings.js';
import type { ClickHouse } from './clickhouse/clickhouse.js';
import { CLICKHOUSE, ClickHouseModule } from './clickhouse/clickhouse.module.js';
import { ClickHouseUsageReader } from './clickhouse/clickhouse-usage-reader.js';
import { PostgresUsageReader } from './postgres/postgres-usage-reader.js';
import { AnalyticsReader } from './usage-store.js';

function readerOf(
  database: LogDatabase,
  kept: KeptLogs,
  clickhouse: ClickHouse | null,
  { retentionDays }: Pick<Settings, 'retentionDays'>,
): AnalyticsReader {
  const postgres = new PostgresUsageReader(database, kept);
  return clickhouse
    ? new ClickHouseUsageReader(clickhouse, { database, kept, postgres }, retentionDays)
    : postgres;
}

/** Reads counted requests. Requires `DatabaseModule` and `SettingsModule`. */
@Module({
  imports: [ClickHouseModule, LogReadingModule],
  providers: [
    { provide: AnalyticsReader, inject: [LogDatabase, KeptLogs, CLICKHOUSE, SETTINGS], useFactory: readerOf },
  ],
  exports: [AnalyticsReader],
})
export class UsageReadingModule {}
