/**
 * A measure of the rollups, defined once for every purpose: how it is computed from request rows, how buckets are merged, and how it is
 * added to an existing row. All measures are exact and independent of the order of requests.
 */
export interface RollupMeasure {
  readonly type: 'bigint' | 'jsonb' | 'timestamptz';
  /** The same in ClickHouse, where a rollup row holds states that merge by themselves. */
  readonly clickhouse: { readonly type: string; readonly ofRequests: string; readonly ofRollup: string };
  /** An aggregate over rows of `request_logs`. */
  readonly ofRequests: string;
  /** An aggregate over rows of a rollup. */
  readonly ofRollup: string;
  /** The value of a row after adding another one. */
  readonly added: (one: string, other: string) => string;
}

const DURATION_US = '1000::bigint * duration_ms';
const FIRST_TOKEN_US = '1000::bigint * first_token_ms';

/** Buckets of histograms, and the microseconds they are computed from. */
const BUCKETS = {
  duration_bucket: DURATION_US,
  first_token_bucket: FIRST_TOKEN_US,
  overhead_bucket: 'overhead_us',
} as const;

/** Values that measures read besides the request's own columns, computed once for all measures. */
export const WORKED_OUT = Object.entries(BUCKETS)
  .map(([name, microseconds]) => `histogram_bucket(${microseconds}) AS ${name}`)
  .join(', ');

/** The largest bigint. */
const MOST = '9223372036854775807';

/**
 * Sums stop at the largest bigint instead of failing: a sum that fails would leave its whole batch uncounted. Clients report costs and
 * counts, so no number is too large to occur. Summands are never negative.
 */
const plus = (one: string, other: string): string => `least(${one}, ${MOST} - ${other}) + ${other}`;
const total = (value: string): string => `least(coalesce(sum(${value}), 0), ${MOST})::bigint`;
/** A sum of Int64 wraps around in ClickHouse, one of Int128 does not. */
const totalInClickHouse = (value: string): string =>
  `toInt64(least(coalesce(sum(toInt128(${value})), 0), ${MOST}))`;

/** A whole number per request; null adds nothing. */
const sum =
  (value: string) =>
  (name: string): RollupMeasure => ({
    type: 'bigint',
    ofRequests: total(value),
    ofRollup: total(name),
    added: plus,
    clickhouse: {
      type: 'SimpleAggregateFunction(sum, Int64)',
      ofRequests: totalInClickHouse(value),
      ofRollup: totalInClickHouse(name),
    },
  });

/** How many requests match. Both databases must read the condition alike, nulls included. */
const howMany = (condition: string) => sum(`CASE WHEN ${condition} THEN 1 END`);

/** A whole number as ClickHouse SQL, and whether it can be null. */
interface ClickHouseNumber {
  readonly value: string;
  readonly given: string;
}

/**
 * How often each number of an array occurred. A subquery instead of an SQL function: PostgreSQL starts a function for each call, which took
 * two thirds of the counting time, and a subquery once (https://wiki.postgresql.org/wiki/Inlining_of_SQL_functions).
 */
const countsOf = (numbers: string): string => `(
  SELECT coalesce(jsonb_object_agg(number, times), '{}') FROM (
    SELECT number, count(*) AS times FROM unnest(${numbers}) AS number WHERE number IS NOT NULL GROUP BY number
  ) AS counted)`;

const mergedCounts = (all: string): string => `(
  SELECT coalesce(jsonb_object_agg(number, times), '{}') FROM (
    SELECT each.key AS number, sum(each.value::bigint) AS times
    FROM unnest(${all}) AS counts CROSS JOIN LATERAL jsonb_each_text(counts) AS each GROUP BY each.key
  ) AS merged)`;

/**
 * Iterates over the added counts, the smaller side, and looks each number up in the existing ones. Those are unpacked first: histograms in
 * tables are compressed, and each lookup would decompress them.
 */
const addedCounts = (there: string, more: string): string => `(
  SELECT held || (
    SELECT jsonb_object_agg(number, (${more} ->> number)::bigint + coalesce((held ->> number)::bigint, 0))
    FROM jsonb_object_keys(${more}) AS number)
  FROM (SELECT ${there} || '{}' AS held OFFSET 0) AS unpacked)`;

/** How often each whole number occurred. Most groups of a minute have a single value, which needs no counting. */
const counts =
  (value: string, where = 'TRUE', inClickHouse: ClickHouseNumber = { value, given: value }) =>
  (name: string): RollupMeasure => {
    const fitting = `FILTER (WHERE ${where})`;
    const [least, most, number] = [
      `min(${value}) ${fitting}`,
      `max(${value}) ${fitting}`,
      `count(${value}) ${fitting}`,
    ];
    return {
      type: 'jsonb',
      ofRequests: `CASE WHEN ${number} = 0 THEN '{}'::jsonb
        WHEN ${least} = ${most} THEN jsonb_build_object((${least})::text, ${number})
        ELSE ${countsOf(`array_agg((${value})::bigint) ${fitting}`)} END`,
      ofRollup: `CASE WHEN count(*) = 1 THEN (array_agg(${name}))[1] ELSE ${mergedCounts(`array_agg(${name})`)} END`,
      added: (one, other) => `CASE WHEN ${other} = '{}' THEN ${one} ELSE ${addedCounts(one, other)} END`,
      clickhouse: {
        type: 'SimpleAggregateFunction(sumMap, Map(Int32, Int64))',
        ofRequests: `sumMapIf(map(toInt32(ifNull(${inClickHouse.value}, 0)), toInt64(1)),
          ifNull((${inClickHouse.given}) IS NOT NULL AND (${where}), 0))`,
        ofRollup: `sumMap(${name})`,
      },
    };
  };

