import { Get, Param } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import { Caller, RequireScope } from '../../auth/permissions/access.decorators.js';
import type { Principal } from '../../auth/principal.js';
import { AnalyticsJobDto } from './jobs/analytics-job.dto.js';
import { AnalyticsJobs } from './jobs/analytics-jobs.service.js';
import { AdminController } from '../controllers/admin-controller.js';
import { Refusals } from '../openapi/decorators.js';
import { GroupsService } from './groups.service.js';

@AdminController('analytics/jobs')
@Refusals()
export class AnalyticsJobsController {
  constructor(
    private readonly jobs: AnalyticsJobs,
    private readonly groups: GroupsService,
  ) {}

  @Get(':id')
  @RequireScope('analytics.view')
  @ApiOperation({
    summary: 'Read a job of grouped analytics',
    description:
      'Returns how much is counted and, once all is, the groups as the request that started the job would have returned them. A caller that may not send that request gets 404, and so does everyone after `expires_at`.',
  })
  @ApiOkResponse({ type: AnalyticsJobDto })
  async get(@Caller() caller: Principal, @Param('id') id: string): Promise<AnalyticsJobDto> {
    const job = await this.jobs.get(caller, id);
    return AnalyticsJobDto.from(job, await this.groups.resultOf(job));
  }
}
