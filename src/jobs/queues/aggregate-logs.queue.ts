import type { JobsOptions } from 'bullmq';
import { z } from 'zod';

/** The queue of stored batches of request logs that are to be added to the rollups. */
export const AGGREGATE_LOGS = 'aggregate-logs';

export const aggregateLogsPayload = z.strictObject({
  /** Id of a row of `log_batches`. */
  batch_id: z.string().min(1).max(64),
});

export type AggregateLogsPayload = z.infer<typeof aggregateLogsPayload>;

/**
 * How the job of a batch is added. Its id is the batch's, so announcing a batch twice adds one job.
 *
 * A finished job is not kept, whatever its outcome: its id must be free again, because remaining work is recorded only in
 * `log_batches.aggregated_at`. BullMQ ignores a job whose id it still has, so a batch whose job had failed permanently could never be
 * announced again. https://docs.bullmq.io/guide/jobs/job-ids
 */
export function aggregateLogsJob(batchId: string): { data: AggregateLogsPayload; options: JobsOptions } {
  return {
    data: { batch_id: batchId },
    options: {
      // The prefix keeps ids from looking like integers, which BullMQ reserves for itself.
      jobId: `batch-${batchId}`,
      attempts: 8,
      backoff: { type: 'exponential', delay: 1_000, jitter: 0.5 },
      removeOnComplete: true,
      removeOnFail: true,
    },
  };
}