/** A histogram of microseconds (src/request-log/rollups). Bucket borders are fixed, so parts add up to the whole. */
const histogram = (bucket: keyof typeof BUCKETS) => {
  const microseconds = BUCKETS[bucket];
  return counts(bucket, 'TRUE', {
    value: bucketInClickHouse(`ifNull(${microseconds}, 0)`),
    given: microseconds,
  });
};

/** `histogram_bucket` of the rollup migration: exponent and first six mantissa bits of a double, less 64 times its bias and 5. */
const bucketInClickHouse = (microseconds: string): string =>
  `if(${microseconds} < 64, greatest(toInt64(${microseconds}), 0),
    toInt64(bitShiftRight(reinterpretAsUInt64(toFloat64(${microseconds})), 46)) - 65792)`;

const extreme =
  (which: 'min' | 'max') =>
  (name: string): RollupMeasure => ({
    type: 'timestamptz',
    ofRequests: `${which}(created_at)`,
    ofRollup: `${which}(${name})`,
    added: (one, other) => `${which === 'min' ? 'least' : 'greatest'}(${one}, ${other})`,
    clickhouse: {
      type: `SimpleAggregateFunction(${which}, DateTime64(6, 'UTC'))`,
      ofRequests: `${which}(created_at)`,
      ofRollup: `${which}(${name})`,
    },
  });

const FAILED = 'status >= 400';
/**
 * Responses of the gateway itself, before or instead of a provider's. A stream that it stopped had the status of its provider by then, and
 * counts by that.
 */
const REFUSED = `${FAILED} AND ending = 'refused'`;
const FROM_CACHE = "cache_status IN ('HIT', 'SEMANTIC HIT')";
const RESCUED_BY_RETRY = `NOT (${FAILED}) AND retry_count > 0 AND coalesce(fallback_count, 0) = 0`;

const MAKERS = {
  requests: sum('1'),
  errors: howMany(FAILED),
  /** Errors that say nothing about a provider: what the gateway refused, and what it lost when a process died. */
  refusals: howMany(REFUSED),
  crashes: howMany("ending = 'gateway_crashed'"),
  /** Requests whose tokens the gateway counted. Estimates (reserved amounts) have a separate source. */
  counted_requests: howMany("usage_source = 'counted'"),
  unpriced_requests: howMany('cost_nano_usd IS NULL'),
  input_tokens: sum('input_tokens'),
  output_tokens: sum('output_tokens'),
  cached_input_tokens: sum('cached_input_tokens'),
  cache_write_tokens: sum('cache_write_tokens'),
  reasoning_tokens: sum('reasoning_tokens'),
  audio_input_tokens: sum('audio_input_tokens'),
  audio_output_tokens: sum('audio_output_tokens'),
  cost_nano_usd: sum('cost_nano_usd'),
  duration_us: sum(DURATION_US),
  first_token_requests: howMany('first_token_ms IS NOT NULL'),
  first_token_us: sum(FIRST_TOKEN_US),
  overhead_us: sum('overhead_us'),
  simple_hits: howMany("cache_status = 'HIT'"),
  semantic_hits: howMany("cache_status = 'SEMANTIC HIT'"),
  hit_duration_us: sum(`CASE WHEN ${FROM_CACHE} THEN ${DURATION_US} END`),
  simple_saved_nano_usd: sum("CASE WHEN cache_status = 'HIT' THEN saved_nano_usd END"),
  semantic_saved_nano_usd: sum("CASE WHEN cache_status = 'SEMANTIC HIT' THEN saved_nano_usd END"),
  fallback_rescues: howMany(`NOT (${FAILED}) AND fallback_count > 0`),
  retry_rescues: counts('retry_count', RESCUED_BY_RETRY),
  statuses: counts('status'),
  refused_statuses: counts('status', REFUSED),
  duration_histogram: histogram('duration_bucket'),
  first_token_histogram: histogram('first_token_bucket'),
  overhead_histogram: histogram('overhead_bucket'),
  first_seen: extreme('min'),
  last_seen: extreme('max'),
} as const satisfies Record<string, (name: string) => RollupMeasure>;

export type MeasureName = keyof typeof MAKERS;

export const MEASURES = Object.fromEntries(
  Object.entries(MAKERS).map(([name, make]) => [name, make(name)]),
) as Readonly<Record<MeasureName, RollupMeasure>>;

export const MEASURE_NAMES = Object.keys(MEASURES) as readonly MeasureName[];
