import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { ApiKeysModule } from '../api-keys/api-keys.module.js';
import { ApiKey } from '../api-keys/api-key.entity.js';
import { VirtualKey } from '../virtual-keys/virtual-key.entity.js';
import { Workspace } from '../tenancy/workspace.entity.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { TenancyModule } from '../tenancy/tenancy.module.js';
import { LimitStatusController } from './limit-status.controller.js';
import { LimitStatusService } from './limit-status.service.js';
import { LimitSubjects } from './limit-subjects.service.js';
import { LimitUsage } from './limit-usage.service.js';

@Module({
  imports: [
    AuthModule,
    ApiKeysModule,
    TransactionRepositories.forFeature(ApiKey, VirtualKey, Workspace),
    TenancyModule,
  ],
  controllers: [LimitStatusController],
  providers: [LimitStatusService, LimitSubjects, LimitUsage],
})
export class LimitStatusModule {}
