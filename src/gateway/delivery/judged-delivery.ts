import type { JudgedAnswer } from '../guardrails/judged-answer.js';
import { withUsageHidden } from '../translation/hidden-usage.js';
import type { Exchange } from '../recording/exchange.js';
import type { StartedAttempt } from '../upstream/started-attempt.js';
import { closeExchange } from './closing.js';
import { endWith } from './end-with.js';
import { writeRewrittenHead } from './rewritten-head.js';

/** Carries a response that was judged as a whole to the client, and ends the exchange's record. */
export function deliverJudged(
  exchange: Exchange,
  sent: StartedAttempt,
  { status, contentType, body: judged, reading, isDenied, head }: JudgedAnswer,
): void {
  const { trail, bodies, response } = exchange;
  const isStream = contentType.startsWith('text/event-stream');
  const body = isStream && trail.hidesUsage ? withUsageHidden(judged) : judged;
  bodies.response.add(body);
  const hasLeft = response.destroyed;
  const providers = status >= 400 ? 'provider' : null;
  const errorSource = isDenied ? 'gateway' : providers;
  const ending = isDenied ? 'refused' : 'completed';
  closeExchange(
    {
      exchange,
      sent,
      reading,
      ending: hasLeft ? 'client_aborted' : ending,
      errorCode: isDenied && !hasLeft ? 'guardrail_denied' : null,
      status,
      errorSource,
      contentType,
      contentEncoding: null,
    },
    () => {
      if (response.destroyed) return;
      writeRewrittenHead(response, exchange, head, { status, contentType, bytes: body.length, errorSource });
      endWith(response, body);
    },
  );
}
