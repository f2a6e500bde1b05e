import type { JobsOptions } from 'bullmq';
import { z } from 'zod';

/** The queue of analytics jobs that were started and are not being counted. */
export const COUNT_GROUPS = 'count-groups';

export const countGroupsPayload = z.strictObject({
  /** Id of a row of `analytics_jobs`. */
  job_id: z.string().min(1).max(64),
});

export type CountGroupsPayload = z.infer<typeof countGroupsPayload>;

/** How an analytics job is added. A finished one is not kept: remaining work is recorded in its row. */
export function countGroupsJob(jobId: string): { data: CountGroupsPayload; options: JobsOptions } {
  return {
    data: { job_id: jobId },
    options: { jobId: `analytics-${jobId}`, removeOnComplete: true, removeOnFail: true },
  };
}
