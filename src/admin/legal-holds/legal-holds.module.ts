import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { TenancyModule } from '../tenancy/tenancy.module.js';
import { LegalHoldsController } from './legal-holds.controller.js';
import { LegalHoldsService } from './legal-holds.service.js';

/** Exempts request logs from retention. */
@Module({
  imports: [AuthModule, TenancyModule],
  controllers: [LegalHoldsController],
  providers: [LegalHoldsService],
})
export class LegalHoldsModule {}
