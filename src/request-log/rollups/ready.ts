/**
 * What readers would put together again and again is precomputed in rows of hours and days, packed: it is made where they are derived. Null says
 * that nobody made it, as in minutes; readers then take the long way.
 */

/** Bytes of an end user in `users`: the first of the SHA-256 of the value. So ten million are distinguished but for one time in 400,000. */
export const USER_BYTES = 8;

/** Stands for an end user, alike in every workspace and bucket. */
export const userHash = (value: string): string =>
  `substr(sha256(convert_to(${value}, 'UTF8')), 1, ${USER_BYTES})`;

/** The end users of rows, one behind another. `from` has each of them once, as `value`. */
export const packedUsers = (from: string): string =>
  `coalesce((SELECT string_agg(${userHash('value')}, '' ORDER BY value) FROM ${from} WHERE value <> ''), '')`;

/** Bytes of one count in `durations`: two for the number of the bucket, four for how often it occurred, the highest first. */
export const COUNT_BYTES = 6;

const MOST = 2 ** 31 - 1;

/** The counts of a histogram in the order of their buckets; null where it is empty or a count has no room. */
export const packedCounts = (histogram: string): string => `(
  SELECT CASE WHEN max(times::bigint) <= ${MOST} THEN
    string_agg(int2send(number::smallint) || int4send(least(times::bigint, ${MOST})::integer), '' ORDER BY number::smallint) END
  FROM jsonb_each_text(${histogram}) AS counted (number, times))`;
