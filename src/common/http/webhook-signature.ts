import { createHmac } from 'node:crypto';

/**
 * The signature header of calls that the gateway sends to a service, name and value in turn: HMAC-SHA-256 of `<seconds>.<body>`. The
 * timestamp prevents replays; it is signed together with the body.
 */
export function webhookSignature(secret: string, body: string): string[] {
  const seconds = Math.floor(Date.now() / 1000);
  const digest = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return ['x-gateway-signature', `t=${seconds},v1=${digest}`];
}
