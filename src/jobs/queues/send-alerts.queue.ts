import type { JobsOptions } from 'bullmq';
import { z } from 'zod';

/** The queue of alerts to be sent. */
export const SEND_ALERTS = 'send-alerts';

export const sendAlertPayload = z.strictObject({
  /** Id of a row of `limit_alerts`. */
  alert_id: z.uuid(),
});

export type SendAlertPayload = z.infer<typeof sendAlertPayload>;

/** How the job of an alert is added. Its id is the alert's; remaining work is recorded in `limit_alerts.done_at`. */
export function sendAlertJob(alertId: string): { data: SendAlertPayload; options: JobsOptions } {
  return {
    data: { alert_id: alertId },
    options: {
      jobId: `alert-${alertId}`,
      attempts: 10,
      backoff: { type: 'exponential', delay: 2_000, jitter: 0.5 },
      removeOnComplete: true,
      removeOnFail: true,
    },
  };
}
