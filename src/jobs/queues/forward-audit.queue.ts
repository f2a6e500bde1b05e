import type { JobsOptions } from 'bullmq';
import { z } from 'zod';

/** The queue of destinations that have audit records to take. */
export const FORWARD_AUDIT = 'forward-audit';

export const forwardAuditPayload = z.strictObject({
  /** Id of a row of `audit_destinations`. */
  destination_id: z.string().min(1).max(64),
});

export type ForwardAuditPayload = z.infer<typeof forwardAuditPayload>;

/**
 * How the job of a destination is added. Its id is the destination's, so that one waits at most. It is tried once: how
 * far the destination came and when it is next to be tried stand in its row, and the sweep announces it again.
 */
export function forwardAuditJob(destinationId: string): { data: ForwardAuditPayload; options: JobsOptions } {
  return {
    data: { destination_id: destinationId },
    options: { jobId: `audit-${destinationId}`, attempts: 1, removeOnComplete: true, removeOnFail: true },
  };
}
