import { type ReadMeasureName, ratio, type MeasureSums } from '../../request-log/analytics/read-measures.js';
import type { ChartField } from './answer-schemas.js';

/** A field of a response: its name, and its computation from the counts. `before` holds the sums of all points so far. */
type GraphField = (sums: MeasureSums, before: Before) => unknown;

/** Running totals of a series, for cumulative fields. */
export interface Before {
  readonly count: (name: ReadMeasureName) => number;
}

/**
 * A chart of the compatible API: paths, measures, and fields. `points` has one entry per time slot; `entries` is a list computed from the
 * whole range.
 */
export interface Graph {
  readonly name: string;
  readonly summaryText: string;
  readonly descriptionText: string;
  readonly paths: readonly string[];
  readonly measures: readonly ReadMeasureName[];
  readonly summary: Readonly<Partial<Record<ChartField, GraphField>>>;
  readonly points: Readonly<Partial<Record<ChartField, GraphField>>>;
  readonly entries?: (sums: MeasureSums) => readonly Readonly<Record<string, unknown>>[];
}

const total =
  (name: ReadMeasureName): GraphField =>
  (sums) =>
    sums.count(name);

const COST = {
  total: (sums: MeasureSums) => sums.cents('cost_nano_usd'),
  avg: (sums: MeasureSums) => sums.perRequest(sums.cents('cost_nano_usd')),
};

const LATENCY = {
  avg: (sums: MeasureSums) => sums.perRequest(sums.milliseconds('duration_us')),
  p50: (sums: MeasureSums) => sums.quantileMs(0.5),
  p90: (sums: MeasureSums) => sums.quantileMs(0.9),
  p95: (sums: MeasureSums) => sums.quantileMs(0.95),
  p99: (sums: MeasureSums) => sums.quantileMs(0.99),
};

const TOKENS = {
  total: (sums: MeasureSums) => sums.tokens,
  avg: (sums: MeasureSums) => sums.perRequest(sums.tokens),
};

const ERRORS = { total: total('errors'), refusals: total('refusals') };
const ERROR_RATE = { rate: ({ errorRate }: MeasureSums) => errorRate ?? 0, refusals: total('refusals') };
const REQUESTS_PER_USER = (sums: MeasureSums): number =>
  ratio(sums.count('requests_of_users'), sums.count('users'));
const HIT_RATE = (sums: MeasureSums): number => sums.percentOfRequests(sums.hits);
const NANO_USD_PER_CENT = 10_000_000;

/** The savings of the cache up to the end of a point, in cents. */
const savedSoFar =
  (name: 'simple_saved_nano_usd' | 'semantic_saved_nano_usd'): GraphField =>
  (sums, before) =>
    (before.count(name) + sums.count(name)) / NANO_USD_PER_CENT;

const retries = (sums: MeasureSums): number =>
  [...sums.counts('retry_rescues').values()].reduce((sum, count) => sum + count, 0);

