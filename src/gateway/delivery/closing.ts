import type { BegunExchange } from '../recording/exchange-recorder.js';
import type { Reading } from '../recording/metering.js';
import type { ExchangeOutcome } from '../recording/record-of.js';
import type { Attempt } from '../upstream/attempt.js';
import type { StartedAttempt } from '../upstream/started-attempt.js';

/** An exchange whose response has ended, for its record. */
export interface ClosingExchange {
  readonly exchange: BegunExchange;
  readonly sent: StartedAttempt;
  readonly reading: Reading;
  readonly ending: ExchangeOutcome['ending'];
  /** The response was complete, even if the client had disconnected. Default: whether the exchange was completed. */
  readonly isComplete?: boolean;
  readonly errorCode: string | null;
  /** Of the body as the client receives it. */
  readonly contentType: string | null;
  readonly contentEncoding: string | null;
  /** Default: the provider's own. */
  readonly status?: number;
  /** Default: the provider's, if the response is a refusal or broke off. */
  readonly errorSource?: ExchangeOutcome['errorSource'];
}

const OK = 200;

/** Records the attempt and how the exchange ended. `then` runs once that would survive a kill of the process. */
export function closeExchange(closing: ClosingExchange, then: () => void): void {
  const { exchange, ending, errorCode } = closing;
  const { attempt, reservation, cacheFill } = closing.sent;
  const { status = attempt.status, errorSource = providersFault(attempt, ending) } = closing;
  const isProviders = ending !== 'client_aborted';
  if (ending === 'completed' && status === OK) cacheFill?.approve();
  else cacheFill?.release();
  const reading = reservation.settleDelivered(attempt, exchange.trail, {
    errorCode: isProviders ? errorCode : null,
    reading: closing.reading,
    isCut: ending === 'client_aborted',
    isComplete: closing.isComplete ?? ending === 'completed',
  });
  exchange.recorder.close(
    exchange,
    {
      ending,
      status,
      errorCode,
      errorSource,
      reading,
      contentType: closing.contentType,
      contentEncoding: closing.contentEncoding,
      responseHeaders: attempt.rawHeaders,
      answeredAt: attempt.endedAt,
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
