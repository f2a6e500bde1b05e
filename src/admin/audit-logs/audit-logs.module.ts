import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { AuditRecord } from '../audit/audit-record.entity.js';
import { AuditLogsController } from './audit-logs.controller.js';
import { AuditLogsService } from './audit-logs.service.js';

/** Reads, exports and verifies the audit log. */
@Module({
  imports: [AuthModule, TransactionRepositories.forFeature(AuditRecord)],
  controllers: [AuditLogsController],
  providers: [AuditLogsService],
})
export class AuditLogsModule {}
