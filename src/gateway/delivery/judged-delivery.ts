import type { JudgedAnswer } from '../guardrails/judge-answer.js';
import type { Exchange } from '../types/exchange.js';
import type { Target } from '../types/target.js';
import type { Attempt } from '../upstream/attempt.js';
import { readResponseHead } from '../upstream/response-headers.js';
import { closeExchange } from './closing.js';
import { writeRewrittenHead } from './rewritten-head.js';

/** Carries an answer that was judged as a whole to the client, and ends the exchange in the journal. */
export function deliverJudged(
  { entry, response }: Exchange,
  { attempt, target }: { readonly attempt: Attempt; readonly target: Target },
  { status, contentType, body, reading, isDenied }: JudgedAnswer,
): void {
  entry.responseBody.add(body);
  const hasLeft = response.destroyed;
  const errorSource = isDenied ? 'gateway' : null;
  const verdict = isDenied
    ? ({ ending: 'refused', errorCode: 'guardrail_denied' } as const)
    : ({ ending: 'completed', errorCode: null } as const);
  closeExchange(
    {
      entry,
      attempt,
      target,
      reading,
      ...(hasLeft ? ({ ending: 'client_aborted', errorCode: null } as const) : verdict),
      status,
      errorSource,
      contentType,
      contentEncoding: null,
    },
    () => {
      if (response.destroyed) return;
      const head = readResponseHead(attempt.rawHeaders);
      writeRewrittenHead(response, entry, head, { status, contentType, bytes: body.length, errorSource });
      response.end(body);
    },
  );
}
