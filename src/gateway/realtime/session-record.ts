import type { Principal } from '../../auth/principal.js';
import type { AppError } from '../../common/errors/app-error.js';
import { uuidV7 } from '../../common/ids/uuid-v7.js';
import { costOf } from '../../providers/prices/cost.js';
import type { Exchange } from '../recording/exchange.js';
import type { RecordedTry } from '../types/attempt-outcome.js';
import type { Admission } from '../upstream/admission.js';
import type { Attempt } from '../upstream/attempt.js';
import type { StartedAttempt } from '../upstream/started-attempt.js';
import { CLOSE_CODES } from './frames.js';
import { RealtimeSession, type SessionEnd, type Sides } from './session.js';
import { type CostOf, SessionMeter } from './session-meter.js';
import type { SessionPart } from './session-parts.js';
import { SessionReservations } from './session-reservations.js';

/** A session with the input of its record. */
export interface RecordedSession {
  readonly sides: Sides;
  readonly admission: Admission;
  /** With the trail of the attempt that opened it. */
  readonly exchange: Exchange;
  readonly sent: StartedAttempt;
  readonly caller: Principal;
  readonly onEnded: () => void;
}

/** A session with its reservations. */
export interface ReservingSession {
  readonly session: RealtimeSession;
  readonly reservations: SessionReservations;
}

/** A session that reserves each response and records how it ended: one row, with the tokens and the cost of all its responses. */
export function recordedSession(recorded: RecordedSession): ReservingSession {
  const { sides, admission, exchange, caller } = recorded;
  const { target, hold: opening } = recorded.sent.reservation;
  const reservations: SessionReservations = new SessionReservations({
    ...{ admission, exchange, caller, target, opening },
    keep: (parts) => keepParts(recorded, parts),
    onCovered: () => session.openGate(),
    onRefused: (error) => refuse(session, error),
  });
  const meter = new SessionMeter(exchange.trail.model, costAt(recorded), reservations);
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

function costAt({ admission, sent }: RecordedSession): CostOf {
  const { target } = sent.reservation;
  return (usage, models) => {
    for (const model of models) {
      const price = admission.priceAt(target, model);
      if (price) return costOf(usage, price);
    }
    return null;
  };
}

function keepParts(
  { sent: { attempt, reservation } }: RecordedSession,
  parts: readonly SessionPart[],
): Promise<void> {
  const used = parts.flatMap(({ usage, cost, charges }) => {
    const { startedAtEpoch: startedAt } = attempt;
    const tokens = usage ? usage.input_tokens + usage.output_tokens : 0;
    return usage ? [{ charges, startedAt, estimate: { tokens, costNanoUsd: cost, usage } }] : [];
  });
  return reservation.store(used);
}

interface EndedSession {
  readonly session: RealtimeSession;
  readonly meter: SessionMeter;
  readonly reservations: SessionReservations;
  readonly end: SessionEnd;
}

function record(recorded: RecordedSession, ended: EndedSession, then: () => void): void {
  const { exchange, sent } = recorded;
  const { attempt, reservation } = sent;
  const { session, meter, reservations } = ended;
  const { ending, errorCode } = ended.end;
  const isProviders = ending === 'upstream_truncated';
  const parts = reservations.finish();
  // A session of responses names its model in its messages only.
  const model = exchange.trail.model ?? meter.reading.responseModel;
  const reading = { ...meter.reading, usage: parts.usage };
  const settled = parts.all.map((part) => ({
    errorCode: isProviders ? errorCode : null,
    reading: { ...meter.reading, usage: part.usage },
    cost: part.cost,
    charges: part.charges,
    isEstimated: part.isEstimated,
    isEarlier: part !== parts.last,
  }));
  reservation.settleSession(endedNow(attempt), settled);
  exchange.recorder.close(
    { ...exchange, trail: { ...exchange.trail, model } },
    {
      ending,
      status: attempt.status,
      errorCode,
      errorSource: errorCode === null ? null : isProviders ? 'provider' : 'gateway',
      reading,
      contentType: null,
      contentEncoding: null,
      responseHeaders: attempt.rawHeaders,
      sessionBytes: session.bytes,
    },
    then,
  );
}

/** The try of a session, which lasts longer than its upgrade. */
function endedNow(attempt: Attempt): RecordedTry {
  const { startedAt, startedAtEpoch, firstByteAt, status, wasSent, wasLeft } = attempt;
  const { hasTimedOut, isReplayed, isWhole } = attempt;
  return {
    ...{ startedAt, startedAtEpoch, firstByteAt, endedAt: performance.now(), status },
    ...{ wasSent, wasLeft, hasTimedOut, isReplayed, isWhole },
  };
}
