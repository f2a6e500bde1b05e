import type { JudgedAnswer } from '../guardrails/judged-answer.js';
import type { Exchange } from '../recording/exchange.js';
import { withUsageHidden } from '../translation/hidden-usage.js';
import type { StartedAttempt } from '../upstream/started-attempt.js';
import { deliverRewritten } from './rewritten-response.js';

/** Carries a response that was judged as a whole to the client, and ends the exchange's record. */
export function deliverJudged(
  exchange: Exchange,
  sent: StartedAttempt,
  { status, contentType, body: judged, reading, isDenied, head }: JudgedAnswer,
): void {
  const { trail, bodies, signal } = exchange;
  const body = trail.hidesUsage ? withUsageHidden(judged) : judged;
  bodies.response.add(body);
  const hasLeft = signal.isCancelled;
  const ending = isDenied ? 'refused' : 'completed';
  deliverRewritten(exchange, {
    ...{ sent, reading, status, head, body, contentType, contentEncoding: null },
    ending: hasLeft ? 'client_aborted' : ending,
    errorCode: isDenied && !hasLeft ? 'guardrail_denied' : null,
    errorSource: isDenied ? 'gateway' : status >= 400 ? 'provider' : null,
  });
}
