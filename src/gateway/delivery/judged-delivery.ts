import type { JudgedAnswer } from '../guardrails/judge-answer.js';
import type { Exchange } from '../types/exchange.js';
import type { Target } from '../types/target.js';
import type { Attempt } from '../upstream/attempt.js';
import { closeExchange } from './closing.js';
import { writeRewrittenHead } from './rewritten-head.js';

/** Up to here head and body leave in one write. */
const ONE_WRITE_BYTES_MAX = 16 * 1024;

/** Carries an answer that was judged as a whole to the client, and ends the exchange in the journal. */
export function deliverJudged(
  { entry, response }: Exchange,
  { attempt, target }: { readonly attempt: Attempt; readonly target: Target },
  { status, contentType, body, reading, isDenied, head }: JudgedAnswer,
): void {
  entry.responseBody.add(body);
  const hasLeft = response.destroyed;
  const errorSource = isDenied ? 'gateway' : null;
  const ending = isDenied ? 'refused' : 'completed';
  closeExchange(
    {
      entry,
      attempt,
      target,
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
      // Node writes head and body at once when the body is a string; as Latin-1 each byte comes out as it was.
      if (body.length <= ONE_WRITE_BYTES_MAX) response.end(body.toString('latin1'), 'latin1');
      else response.end(body);
    },
  );
}
