/**
 * What the rollups count, once for every purpose: how it is worked out of request rows, how buckets of it are merged,
 * and how it is added to a row that is there. All of it is exact and does not depend on the order of requests.
 */
export interface Measure {
  readonly type: 'bigint' | 'jsonb' | 'timestamptz';
  /** An aggregate over rows of `request_logs`. */
  readonly ofRequests: string;
  /** An aggregate over rows of a rollup. */
  readonly ofRollup: string;
  /** The value of a row after another one was added to it. */
  readonly added: (one: string, other: string) => string;
}

const plus = (one: string, other: string): string => `${one} + ${other}`;

/** A whole number for each request; null adds nothing. */
const sum =
  (value: string) =>
  (name: string): Measure => ({
    type: 'bigint',
    ofRequests: `coalesce(sum(${value}), 0)::bigint`,
    ofRollup: `coalesce(sum(${name}), 0)::bigint`,
    added: plus,
  });

/**
 * How often each whole number occurred. Most groups of a minute have one value only, and calling a function for each of
 * those would take most of the time.
 */
const counts =
  (value: string, where = 'TRUE') =>
  (name: string): Measure => {
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
        ELSE counts_of(array_agg((${value})::bigint) ${fitting}) END`,
      ofRollup: `CASE WHEN count(*) = 1 THEN (array_agg(${name}))[1] ELSE merged_counts(array_agg(${name})) END`,
      added: (one, other) => `merge_histograms(${one}, ${other})`,
    };
  };

/** A histogram of microseconds (src/common/histogram). Buckets are fixed, so parts add up to the whole. */
const histogram = (microseconds: string) => counts(`histogram_bucket(${microseconds})`);

const extreme =
  (which: 'min' | 'max') =>
  (name: string): Measure => ({
    type: 'timestamptz',
    ofRequests: `${which}(created_at)`,
    ofRollup: `${which}(${name})`,
    added: (one, other) => `${which === 'min' ? 'least' : 'greatest'}(${one}, ${other})`,
  });

const FAILED = 'status >= 400';
const FROM_CACHE = "cache_status IN ('HIT', 'SEMANTIC HIT')";
const RESCUED_BY_RETRY = `NOT (${FAILED}) AND retry_count > 0 AND coalesce(fallback_count, 0) = 0`;
const DURATION_US = 'duration_ms::bigint * 1000';
const FIRST_TOKEN_US = 'first_token_ms::bigint * 1000';

const MAKERS = {
  requests: sum('1'),
  errors: sum(`(${FAILED})::integer`),
  counted_requests: sum("(usage_source = 'counted')::integer"),
  unpriced_requests: sum('(cost_nano_usd IS NULL)::integer'),
  input_tokens: sum('input_tokens'),
  output_tokens: sum('output_tokens'),
  cached_input_tokens: sum('cached_input_tokens'),
  cache_write_tokens: sum('cache_write_tokens'),
  reasoning_tokens: sum('reasoning_tokens'),
  audio_input_tokens: sum('audio_input_tokens'),
  audio_output_tokens: sum('audio_output_tokens'),
  cost_nano_usd: sum('cost_nano_usd'),
  duration_us: sum(DURATION_US),
  first_token_requests: sum('(first_token_ms IS NOT NULL)::integer'),
  first_token_us: sum(FIRST_TOKEN_US),
  overhead_us: sum('overhead_us'),
  simple_hits: sum("(cache_status = 'HIT')::integer"),
  semantic_hits: sum("(cache_status = 'SEMANTIC HIT')::integer"),
  hit_duration_us: sum(`CASE WHEN ${FROM_CACHE} THEN ${DURATION_US} END`),
  simple_saved_nano_usd: sum("CASE WHEN cache_status = 'HIT' THEN saved_nano_usd END"),
  semantic_saved_nano_usd: sum("CASE WHEN cache_status = 'SEMANTIC HIT' THEN saved_nano_usd END"),
  fallback_rescues: sum(`(NOT (${FAILED}) AND fallback_count > 0)::integer`),
  retry_rescues: counts('retry_count', RESCUED_BY_RETRY),
  statuses: counts('status'),
  duration_histogram: histogram(DURATION_US),
  first_token_histogram: histogram(FIRST_TOKEN_US),
  overhead_histogram: histogram('overhead_us'),
  first_seen: extreme('min'),
  last_seen: extreme('max'),
} as const satisfies Record<string, (name: string) => Measure>;

export type MeasureName = keyof typeof MAKERS;

export const MEASURES = Object.fromEntries(
  Object.entries(MAKERS).map(([name, make]) => [name, make(name)]),
) as Readonly<Record<MeasureName, Measure>>;

export const MEASURE_NAMES = Object.keys(MEASURES) as readonly MeasureName[];
