import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { CryptoModule } from '../../common/crypto/crypto.module.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { AuditDestinationsController } from './audit-destinations.controller.js';
import { AuditDestinationsService } from './audit-destinations.service.js';
import { AuditDestination } from './audit-destination.entity.js';
import { Organization } from '../tenancy/organization.entity.js';

/** Destinations of audit records. The worker forwards to them. */
@Module({
  imports: [AuthModule, CryptoModule, TransactionRepositories.forFeature(AuditDestination, Organization)],
  controllers: [AuditDestinationsController],
  providers: [AuditDestinationsService],
})
export class AuditDestinationsModule {}
