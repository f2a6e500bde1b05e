import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { CryptoModule } from '../../common/crypto/crypto.module.js';
import { ObjectStoreModule } from '../../common/object-store/object-store.module.js';
import { LogReadingModule } from '../../common/database/log-reading/log-reading.module.js';
import { LiveLogsController } from './live/live-logs.controller.js';
import { LiveLogs } from './live/live-logs.service.js';
import { LogRows } from './log-rows.js';
import { LogsController } from './logs.controller.js';
import { LogsService } from './logs.service.js';
import { BodySearch } from './search/body-search.js';
import { StoredBodies } from './stored-bodies.js';

@Module({
  imports: [AuthModule, CryptoModule, LogReadingModule, ObjectStoreModule, WorkspacesModule],
  controllers: [LiveLogsController, LogsController],
  providers: [BodySearch, LiveLogs, LogRows, LogsService, StoredBodies],
  exports: [LogsService],
})
export class LogsModule {}
