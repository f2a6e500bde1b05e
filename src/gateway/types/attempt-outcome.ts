import type { AttemptTrail } from './attempt-trail.js';

/** The last try of an attempt. Times are in milliseconds on the monotonic clock. */
export interface OutcomeTry {
  readonly startedAt: number;
  readonly firstByteAt: number | null;
  /** The connection was open and the request began to be sent: it must not be sent a second time. */
  readonly wasSent: boolean;
  /** A cache hit: no provider was called. */
  readonly isReplayed: boolean;
}

/** A try as it is recorded. */
export interface RecordedTry extends OutcomeTry {
  /** Milliseconds since the epoch. */
  readonly startedAtEpoch: number;
  readonly endedAt: number | null;
  /** 0 before the head of the response. */
  readonly status: number;
  /** The client disconnected before the response was complete. */
  readonly wasLeft: boolean;
  /** It was given up after one of its timeouts. */
  readonly hasTimedOut: boolean;
  /** The response was complete. */
  readonly isWhole: boolean;
}

/** A target's response, as far as routing needs it. */
export interface TargetAnswer {
  readonly status: number;
  readonly attempt?: OutcomeTry;
}

/** A response to pass on. */
export interface AnsweredAttempt<Answer> {
  readonly kind: 'answered';
  readonly answer: Answer;
  readonly trail: AttemptTrail;
}

/** A target without a response to pass on. */
export interface UnansweredAttempt {
  readonly kind: 'failed';
  /** An AppError, or an unexpected error of the gateway. */
  readonly error: unknown;
  /** The try that failed; null if the target was refused before the request was sent. */
  readonly failed: OutcomeTry | null;
  /** The failure status that the provider reported inside a response with a success status. */
  readonly reportedStatus: number | null;
  readonly trail: AttemptTrail;
}

/** The result of an attempt at one target. */
export type AttemptOutcome<Answer> = AnsweredAttempt<Answer> | UnansweredAttempt;
