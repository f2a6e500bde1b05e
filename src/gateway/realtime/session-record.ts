import { costOf } from '../../providers/prices/cost.js';
import type { Entry } from '../recording/entry.js';
import type { Target } from '../types/target.js';
import type { Attempt } from '../upstream/attempt.js';
import { RealtimeSession, type SessionEnd, type Sides } from './session.js';
import { type CostOf, SessionMeter } from './session-meter.js';

/** A session with the input of its record. */
export interface RecordedSession {
  readonly sides: Sides;
  readonly entry: Entry;
  readonly attempt: Attempt;
  readonly target: Target;
  readonly onEnded: () => void;
}

/** A session that records how it ended: one row, with the tokens and the cost of all its responses. */
export function recordedSession(recorded: RecordedSession): RealtimeSession {
  const meter = new SessionMeter(recorded.entry.trail.model, costAt(recorded));
  const session: RealtimeSession = new RealtimeSession(recorded.sides, meter, (end, then) => {
    recorded.onEnded();
    record(recorded, { session, meter, end }, then);
  });
  return session;
}

function costAt({ entry, target }: RecordedSession): CostOf {
  return (usage, models) => {
    for (const model of models) {
      const price = entry.priceAt(target, model);
      if (price) return costOf(usage, price);
    }
    return null;
  };
}

interface EndedSession {
  readonly session: RealtimeSession;
  readonly meter: SessionMeter;
  readonly end: SessionEnd;
}

function record(
  { entry, attempt, target }: RecordedSession,
  { session, meter, end }: EndedSession,
  then: () => void,
): void {
  const { ending, errorCode } = end;
  const { reading } = meter;
  if (reading.usage) entry.knowCost(reading.usage, meter.cost);
  entry.trail.requestBody.bytes = session.bytes.up;
  entry.responseBody.bytes = session.bytes.down;
  attempt.endedAt = performance.now();
  const isProviders = ending === 'upstream_truncated';
  entry.addAttempt(
    attempt,
    { target, trail: entry.trail },
    { errorCode: isProviders ? errorCode : null, reading },
  );
  entry.close(
    {
      ending,
      status: attempt.status,
      errorCode,
      errorSource: errorCode === null ? null : isProviders ? 'provider' : 'gateway',
      reading,
      contentType: null,
      contentEncoding: null,
      responseHeaders: attempt.rawHeaders,
    },
    then,
  );
}
