import { Module } from '@nestjs/common';
import { TransactionRepositories } from '../../../database/transaction-repositories.js';
import { Organization } from '../../tenancy/organization.entity.js';
import { AnalyticsJob } from './analytics-job.entity.js';
import { AnalyticsJobs } from './analytics-jobs.service.js';

@Module({
  imports: [TransactionRepositories.forFeature(AnalyticsJob, Organization)],
  providers: [AnalyticsJobs],
  exports: [AnalyticsJobs],
})
export class AnalyticsJobsModule {}
