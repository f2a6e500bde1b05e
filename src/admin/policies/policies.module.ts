import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { LimitsModule } from '../limits/limits.module.js';
import { TenancyModule } from '../tenancy/tenancy.module.js';
import { PoliciesService } from './policies.service.js';
import { PolicyEntitiesService } from './policy-entities.service.js';
import { RatePoliciesController } from './rate-policies.controller.js';
import { UsagePoliciesController } from './usage-policies.controller.js';
import { LimitPolicy } from './limit-policy.entity.js';

@Module({
  imports: [AuthModule, LimitsModule, TenancyModule, TransactionRepositories.forFeature(LimitPolicy)],
  controllers: [UsagePoliciesController, RatePoliciesController],
  providers: [PoliciesService, PolicyEntitiesService],
})
export class PoliciesModule {}
