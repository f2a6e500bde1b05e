import { alertPurpose } from '../../common/contracts/alert-purpose.js';
import type { SecretBox } from '../../common/crypto/envelope.js';
import type { Queryable } from '../../database/queryable.js';
import type { HttpCaller } from '../../egress/http-caller.js';
import { webhookSignature } from '../../common/http/webhook-signature.js';
import type { Mailer } from '../mails/mailer.js';

/** `void`: it was sent, is being sent, or has no recipient. */
export type AlertDelivery = 'sent' | 'void';

/** An alert as sent, with names as on the wire. Amounts are dollars or tokens. */
export interface Alert {
  /** Stays the same when it is sent again. */
  readonly id: string;
  readonly type: 'budget.threshold' | 'budget.exhausted';
  readonly organisation_id: string;
  readonly limit_id: string;
  /** Display name of the budget's owner. */
  readonly subject: string;
  /** The values that a policy groups by; null without grouping. */
  readonly group: string | null;
  readonly measure: 'cost' | 'tokens';
  readonly spent: number;
  readonly credit_limit: number;
  readonly at: string;
}

interface LimitAlertRow {
  readonly id: string;
  readonly channel: 'mail' | 'webhook';
  readonly kind: 'threshold' | 'exhausted';
  readonly organization_id: string;
  readonly organization: string;
  readonly limit_id: string;
  readonly subject: string | null;
  readonly group_text: string | null;
  readonly measure: 'cost' | 'tokens';
  readonly spent: string;
  readonly amount: string;
  readonly at: Date;
  readonly recipients: readonly string[] | null;
  readonly alert_webhook_url: string | null;
  readonly sealed_alert_secret: Buffer | null;
  readonly wrapped_key: Buffer;
}

/** Longer than an attempt can take. An alert held by a process that died is released after this time. */
const LEASE = '2 minutes';
const TIMEOUT_MS = 10_000;
const NANO = 1e9;

const CLAIM = `
  UPDATE limit_alerts SET leased_until = now() + interval '${LEASE}'
  WHERE id = $1 AND done_at IS NULL AND (leased_until IS NULL OR leased_until < now())
  RETURNING id`;

const HAS_LIMIT = `usage_limits @> jsonb_build_array(jsonb_build_object('id', event.limit_id))`;

/** Owners and admins of the organization, the user who owns the key, and the addresses that the key names. */
const FACTS = `
  SELECT alert.id, alert.channel, event.kind, event.organization_id, organization.name AS organization, event.limit_id,
    event.group_text, counter.measure, event.spent, event.amount, event.at,
    organization.alert_webhook_url, organization.sealed_alert_secret, organization.wrapped_key,
    coalesce('the API key "' || key.name || '"',
      (SELECT 'the virtual key "' || slug || '"' FROM virtual_keys WHERE organization_id = event.organization_id AND ${HAS_LIMIT} LIMIT 1),
      (SELECT 'the workspace "' || name || '"' FROM workspaces WHERE organization_id = event.organization_id AND ${HAS_LIMIT} LIMIT 1),
      (SELECT 'the policy "' || coalesce(name, '') || '"' FROM limit_policies
        WHERE organization_id = event.organization_id AND budget ->> 'id' = event.limit_id::text LIMIT 1)) AS subject,
    (SELECT array_agg(email) FROM (
      SELECT person.email FROM users person
      WHERE person.organization_id = event.organization_id AND person.status = 'active'
        AND (person.role IN ('owner', 'admin') OR person.id = key.user_id)
      UNION SELECT unnest(key.alert_emails)) AS told) AS recipients
  FROM limit_alerts alert
    JOIN limit_events event ON event.counter = alert.counter AND event.kind = alert.kind
    JOIN limit_counters counter ON counter.key = event.counter
    JOIN organizations organization ON organization.id = event.organization_id
    LEFT JOIN LATERAL (
      SELECT name, user_id, alert_emails FROM api_keys WHERE organization_id = event.organization_id AND ${HAS_LIMIT} LIMIT 1
    ) AS key ON true
  WHERE alert.id = $1`;

const DONE = `UPDATE limit_alerts SET done_at = now(), outcome = $2, leased_until = NULL WHERE id = $1`;

