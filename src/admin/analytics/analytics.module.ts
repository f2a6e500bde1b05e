import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { LogReadingModule } from '../../request-log/reading/log-reading.module.js';
import { UsageReadingModule } from '../../request-log/analytics/usage-reading.module.js';
import { TenancyModule } from '../tenancy/tenancy.module.js';
import { AnalyticsController } from './analytics.controller.js';
import { AnalyticsService } from './analytics.service.js';
import { FacetsService } from './facets.service.js';
import { FeedbackReader } from './feedback-reader.js';
import { OverviewService } from './overview.service.js';

@Module({
  imports: [AuthModule, LogReadingModule, UsageReadingModule, TenancyModule],
  controllers: [AnalyticsController],
  providers: [AnalyticsService, FacetsService, FeedbackReader, OverviewService],
})
export class AnalyticsModule {}
