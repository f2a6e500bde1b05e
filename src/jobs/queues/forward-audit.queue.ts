import type { JobsOptions } from 'bullmq';
import { z } from 'zod';

/** The queue of destinations with pending audit records. */
export const FORWARD_AUDIT = 'forward-audit';

export const forwardAuditPayload = z.strictObject({
  /** Id of a row of `audit_destinations`. */
  destination_id: z.string().min(1).max(64),
});

export type ForwardAuditPayload = z.infer<typeof forwardAuditPayload>;

/**
 * How the job of a destination is added. Its id is the destination's, so that at most one waits. It is tried once: the destination's row
 * holds its cursor and next attempt, and the sweep announces it again.
 */
export function forwardAuditJob(destinationId: string): { data: ForwardAuditPayload; options: JobsOptions } {
  return {
    data: { destination_id: destinationId },
    options: { jobId: `audit-${destinationId}`, attempts: 1, removeOnComplete: true, removeOnFail: true },
  };
}
