import type { Usage } from '../../common/contracts/usage.js';
import type { AttemptRecord, Charge } from '../../request-log/record.js';
import type { Estimate } from '../types/estimate.js';
import type { Actual } from '../types/limit-reservation.js';
import type { Bill } from './applied-price.js';
import { hasText, lacksOutput, type Reading } from './reading.js';
import type { RecordedTry } from '../types/attempt-outcome.js';
import type { AttemptTrail } from '../types/attempt-trail.js';
import type { Target } from '../types/target.js';

/** The row of a try. Rare columns are added only if they apply: a spread of an object this wide costs microseconds. */
type Rare = 'charges' | 'countable' | 'isSideCall' | 'isEstimated' | 'price';
export type NewRecord = Omit<AttemptRecord, Rare> & {
  -readonly [Name in Rare]?: AttemptRecord[Name];
};

/** An ended attempt, for its record. */
export interface EndedAttempt {
  readonly errorCode: string | null;
  readonly reading: Reading;
  /** The provider was working when the client disconnected, so the input is billed in any case. */
  readonly isCut?: boolean;
  /** The response is complete, even if the attempt does not reflect that yet. */
  readonly isComplete?: boolean;
  /** Absent: the record of the request has the text of the response. */
  readonly countable?: AttemptRecord['countable'] | null;
  readonly isSideCall?: true;
  /** Its usage includes an estimate, although it ended. */
  readonly isEstimated?: boolean;
}

/** The record of an ended try. */
export function attemptRecord(
  attempt: RecordedTry,
  target: Target,
  rest: Pick<AttemptRecord, 'attempt' | 'option_path' | 'error_code' | 'usage' | 'cost_nano_usd'>,
): NewRecord {
  const endedAt = attempt.endedAt ?? performance.now();
  return {
    attempt: rest.attempt,
    option_path: rest.option_path,
    provider: target.provider.id,
    virtual_key_id: target.virtualKey ? target.virtualKey.id : null,
    origin: target.origin,
    started_at: attempt.startedAtEpoch,
    first_byte_ms: between(attempt.startedAt, attempt.firstByteAt),
    duration_ms: rounded(endedAt - attempt.startedAt),
    status: attempt.status || null,
    error_code: rest.error_code,
    usage: rest.usage,
    cost_nano_usd: rest.cost_nano_usd,
  };
}

/** An attempt about to be sent. */
export interface ReservedAttempt {
  readonly attempt: number;
  readonly option: string;
  readonly target: Target;
  readonly charges: readonly Charge[];
  readonly estimate: Estimate;
  /** Milliseconds since the epoch; absent: now. */
  readonly startedAt?: number;
}

/** The record of an attempt about to be sent, for the case that its end is never recorded: it used its whole reservation. */
export function reservedAttempt({
  attempt,
  option,
  target,
  charges,
  estimate,
  startedAt = Date.now(),
}: ReservedAttempt): AttemptRecord {
  const { tokens, costNanoUsd, usage = NO_USAGE } = estimate;
  // A token limit reserves the maximum of tokens; the most expensive usage may have fewer.
  const lacking = Math.max(0, tokens - usage.input_tokens - usage.output_tokens);
  return {
    attempt,
    option_path: option,
    provider: target.provider.id,
    virtual_key_id: target.virtualKey ? target.virtualKey.id : null,
    origin: target.origin,
    started_at: startedAt,
    first_byte_ms: null,
    duration_ms: 0,
    status: null,
    error_code: 'gateway_crashed',
    usage: { ...usage, output_tokens: usage.output_tokens + lacking },
    cost_nano_usd: costNanoUsd,
    ...(charges.length > 0 && { charges }),
    isEstimated: true,
  };
}

/** Providers do not bill refusals, or requests that never reached them. Every other attempt without an end is charged an estimate. */
export const isUnended = ({ wasSent, status, isWhole }: RecordedTry, isComplete = false): boolean =>
  wasSent && status < 400 && !isComplete && !isWhole;

const NO_USAGE: Usage = { input_tokens: 0, output_tokens: 0 };

export function between(from: number, to: number | null): number | null {
  return to === null ? null : rounded(to - from);
}

/** The clock has only microsecond precision. */
export function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}

/** Sets the columns that few records have. */
export function markRecord(
  record: NewRecord,
  attempt: RecordedTry,
  { countable, isSideCall, isEstimated, isComplete }: EndedAttempt,
  price: Bill['price'],
): void {
  if (price) record.price = price;
  if (isEstimated || isUnended(attempt, isComplete)) record.isEstimated = true;
  if (isSideCall) record.isSideCall = true;
  if (countable) record.countable = countable;
}

export function isCountedLater({ countable, reading, isCut }: EndedAttempt, { body }: AttemptTrail): boolean {
  if (countable !== undefined) return countable !== null;
  return lacksOutput(reading) && (hasText(reading) || isCut === true) && body !== null;
}

export function actualOf(
  { reading: { usage } }: EndedAttempt,
  costNanoUsd: number | null,
  isCounted: boolean,
): Actual {
  const tokens = usage && usage.input_tokens + usage.output_tokens;
  return { costNanoUsd, tokens, isCountedLater: isCounted };
}