/** Paths below `/v1/analytics/graphs/`. Those with a dash are used by the Node SDK of the compatible API. */
export const GRAPHS: readonly Graph[] = [
  {
    name: 'requests',
    summaryText: 'Graph requests',
    descriptionText: 'Returns the number of requests in each interval.',
    paths: ['requests'],
    measures: ['requests'],
    summary: { total: total('requests') },
    points: { total: total('requests') },
  },
  {
    name: 'cost',
    summaryText: 'Graph costs in US cents',
    descriptionText: 'Returns the total and mean cost in each interval.',
    paths: ['cost'],
    measures: ['requests', 'cost_nano_usd'],
    summary: COST,
    points: COST,
  },
  {
    name: 'latency',
    summaryText: 'Graph latency in milliseconds',
    descriptionText: 'Returns mean and percentiles in each interval. Percentiles are at most 0.8 % off.',
    paths: ['latency'],
    measures: ['requests', 'duration_us', 'duration_histogram'],
    summary: LATENCY,
    points: LATENCY,
  },
  {
    name: 'tokens',
    summaryText: 'Graph tokens',
    descriptionText: 'Returns the input and output tokens in each interval.',
    paths: ['tokens'],
    measures: ['requests', 'input_tokens', 'output_tokens'],
    summary: TOKENS,
    points: TOKENS,
  },
  {
    name: 'users',
    summaryText: 'Graph end users',
    descriptionText: 'Returns the number of different end users in each interval.',
    paths: ['users'],
    measures: ['users'],
    summary: { total: total('users') },
    points: { total: total('users') },
  },
  {
    name: 'requestsPerUser',
    summaryText: 'Graph requests per end user',
    descriptionText: 'Returns the mean in each interval. Requests without an end user do not count.',
    paths: ['users/requests', 'users-requests'],
    measures: ['users', 'requests_of_users'],
    summary: { total: total('requests_of_users'), unique: total('users'), avg: REQUESTS_PER_USER },
    points: { avg: REQUESTS_PER_USER },
  },
  {
    name: 'errors',
    summaryText: 'Graph errors',
    descriptionText: 'Returns the number of responses with a status of 400 or more in each interval.',
    paths: ['errors'],
    measures: ['errors', 'refusals'],
    summary: ERRORS,
    points: ERRORS,
  },
  {
    name: 'errorRate',
    summaryText: 'Graph the error rate in percent',
    descriptionText: 'Returns the share of responses with a status of 400 or more in each interval.',
    paths: ['errors/rate', 'errors-rate'],
    measures: ['requests', 'errors', 'refusals'],
    summary: ERROR_RATE,
    points: ERROR_RATE,
  },
  {
    name: 'errorStacks',
    summaryText: 'Graph errors by status over time',
    descriptionText: 'Returns the number of errors by status in each interval.',
    paths: ['errors/stacks', 'errors-stack'],
    measures: ['errors', 'refusals', 'statuses', 'refused_statuses'],
    summary: ERRORS,
    points: {
      stats: ({ failures }) =>
        failures.map(({ status, count, refusals }) => ({ response_status_code: status, count, refusals })),
    },
  },
  {
    name: 'errorStatusCodes',
    summaryText: 'Graph errors by status',
    descriptionText: 'Returns the number of errors by status in the whole time range.',
    paths: ['errors/status-codes', 'errors-status-code'],
    measures: ['errors', 'statuses', 'refused_statuses'],
    summary: { total_errors: total('errors'), unique_error_codes: ({ failures }) => failures.length },
    points: {},
    entries: ({ failures }) =>
      failures.map(({ status, count, refusals }) => ({ status_code: status, count, refusals })),
  },
  {
    name: 'rescuedRequests',
    summaryText: 'Graph rescued requests',
    descriptionText:
      'Returns the number of requests that succeeded by a retry or a fallback in each interval.',
    paths: ['requests/rescued', 'requests-rescued'],
    measures: ['retry_rescues', 'fallback_rescues'],
    summary: { retry: retries, fallback: total('fallback_rescues') },
    points: {
      retry: (sums) =>
        [...sums.counts('retry_rescues')]
          .sort(([one], [other]) => one - other)
          .map(([retry_success_count, count]) => ({ retry_success_count, count })),
      fallback: total('fallback_rescues'),
    },
  },
  {
    name: 'cacheHitRate',
    summaryText: 'Graph the cache hit rate in percent',
    descriptionText: 'Returns the share of responses from the cache and what they saved in each interval.',
    paths: ['cache/hit-rate', 'cache-hit-rate'],
    measures: [
      'requests',
      'simple_hits',
      'semantic_hits',
      'simple_saved_nano_usd',
      'semantic_saved_nano_usd',
    ],
    summary: { total: ({ hits }) => hits, rate: HIT_RATE },
    points: {
      simple_hits: total('simple_hits'),
      semantic_hits: total('semantic_hits'),
      rate: HIT_RATE,
      cumulative_simple_cache_savings: savedSoFar('simple_saved_nano_usd'),
      cumulative_semantic_cache_savings: savedSoFar('semantic_saved_nano_usd'),
    },
  },
  {
    name: 'cacheLatency',
    summaryText: 'Graph the latency of cached responses in milliseconds',
    descriptionText: 'Returns the latency of responses from the cache in each interval.',
    paths: ['cache/latency', 'cache-latency'],
    measures: ['simple_hits', 'semantic_hits', 'hit_duration_us'],
    summary: { avg: (sums) => ratio(sums.milliseconds('hit_duration_us'), sums.hits) },
    points: { avg: (sums) => ratio(sums.milliseconds('hit_duration_us'), sums.hits) },
  },
];
