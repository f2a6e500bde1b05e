import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { CryptoModule } from '../../common/crypto/crypto.module.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { ObjectStoreModule } from '../../request-log/bodies/object-store.module.js';
import { LogsModule } from '../logs/logs.module.js';
import { TenancyModule } from '../tenancy/tenancy.module.js';
import { ExportDownloads } from './export-downloads.js';
import { ExportRestrictions } from './export-restrictions.service.js';
import { LogExportFilesController } from './log-export-files.controller.js';
import { LogExportsController } from './log-exports.controller.js';
import { LogExportsService } from './log-exports.service.js';
import { LogExport } from './log-export.entity.js';
import { Organization } from '../tenancy/organization.entity.js';

@Module({
  imports: [
    AuthModule,
    CryptoModule,
    LogsModule,
    ObjectStoreModule,
    TenancyModule,
    TransactionRepositories.forFeature(LogExport, Organization),
  ],
  controllers: [LogExportsController, LogExportFilesController],
  providers: [ExportDownloads, ExportRestrictions, LogExportsService],
})
export class LogExportsModule {}
