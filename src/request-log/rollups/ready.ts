/**
 * Hours and days store in packed form what readers would otherwise recompute, written when they are derived. Null means not computed, as in
 * minutes; readers then compute it.
 */

/** Bytes per end user in `users`: the start of the value's SHA-256. Among ten million users, a collision occurs once in 400,000 cases. */
export const USER_BYTES = 8;

/** Identifies an end user, equally in every workspace and bucket. */
export const userHash = (value: string): string =>
  `substr(sha256(convert_to(${value}, 'UTF8')), 1, ${USER_BYTES})`;

/** The end users of rows, concatenated. `from` has each of them once, as `value`. */
export const packedUsers = (from: string): string =>
  `coalesce((SELECT string_agg(${userHash('value')}, '' ORDER BY value) FROM ${from} WHERE value <> ''), '')`;

/** Bytes per count in `durations`: two for the bucket number, four for the count, big-endian. */
export const COUNT_BYTES = 6;

const MOST = 2 ** 31 - 1;

/** The counts of a histogram in bucket order; null when it is empty or a count does not fit. */
export const packedCounts = (histogram: string): string => `(
  SELECT CASE WHEN max(times::bigint) <= ${MOST} THEN
    string_agg(int2send(number::smallint) || int4send(least(times::bigint, ${MOST})::integer), '' ORDER BY number::smallint) END
  FROM jsonb_each_text(${histogram}) AS counted (number, times))`;
