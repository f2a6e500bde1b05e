import { BullModule } from '@nestjs/bullmq';
import { type DynamicModule, Module } from '@nestjs/common';
import { LogRowsModule } from '../../admin/logs/rows/log-rows.module.js';
import { StoredBodies } from '../../admin/logs/stored-bodies.js';
import { CurrentRights } from '../../auth/ports.js';
import { CryptoModule } from '../../common/crypto/crypto.module.js';
import { ObjectStoreModule } from '../../request-log/bodies/object-store.module.js';
import { EXPORT_LOGS } from '../queues/export-logs.queue.js';
import { QueuesModule } from '../queues/queues.module.js';
import { ExportLogsProcessor } from './export-logs.processor.js';
import { ExportRows } from './export-rows.js';
import { SweepExports } from './sweep-exports.js';

/** Writes exports of the request log. Requires `SettingsModule` and `DatabaseModule`. */
@Module({})
export class ExportsModule {
  static register(rights: CurrentRights): DynamicModule {
    return {
      module: ExportsModule,
      imports: [
        CryptoModule,
        LogRowsModule,
        ObjectStoreModule,
        QueuesModule,
        BullModule.registerQueue({ name: EXPORT_LOGS }),
      ],
      providers: [
        StoredBodies,
        { provide: CurrentRights, useValue: rights },
        ExportLogsProcessor,
        ExportRows,
        SweepExports,
      ],
    };
  }
}
