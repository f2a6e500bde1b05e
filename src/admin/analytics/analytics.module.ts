import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { LogReadingModule } from '../../request-log/reading/log-reading.module.js';
import { UsageReadingModule } from '../../request-log/analytics/usage-reading.module.js';
import { AnalyticsJobsModule } from './jobs/analytics-jobs.module.js';
import { TenancyModule } from '../tenancy/tenancy.module.js';
import { AnalyticsController } from './analytics.controller.js';
import { AnalyticsJobsController } from './analytics-jobs.controller.js';
import { AnalyticsService } from './analytics.service.js';
import { FacetsService } from './facets.service.js';
import { FeedbackReader } from './feedback-reader.js';
import { GroupsService } from './groups.service.js';
import { OverviewService } from './overview.service.js';

@Module({
  imports: [AnalyticsJobsModule, AuthModule, LogReadingModule, UsageReadingModule, TenancyModule],
  controllers: [AnalyticsController, AnalyticsJobsController],
  providers: [AnalyticsService, FacetsService, FeedbackReader, GroupsService, OverviewService],
})
export class AnalyticsModule {}
