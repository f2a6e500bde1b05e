import type { JobsOptions } from 'bullmq';
import { z } from 'zod';

/** The queue of exports of the request log that were started and are not being written. */
export const EXPORT_LOGS = 'export-logs';

export const exportLogsPayload = z.strictObject({
  /** Id of a row of `log_exports`. */
  export_id: z.string().min(1).max(64),
});

export type ExportLogsPayload = z.infer<typeof exportLogsPayload>;

/** How the job of an export is added. A finished job is not kept: remaining work is recorded in the export's row. */
export function exportLogsJob(exportId: string): { data: ExportLogsPayload; options: JobsOptions } {
  return {
    data: { export_id: exportId },
    options: { jobId: `export-${exportId}`, removeOnComplete: true, removeOnFail: true },
  };
}
