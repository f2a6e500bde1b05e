import type { Principal } from '../../auth/principal.js';
import type { AppError } from '../../common/errors/app-error.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { costOf } from '../../providers/prices/cost.js';
import { Hold } from '../limits/hold.js';
import type { Entry } from '../recording/entry.js';
import type { Target } from '../types/target.js';
import type { Admission } from '../upstream/admission.js';
import type { Attempt } from '../upstream/attempt.js';
import { CLOSE_CODES } from './frames.js';
import { RealtimeSession, type SessionEnd, type Sides } from './session.js';
import { type CostOf, SessionMeter } from './session-meter.js';
import type { SessionPart } from './session-parts.js';
import { SessionReservations } from './session-reservations.js';

/** A session with the input of its record. */
export interface RecordedSession {
  readonly sides: Sides;
  readonly admission: Admission;
  readonly entry: Entry;
  readonly attempt: Attempt;
  readonly caller: Principal;
  readonly target: Target;
  readonly onEnded: () => void;
}

/** A session with its reservations. */
export interface ReservingSession {
  readonly session: RealtimeSession;
  readonly reservations: SessionReservations;
}

/** A session that reserves each response and records how it ended: one row, with the tokens and the cost of all its responses. */
export function recordedSession(recorded: RecordedSession): ReservingSession {
  const { sides, admission, entry, attempt, caller, target } = recorded;
  const opening = attempt.hold instanceof Hold ? attempt.hold : null;
  const reservations: SessionReservations = new SessionReservations({
    ...{ admission, entry, caller, target, opening },
    keep: (parts) => keepParts(recorded, parts),
    onCovered: () => session.openGate(),
    onRefused: (error) => refuse(session, error),
  });
  const meter = new SessionMeter(entry.trail.model, costAt(recorded), reservations);
  const session: RealtimeSession = new RealtimeSession(sides, { meter, reservations }, (end, then) => {
    recorded.onEnded();
    record(recorded, { session, meter, reservations, end }, then);
  });
  return { session, reservations };
}

const MUST_NOT_RETRY = new Set([402, 403]);

/** Ends a session that a limit refuses: the client receives the error as an event of its dialect, then the close code. */
function refuse(session: RealtimeSession, { code, message, spec }: AppError): void {
  const closeCode = MUST_NOT_RETRY.has(spec.status) ? CLOSE_CODES.policyViolation : CLOSE_CODES.tryAgainLater;
  const error = { type: spec.type, code, message, param: null, event_id: null };
  const event = JSON.stringify({ type: 'error', event_id: `event_${uuidV7(Date.now())}`, error });
  session.close({ code: closeCode, reason: code }, code, event);
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

function keepParts(
  { entry, attempt, target }: RecordedSession,
  parts: readonly SessionPart[],
): Promise<void> {
  const used = parts.flatMap(({ usage, cost, charges }) => {
    const { option, startedAtEpoch: startedAt } = attempt;
    const tokens = usage ? usage.input_tokens + usage.output_tokens : 0;
    return usage
      ? [{ option, target, charges, startedAt, estimate: { tokens, costNanoUsd: cost, usage } }]
      : [];
  });
  return entry.keepSoFar(used);
}

interface EndedSession {
  readonly session: RealtimeSession;
  readonly meter: SessionMeter;
  readonly reservations: SessionReservations;
  readonly end: SessionEnd;
}

function record(recorded: RecordedSession, ended: EndedSession, then: () => void): void {
  const { entry, attempt } = recorded;
  const { session, meter, reservations } = ended;
  const { ending, errorCode } = ended.end;
  const isProviders = ending === 'upstream_truncated';
  const parts = reservations.finish();
  // A session of responses names its model in its messages only.
  const { trail } = entry;
  if (trail.model === null) entry.follows({ ...trail, model: meter.reading.responseModel });
  const reading = { ...meter.reading, usage: parts.usage };
  entry.requestBody.bytes = session.bytes.up;
  entry.responseBody.bytes = session.bytes.down;
  attempt.endedAt = performance.now();
  for (const part of parts.all.slice(0, -1)) addPart(recorded, { ...ended, part, isEarlier: true });
  addPart(recorded, { ...ended, part: parts.last, isEarlier: false });
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

interface AddedPart extends EndedSession {
  readonly part: SessionPart;
  readonly isEarlier: boolean;
}

function addPart(
  { entry, attempt, target }: RecordedSession,
  { meter, end, part, isEarlier }: AddedPart,
): void {
  const { usage, cost, charges, isEstimated } = part;
  if (usage) entry.knowCost(usage, cost);
  // Its reservations are settled already.
  attempt.hold = { settle: () => charges };
  entry.addAttempt(
    attempt,
    { target, trail: entry.trail },
    {
      errorCode: end.ending === 'upstream_truncated' ? end.errorCode : null,
      reading: { ...meter.reading, usage },
      isEstimated,
      ...(isEarlier && { isAside: true as const }),
    },
  );
}
