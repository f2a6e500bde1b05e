import type { INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import type { DataSource } from 'typeorm';
import { SettingsModule } from '../../src/common/settings/settings.module.js';
import type { Settings } from '../../src/common/settings/settings.js';
import { DatabaseModule } from '../../src/database/database.module.js';
import { UnitOfWork } from '../../src/database/unit-of-work.js';
import { AnalyticsLeases } from '../../src/jobs/analytics/analytics-leases.js';
import { CountGroupsModule } from '../../src/jobs/analytics/count-groups.module.js';
import { GroupCounter } from '../../src/jobs/analytics/group-counter.js';
import { PostgresUsageReader } from '../../src/request-log/analytics/postgres/postgres-usage-reader.js';
import { KeptLogs } from '../../src/request-log/reading/kept-logs.js';
import { LogDatabase } from '../../src/request-log/reading/log-database.js';
import { LogScope } from '../../src/request-log/reading/log-scope.js';
import { createDataSource } from '../../src/schema/data-source.js';

export interface Counting {
  readonly isStopping?: () => boolean;
  readonly groupsMax?: number;
  readonly partMs?: number;
}

/** Counts analytics jobs as the background process does, without its queue. */
export function groupCounter(
  dataSource: DataSource,
  { isStopping = () => false, ...more }: Counting = {},
): GroupCounter {
  const unitOfWork = new UnitOfWork(dataSource);
  const logs = new LogDatabase(dataSource, unitOfWork);
  const kept = new KeptLogs(logs, { retentionDays: { logs: 0, bodies: 0, minutes: 0 } });
  const reader = new PostgresUsageReader(logs, kept, new LogScope(logs));
  return new GroupCounter({
    leases: new AnalyticsLeases(dataSource),
    reader,
    unitOfWork,
    isStopping,
    ...more,
  });
}

/** The part of a background process that counts analytics jobs, with the real queue. */
export async function startCounting(settings: Settings): Promise<INestApplicationContext> {
  // Its own, because it ends with the application.
  const dataSource = createDataSource(settings.databaseUrl?.reveal() ?? '', 2, 'background');
  const module = await Test.createTestingModule({
    imports: [SettingsModule.forRoot(settings), DatabaseModule.forRoot(dataSource), CountGroupsModule],
  }).compile();
  module.useLogger(false);
  return module.init();
}
