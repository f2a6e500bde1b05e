import type { Entry } from '../recording/entry.js';
import type { Reading } from '../recording/metering.js';
import { withUnreported } from '../recording/unreported.js';
import type { ExchangeOutcome } from '../recording/records.js';
import type { Target } from '../types/target.js';
import type { Attempt } from '../upstream/attempt.js';

/** An exchange whose answer is over, for the journal. */
export interface ClosingExchange {
  readonly entry: Entry;
  readonly attempt: Attempt;
  readonly target: Target;
  readonly reading: Reading;
  readonly ending: ExchangeOutcome['ending'];
  /** The answer came to its end, also where its client had left. Absent: where the exchange is completed. */
  readonly isComplete?: boolean;
  readonly errorCode: string | null;
  /** Of the body as the client got it. */
  readonly contentType: string | null;
  readonly contentEncoding: string | null;
  /** Absent: the provider's own. */
  readonly status?: number;
  /** Absent: the provider's, where the answer is a refusal or broke off. */
  readonly errorSource?: ExchangeOutcome['errorSource'];
}

const OK = 200;

/** Writes down the attempt and how the exchange ended. `then` runs when that survives a kill of the process. */
export function closeExchange(closing: ClosingExchange, then: () => void): void {
  const { entry, attempt, ending, errorCode } = closing;
  const place = { target: closing.target, trail: entry.trail };
  const reading = withUnreported(entry, attempt, place, closing.reading);
  const { status = attempt.status, errorSource = providersFault(attempt, ending) } = closing;
  const isProviders = ending !== 'client_aborted';
  if (ending === 'completed' && status === OK) attempt.recording?.approve();
  else attempt.recording?.drop();
  entry.addAttempt(attempt, place, {
    errorCode: isProviders ? errorCode : null,
    reading,
    isCut: ending === 'client_aborted',
    isComplete: closing.isComplete ?? ending === 'completed',
  });
  if (attempt.endedAt !== null) entry.worked(performance.now() - attempt.endedAt);
  entry.close(
    {
      ending,
      status,
      errorCode,
      errorSource,
      reading,
      contentType: closing.contentType,
      contentEncoding: closing.contentEncoding,
      responseHeaders: attempt.rawHeaders,
    },
    then,
  );
}

function providersFault(
  { status }: Attempt,
  ending: ExchangeOutcome['ending'],
): ExchangeOutcome['errorSource'] {
  return status >= 400 || ending === 'upstream_truncated' ? 'provider' : null;
}
