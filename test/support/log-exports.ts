import { type INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import type { DataSource } from 'typeorm';
import { PostgresCurrentRights } from '../../src/adapters/directories/postgres-current-rights.js';
import { StoredBodies } from '../../src/admin/logs/stored-bodies.js';
import { SecretBox } from '../../src/common/crypto/envelope.js';
import { Secret } from '../../src/common/settings/secret.js';
import type { ObjectStore } from '../../src/request-log/bodies/object-store.js';
import { logRowsOf } from '../../src/admin/logs/rows/log-rows.module.js';
import { PostgresLogRows } from '../../src/admin/logs/rows/postgres-log-rows.js';
import { RequestParts } from '../../src/admin/logs/request-parts.js';
import { KeptLogs } from '../../src/request-log/reading/kept-logs.js';
import { LogDatabase } from '../../src/request-log/reading/log-database.js';
import { LogScope } from '../../src/request-log/reading/log-scope.js';
import { createDataSource } from '../../src/schema/data-source.js';
import { DatabaseModule } from '../../src/database/database.module.js';
import { UnitOfWork } from '../../src/database/unit-of-work.js';
import { SettingsModule } from '../../src/common/settings/settings.module.js';
import type { Settings } from '../../src/common/settings/settings.js';
import { ExportsModule } from '../../src/jobs/exports/exports.module.js';
import { ExportLeases } from '../../src/jobs/exports/export-lease.js';
import { ExportRows } from '../../src/jobs/exports/export-rows.js';
import { ExportWriter } from '../../src/jobs/exports/export-writer.js';
import { clickHouseUnderTest } from './usage-store.js';

export interface Exporting {
  readonly folder: string;
  readonly retentionDays?: number;
  readonly limitBytes?: number;
  readonly isStopping?: () => boolean;
  readonly bucket?: ObjectStore | null;
  readonly box?: SecretBox;
}

/** Organizations and workspaces may say otherwise. */
const KEEP_ALL = { logs: 0, bodies: 0, minutes: 0 };

/** Writes exports as the background process does, without its queue. */
export function exportWriter(
  dataSource: DataSource,
  {
    folder,
    retentionDays = 7,
    limitBytes = 2 ** 31,
    isStopping = () => false,
    bucket = null,
    box = new SecretBox(new Secret(Buffer.alloc(32, 7).toString('base64'))),
  }: Exporting,
): ExportWriter {
  const unitOfWork = new UnitOfWork(dataSource);
  const logs = new LogDatabase(dataSource, unitOfWork);
  const kept = new KeptLogs(logs, { retentionDays: KEEP_ALL });
  const rows = logRowsOf(clickHouseUnderTest(), {
    postgres: new PostgresLogRows(logs, new LogScope(logs)),
    database: logs,
    batches: dataSource,
  });
  return new ExportWriter({
    leases: new ExportLeases(dataSource),
    rows: new ExportRows(
      rows,
      new RequestParts(logs, clickHouseUnderTest()),
      kept,
      unitOfWork,
      new StoredBodies(logs, bucket, box),
    ),
    rights: new PostgresCurrentRights(dataSource),
    settings: { folder, retentionDays, limitBytes, store: bucket ? 's3' : 'folder' },
    isStopping,
    bucket,
  });
}

/** The part of a background process that writes exports, with the real queue. */
export async function startExports(settings: Settings): Promise<INestApplicationContext> {
  // Its own, because it ends with the application.
  const dataSource = createDataSource(settings.databaseUrl?.reveal() ?? '', 2, 'background');
  const module = await Test.createTestingModule({
    imports: [
      SettingsModule.forRoot(settings),
      DatabaseModule.forRoot(dataSource),
      ExportsModule.register(new PostgresCurrentRights(dataSource)),
    ],
  }).compile();
  module.useLogger(false);
  return module.init();
}
