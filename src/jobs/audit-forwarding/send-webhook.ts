import { createHmac } from 'node:crypto';
import type { Secret } from '../../common/settings/secret.js';
import type { Egress } from '../../egress/egress.js';
import type { AuditMessage } from './audit-message.js';

export interface Webhook {
  readonly organizationId: string;
  readonly url: URL;
  readonly secret: Secret;
}

/**
 * Posts records as JSON Lines, signed as `x-gateway-signature: t=<seconds>,v1=<hex>`: HMAC-SHA-256 of `<seconds>.<body>`, as for guardrail
 * webhooks. A 2xx response means delivered. Redirects are not followed: they would send the records to an address that no administrator
 * entered.
 */
export async function sendWebhook(
  egress: Egress,
  { organizationId, url, secret }: Webhook,
  messages: readonly AuditMessage[],
  signal: AbortSignal,
): Promise<void> {
  const body = messages.map(({ json }) => `${json}\n`).join('');
  const answer = await egress.pool(organizationId, url.origin).request({
    method: 'POST',
    path: url.pathname,
    headers: {
      'content-type': 'application/x-ndjson',
      'user-agent': 'gatehouse',
      'x-gateway-signature': signatureOf(secret, body),
    },
    body,
    signal,
  });
  // The response body is not read: only the status counts.
  answer.body.on('error', () => undefined).destroy();
  if (answer.statusCode < 200 || answer.statusCode > 299)
    throw new Error(`it returned status ${answer.statusCode}`);
}

function signatureOf(secret: Secret, body: string): string {
  const seconds = Math.floor(Date.now() / 1000);
  const digest = createHmac('sha256', secret.reveal()).update(`${seconds}.${body}`).digest('hex');
  return `t=${seconds},v1=${digest}`;
}
