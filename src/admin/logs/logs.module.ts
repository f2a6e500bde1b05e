import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { LogDatabase } from './log-database.js';
import { LogRows } from './log-rows.js';
import { LogsController } from './logs.controller.js';
import { LogsService } from './logs.service.js';

@Module({
  imports: [AuthModule, WorkspacesModule],
  controllers: [LogsController],
  providers: [LogDatabase, LogRows, LogsService],
})
export class LogsModule {}
