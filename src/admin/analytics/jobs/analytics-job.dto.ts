import { ApiProperty } from '@nestjs/swagger';
import { ApiCreatedAt, ApiId, ApiMoment, ApiObject, ApiTextOrNull } from '../../dto-fields/fields.js';
import {
  ANALYTICS_JOB_STATUSES,
  type AnalyticsJob,
  type AnalyticsJobStatus,
} from './analytics-job.entity.js';

const PERCENT = 100;

export class AnalyticsJobLinksDto {
  @ApiProperty({
    description: 'Path of this resource.',
    example: '/v1/analytics/jobs/0199a0e4-6f0c-7b31-9c3f-2f4f9a1e6d10',
  })
  readonly self: string;
}

/** Grouped analytics that are counted in the background. */
export class AnalyticsJobDto {
  @ApiId() readonly id: string;
  @ApiProperty({
    description: '`in_progress` while requests are counted, then `success` or `failed`.',
    enum: ANALYTICS_JOB_STATUSES,
  })
  readonly status: AnalyticsJobStatus;
  @ApiProperty({
    description: 'Counted share of the time range, in percent.',
    type: 'integer',
    minimum: 0,
    maximum: PERCENT,
    example: 40,
  })
  readonly progress: number;
  @ApiTextOrNull('Why the job failed, or why its last attempt failed. Null if nothing is wrong.')
  readonly problem: string | null;
  @ApiCreatedAt() readonly created_at: string;
  @ApiMoment(
    'Until the job ends: time by which it must have ended. After that: time at which its result is deleted.',
  )
  readonly expires_at: string;
  @ApiProperty({ description: 'Paths of related resources.', type: AnalyticsJobLinksDto })
  readonly links: AnalyticsJobLinksDto;
  @ApiProperty({
    description: 'The response of the request that started the job. Null until it is counted.',
    type: Object,
    additionalProperties: true,
    nullable: true,
    example: null,
  })
  readonly result: object | null;
  @ApiObject('analytics-job') readonly object: 'analytics-job';

  /** `result`: the response of the request, once it is counted. */
  static from(job: AnalyticsJob, result: object | null): AnalyticsJobDto {
    return {
      object: 'analytics-job',
      id: job.id,
      status: job.status,
      progress: progressOf(job),
      problem: job.problem,
      created_at: job.createdAt.toISOString(),
      expires_at: job.expiresAt.toISOString(),
      links: { self: `/v1/analytics/jobs/${job.id}` },
      result,
    };
  }
}

/** The counted share of the time range, in whole percent. */
const progressOf = ({ fromAt, toAt, cursorAt }: AnalyticsJob): number =>
  Math.floor((PERCENT * (cursorAt.getTime() - fromAt.getTime())) / (toAt.getTime() - fromAt.getTime()));
