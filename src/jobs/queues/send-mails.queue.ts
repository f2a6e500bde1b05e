import type { JobsOptions } from 'bullmq';
import { z } from 'zod';

/** The queue of mails to be sent. */
export const SEND_MAILS = 'send-mails';

export const sendMailPayload = z.strictObject({
  /** Id of a row of `mails`. */
  mail_id: z.string().min(1).max(64),
});

export type SendMailPayload = z.infer<typeof sendMailPayload>;

/**
 * How the job of a mail is added. Its id is the mail's, so a mail that is announced again adds no second job while the first waits for its
 * retry. A finished job is not kept: remaining work is recorded in `mails.sent_at`.
 */
export function sendMailJob(mailId: string): { data: SendMailPayload; options: JobsOptions } {
  return {
    data: { mail_id: mailId },
    options: {
      jobId: `mail-${mailId}`,
      attempts: 10,
      backoff: { type: 'exponential', delay: 2_000, jitter: 0.5 },
      removeOnComplete: true,
      removeOnFail: true,
    },
  };
}
