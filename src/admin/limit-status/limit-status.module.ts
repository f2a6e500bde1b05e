import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { ApiKey } from '../../common/database/entities/api-key.entity.js';
import { VirtualKey } from '../../common/database/entities/virtual-key.entity.js';
import { Workspace } from '../../common/database/entities/workspace.entity.js';
import { TransactionRepositories } from '../../common/database/transaction-repositories.js';
import { WorkspacesModule } from '../workspaces/workspaces.module.js';
import { LimitStatusController } from './limit-status.controller.js';
import { LimitStatusService } from './limit-status.service.js';
import { LimitSubjects } from './limit-subjects.service.js';
import { LimitUsage } from './limit-usage.service.js';

@Module({
  imports: [AuthModule, TransactionRepositories.forFeature(ApiKey, VirtualKey, Workspace), WorkspacesModule],
  controllers: [LimitStatusController],
  providers: [LimitStatusService, LimitSubjects, LimitUsage],
})
export class LimitStatusModule {}
