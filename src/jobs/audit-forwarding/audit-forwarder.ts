import { parseAuditTarget, purposeOfAuditSecret } from '../../common/contracts/audit-destination.js';
import type { SecretBox } from '../../common/crypto/envelope.js';
import type { Egress } from '../../egress/egress.js';
import { createLogger } from '../../common/observability/logger.js';
import { reportSparsely } from '../../common/observability/report-sparsely.js';
import { AppError } from '../../common/errors/app-error.js';
import { deliveryFailure } from '../failure-reason.js';
import type { AuditMessage } from './audit-message.js';
import { forwardingMetrics } from './forwarding-metrics.js';
import type { ClaimedDestination, DueBatches } from './due-batches.js';
import { sendSyslog } from './send-syslog.js';
import { sendWebhook } from './send-webhook.js';

/** `idle`: nothing to send, or another process sends it. */
export type ForwardingResult = 'delivered' | 'failed' | 'idle';

/** From the first byte of a batch to the receiver's confirmation. Well below the lease. */
const TRY_MS = 15_000;

/**
 * Forwards audit records to their destinations: in chain order, each at least once. A batch is claimed and sent, and only then does the
 * cursor in the destination's row advance; if a process dies in between, the batch is sent again.
 */
export class AuditForwarder {
  private readonly report = reportSparsely(createLogger('forward-audit'));

  constructor(
    private readonly batches: DueBatches,
    private readonly box: SecretBox,
    private readonly egress: Egress,
    private readonly tryMs = TRY_MS,
  ) {}

  /** Forwards one batch. Receiver errors are logged, counted and recorded in the destination's row; rejects only when the database is unavailable. */
  async forward(destinationId: string): Promise<ForwardingResult> {
    const claimed = await this.batches.claim(destinationId);
    if (!claimed) return 'idle';
    const messages = await this.batches.next(claimed);
    const last = messages.at(-1);
    if (!last) {
      await this.batches.release(claimed);
      return 'idle';
    }
    try {
      await this.send(claimed, messages);
    } catch (error) {
      this.report(`The audit destination ${destinationId} did not accept its records. Trying again.`, error);
      forwardingMetrics.deliveries.inc({ outcome: 'failed' });
      await this.batches.fail(claimed, deliveryFailure(error));
      return 'failed';
    }
    await this.batches.advance(claimed, last.record.seq);
    forwardingMetrics.deliveries.inc({ outcome: 'delivered' });
    return 'delivered';
  }

  private async send(claimed: ClaimedDestination, messages: readonly AuditMessage[]): Promise<void> {
    const target = parseAuditTarget(claimed.url);
    const signal = AbortSignal.timeout(this.tryMs);
    if (target.type === 'syslog')
      return sendSyslog(this.egress, target, messages, { ca: claimed.caCertificate, signal });
    const { organizationId, wrapped, sealedSecret } = claimed;
    if (!sealedSecret) throw new AppError('credential_unusable');
    const secret = this.box.openText(
      { organizationId, wrapped },
      purposeOfAuditSecret(claimed),
      sealedSecret,
    );
    return sendWebhook(this.egress, { organizationId, url: target.url, secret }, messages, signal);
  }
}
