import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { LogReadingModule } from '../../common/database/log-reading/log-reading.module.js';
import { LiveLogsController } from './live/live-logs.controller.js';
import { LiveLogs } from './live/live-logs.service.js';
import { LogRows } from './log-rows.js';
import { LogsController } from './logs.controller.js';
import { LogsService } from './logs.service.js';
import { BodySearch } from './search/body-search.js';

@Module({
  imports: [AuthModule, LogReadingModule, WorkspacesModule],
  controllers: [LiveLogsController, LogsController],
  providers: [BodySearch, LiveLogs, LogRows, LogsService],
  exports: [LogsService],
})
export class LogsModule {}
