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

/** Bytes of a bucket number in `durations`, and of its count behind it; all big-endian. */
export const NUMBER_BYTES = 2;
export type CountBytes = 4 | 1;

/**
 * Slices have many rows with few requests each, such as end users. Rows that a byte is too small for, such as that of all requests, are few,
 * and readers use their histogram.
 */
export const DURATION_BYTES = { cube: 4, slices: 1 } as const satisfies Readonly<Record<string, CountBytes>>;

/** How many requests a row may have in one bucket, and their packed form. */
const FORMATS: Readonly<Record<CountBytes, { readonly most: number; readonly packed: string }>> = {
  4: { most: 2 ** 31 - 1, packed: 'int2send(number::smallint) || int4send(times::integer)' },
  1: { most: 2 ** 8 - 1, packed: 'substr(int4send((number::integer << 8) | times::integer), 2)' },
};

/** The counts of a histogram in bucket order; null when it is empty or a count does not fit. */
export const packedCounts = (histogram: string, countBytes: CountBytes): string => {
  const { most, packed } = FORMATS[countBytes];
  return `(
    SELECT CASE WHEN max(times::bigint) <= ${most} THEN
      string_agg(CASE WHEN times::bigint <= ${most} THEN ${packed} END, '' ORDER BY number::smallint) END
    FROM jsonb_each_text(${histogram}) AS counted (number, times))`;
};
