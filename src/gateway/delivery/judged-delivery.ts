import type { JudgedAnswer } from '../guardrails/judged-answer.js';
import type { Exchange } from '../recording/exchange.js';
import { withUsageHidden } from '../translation/hidden-usage.js';
import type { DeliveredResponse } from './delivery.js';
import { deliverRewritten } from './rewritten-response.js';

/** Carries a response that was judged as a whole to the client, and ends the exchange's record. */
export function deliverJudged(
  exchange: Exchange,
  { attempt, target }: DeliveredResponse,
  { status, contentType, body: judged, reading, isDenied, head }: JudgedAnswer,
): void {
  const { entry, signal } = exchange;
  const body = entry.trail.hidesUsage ? withUsageHidden(judged) : judged;
  entry.responseBody.add(body);
  const hasLeft = signal.isCancelled;
  const ending = isDenied ? 'refused' : 'completed';
  deliverRewritten(exchange, {
    ...{ attempt, target, reading, status, head, body, contentType, contentEncoding: null },
    ending: hasLeft ? 'client_aborted' : ending,
    errorCode: isDenied && !hasLeft ? 'guardrail_denied' : null,
    errorSource: isDenied ? 'gateway' : status >= 400 ? 'provider' : null,
  });
}
