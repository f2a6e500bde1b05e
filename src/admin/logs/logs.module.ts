import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { TenancyModule } from '../tenancy/tenancy.module.js';
import { CryptoModule } from '../../common/crypto/crypto.module.js';
import { ObjectStoreModule } from '../../request-log/bodies/object-store.module.js';
import { LiveLogsController } from './live/live-logs.controller.js';
import { LiveLogs } from './live/live-logs.service.js';
import { LogRowsModule } from './rows/log-rows.module.js';
import { LogsController } from './logs.controller.js';
import { LogsService } from './logs.service.js';
import { BodySearch } from './search/body-search.js';
import { StoredBodies } from './stored-bodies.js';

@Module({
  imports: [AuthModule, CryptoModule, LogRowsModule, ObjectStoreModule, TenancyModule],
  controllers: [LiveLogsController, LogsController],
  providers: [BodySearch, LiveLogs, LogsService, StoredBodies],
  exports: [LogsService],
})
export class LogsModule {}
