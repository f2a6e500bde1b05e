import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { LogView } from './log-view.entity.js';
import { TransactionRepositories } from '../../database/transaction-repositories.js';
import { TenancyModule } from '../tenancy/tenancy.module.js';
import { LogViewsController } from './log-views.controller.js';
import { LogViewsService } from './log-views.service.js';

@Module({
  imports: [AuthModule, TenancyModule, TransactionRepositories.forFeature(LogView)],
  controllers: [LogViewsController],
  providers: [LogViewsService],
})
export class LogViewsModule {}
