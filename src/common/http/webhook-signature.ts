import { createHmac } from 'node:crypto';

/**
 * The header with which the gateway signs what it sends to a service, name and value in turn: HMAC-SHA-256 of
 * `<seconds>.<body>`. The seconds keep an old call from being sent again; both sides of the point are signed.
 */
export function webhookSignature(secret: string, body: string): string[] {
  const seconds = Math.floor(Date.now() / 1000);
  const digest = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return ['x-gateway-signature', `t=${seconds},v1=${digest}`];
}
