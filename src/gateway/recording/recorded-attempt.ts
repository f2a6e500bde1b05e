import type { AttemptRecord } from '../../request-log/record.js';
import type { Estimate } from '../limits/estimate.js';
import type { Hold } from '../limits/hold.js';
import type { Target } from '../types/target.js';
import type { Reading } from './metering.js';

/** Input of an attempt's record. Times are in milliseconds. `Attempt` implements it. */
export interface RecordedAttempt {
  readonly startedAt: number;
  readonly startedAtEpoch: number;
  readonly firstByteAt: number | null;
  readonly endedAt: number | null;
  /** 0 before the head of the response. */
  readonly status: number;
  /** The target's path in the config, and the model there; null for the request's own. */
  readonly option: string;
  readonly model: string | null;
  readonly wasSent: boolean;
  readonly wasLeft: boolean;
  readonly hasTimedOut: boolean;
  /** The response came from the cache. */
  readonly isReplayed: boolean;
  /** Its response was complete. */
  readonly isWhole: boolean;
  /** Its maximum usage; null if no limit reserved it. */
  readonly reserved: Estimate | null;
  /** From here on, fields are null once the record takes them over: limit reservations, its reservation record, target and reading. */
  hold: Pick<Hold, 'settle'> | null;
  reservation: AttemptRecord | null;
  target: Target | null;
  partial: Reading | null;
}
