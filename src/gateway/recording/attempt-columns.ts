import type { Actual } from '../limits/hold.js';
import type { Bill } from './applied-price.js';
import { lacksOutput } from './metering.js';
import { type EndedAttempt, hasText, isUnended, type NewRecord } from './records.js';
import type { RecordedTry } from '../types/attempt-outcome.js';
import type { AttemptTrail } from '../types/attempt-trail.js';

/** Sets the columns that few records have. */
export function markRecord(
  record: NewRecord,
  attempt: RecordedTry,
  { countable, isAside, isEstimated, isComplete }: EndedAttempt,
  price: Bill['price'],
): void {
  if (price) record.price = price;
  if (isEstimated || isUnended(attempt, isComplete)) record.isEstimated = true;
  if (isAside) record.isAside = true;
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
