import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { LogReadingModule } from '../../common/database/log-reading/log-reading.module.js';
import { LogRows } from './log-rows.js';
import { LogsController } from './logs.controller.js';
import { LogsService } from './logs.service.js';

@Module({
  imports: [AuthModule, LogReadingModule, WorkspacesModule],
  controllers: [LogsController],
  providers: [LogRows, LogsService],
  exports: [LogsService],
})
export class LogsModule {}
