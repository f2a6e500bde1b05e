import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { CryptoModule } from '../../common/crypto/crypto.module.js';
import { AuditDestinationsController } from './audit-destinations.controller.js';
import { AuditDestinationsService } from './audit-destinations.service.js';

/** Destinations of audit records. The worker forwards to them. */
@Module({
  imports: [AuthModule, CryptoModule],
  controllers: [AuditDestinationsController],
  providers: [AuditDestinationsService],
})
export class AuditDestinationsModule {}