/**
 * Sends one notification when a budget's threshold or end is reached.
 *
 * An alert is claimed before it is sent and marked afterwards, so that no other process sends it, too. Only if a process dies between the
 * response and the mark is it sent again, with the same id.
 */
export class LimitAlerts {
  constructor(
    private readonly database: Queryable,
    private readonly http: Pick<HttpCaller, 'call'>,
    private readonly box: SecretBox,
    /** Null when mail is not configured. */
    private readonly mailer: Pick<Mailer, 'send'> | null,
  ) {}

  /** Rejects when it was not delivered; it can then be retried at once. */
  async send(alertId: string): Promise<AlertDelivery> {
    const row = await this.claimed(alertId);
    if (!row) return 'void';
    try {
      const outcome = await (row.channel === 'mail' ? this.mail(row) : this.call(row));
      await this.database.query(DONE, [alertId, outcome]);
      return outcome;
    } catch (error) {
      await this.database.query('UPDATE limit_alerts SET leased_until = NULL WHERE id = $1', [alertId]);
      throw error;
    }
  }

  /** Inner joins drop alerts of budgets that were reset in the meantime. */
  private async claimed(alertId: string): Promise<LimitAlertRow | null> {
    const claim = `WITH claimed AS (${CLAIM}) ${FACTS} AND EXISTS (SELECT FROM claimed)`;
    const [row]: LimitAlertRow[] = await this.database.query(claim, [alertId]);
    return row ?? null;
  }

  private async mail(row: LimitAlertRow): Promise<AlertDelivery> {
    const { recipients } = row;
    if (!this.mailer || !recipients?.length) return 'void';
    await this.mailer.send({ to: recipients.join(', '), ...mailOf(alertOf(row), row.organization) });
    return 'sent';
  }

  private async call(row: LimitAlertRow): Promise<AlertDelivery> {
    const { alert_webhook_url: url, organization_id: organizationId } = row;
    if (url === null) return 'void';
    const body = JSON.stringify(alertOf(row));
    const secret = this.secretOf(row);
    const { status } = await this.http.call(organizationId, {
      method: 'POST',
      url,
      headers: [
        'content-type',
        'application/json',
        ...(secret === null ? [] : webhookSignature(secret, body)),
      ],
      body,
      timeoutMs: TIMEOUT_MS,
    });
    if (status < 200 || status > 299) throw new Error(`The webhook for alerts returned status ${status}.`);
    return 'sent';
  }

  private secretOf({
    organization_id,
    sealed_alert_secret: sealed,
    wrapped_key: wrapped,
  }: LimitAlertRow): string | null {
    if (!sealed) return null;
    const key = { organizationId: organization_id, wrapped };
    return this.box.openText(key, alertPurpose(organization_id), sealed).reveal();
  }
}

function alertOf(row: LimitAlertRow): Alert {
  const shown = (amount: string): number => (row.measure === 'cost' ? Number(amount) / NANO : Number(amount));
  return {
    id: row.id,
    type: `budget.${row.kind}`,
    organisation_id: row.organization_id,
    limit_id: row.limit_id,
    subject: row.subject ?? 'a deleted limit',
    group: row.group_text,
    measure: row.measure,
    spent: shown(row.spent),
    credit_limit: shown(row.amount),
    at: row.at.toISOString(),
  };
}

function mailOf(alert: Alert, organization: string): { readonly subject: string; readonly text: string } {
  const { type, subject, group, measure, spent, credit_limit } = alert;
  const amount = (value: number): string => (measure === 'cost' ? `$${value.toFixed(2)}` : `${value} tokens`);
  const what = type === 'budget.exhausted' ? 'is used up' : 'has reached its alert threshold';
  return {
    subject: `${organization}: the budget of ${subject} ${what}`.replaceAll(/[\r\n]+/g, ' '),
    text: [
      `The budget of ${subject}${group === null ? '' : ` (${group})`} in ${organization} ${what}.`,
      '',
      `Used: ${amount(spent)} of ${amount(credit_limit)}.`,
      ...(type === 'budget.exhausted' ? ['Requests are refused until it resets or is raised.'] : []),
      '',
    ].join('\n'),
  };
}
