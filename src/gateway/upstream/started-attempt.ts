import type { AttemptReservation } from '../recording/attempt-reservation.js';
import type { Attempt } from './attempt.js';
import type { CacheFill } from './wire.js';

/** A try that was sent, with what must be settled when it ends. */
export interface StartedAttempt {
  readonly attempt: Attempt;
  readonly reservation: AttemptReservation;
  /** Null if the response is not cached. */
  readonly cacheFill: CacheFill | null;
}
