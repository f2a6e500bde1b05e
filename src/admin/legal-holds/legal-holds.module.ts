import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { TenancyModule } from '../tenancy/tenancy.module.js';
import { LegalHoldsController } from './legal-holds.controller.js';
import { LegalHoldsService } from './legal-holds.service.js';
import { LegalHold } from './legal-hold.entity.js';

/** Exempts request logs from retention. */
@Module({
  imports: [AuthModule, TenancyModule, TransactionRepositories.forFeature(LegalHold)],
  controllers: [LegalHoldsController],
  providers: [LegalHoldsService],
})
export class LegalHoldsModule {}
