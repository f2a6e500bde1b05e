import type { JudgedAnswer } from '../guardrails/judged-answer.js';
import { withUsageHidden } from '../translation/hidden-usage.js';
import type { Exchange } from '../recording/exchange.js';
import type { SentAttempt } from '../upstream/sent-attempt.js';
import { closeExchange } from './closing.js';
import { endWith } from './end-with.js';
import { writeRewrittenHead } from './rewritten-head.js';

/** Carries a response that was judged as a whole to the client, and ends the exchange's record. */
export function deliverJudged(
  { entry, response }: Exchange,
  sent: SentAttempt,
  { status, contentType, body: judged, reading, isDenied, head }: JudgedAnswer,
): void {
  const isStream = contentType.startsWith('text/event-stream');
  const body = isStream && entry.trail.hidesUsage ? withUsageHidden(judged) : judged;
  entry.responseBody.add(body);
  const hasLeft = response.destroyed;
  const providers = status >= 400 ? 'provider' : null;
  const errorSource = isDenied ? 'gateway' : providers;
  const ending = isDenied ? 'refused' : 'completed';
  closeExchange(
    {
      entry,
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
      writeRewrittenHead(response, entry, head, { status, contentType, bytes: body.length, errorSource });
      endWith(response, body);
    },
  );
}
