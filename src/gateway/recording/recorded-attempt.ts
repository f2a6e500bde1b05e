import type { AttemptRecord } from '../../request-log/record.js';
import type { Estimate } from '../limits/estimate.js';
import type { Hold } from '../limits/hold.js';
import type { Target } from '../types/target.js';
import type { Reading } from './metering.js';

/** What the record of an attempt is made from. Times are milliseconds. `Attempt` is one. */
export interface RecordedAttempt {
  readonly startedAt: number;
  readonly startedAtEpoch: number;
  readonly firstByteAt: number | null;
  readonly endedAt: number | null;
  /** 0 before the head of the answer. */
  readonly status: number;
  /** Where it goes in the config, and the model there; the request's own where that is null. */
  readonly option: string;
  readonly model: string | null;
  readonly wasSent: boolean;
  readonly wasLeft: boolean;
  readonly hasTimedOut: boolean;
  /** The cache gave the answer. */
  readonly isReplayed: boolean;
  /** Its answer came to its end. */
  readonly isWhole: boolean;
  /** What it may use at most; null where no limit reserved that. */
  readonly reserved: Estimate | null;
  /** Null from here on are what the record takes over: what it holds of limits, its reservation, its target and what was read. */
  hold: Hold | null;
  reservation: AttemptRecord | null;
  target: Target | null;
  partial: Reading | null;
}
