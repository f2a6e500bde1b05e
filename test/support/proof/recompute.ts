import { type Fact, meanOf, NANO_PER_CENT, tokensOf, userOf } from './facts.js';

/**
 * Every answer of the analytics worked out of what is known, with nothing but sums over a list: no tables, no rollups, no SQL.
 * Times in milliseconds, money in cents, rates in percent, as the interface says them.
 */
type Of = readonly Fact[];
type Fields = Readonly<Record<string, unknown>>;

const sum = (of: Of, value: (one: Fact) => number): number =>
  of.reduce((total, one) => total + value(one), 0);
const ratio = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);
const cents = (of: Of): number => sum(of, ({ cost }) => cost ?? 0) / NANO_PER_CENT;
const failed = (of: Of): Fact[] => of.filter(({ status }) => status >= 400);
const refused = (of: Of): Fact[] => failed(of).filter(({ ending }) => ending === 'refused');
const withStatus = (of: Of, wanted: string): Fact[] => of.filter(({ cacheStatus }) => cacheStatus === wanted);
const simple = (of: Of): Fact[] => withStatus(of, 'HIT');
const semantic = (of: Of): Fact[] => withStatus(of, 'SEMANTIC HIT');
const hits = (of: Of): Fact[] => [...simple(of), ...semantic(of)];
const named = (of: Of): Fact[] => of.filter((one) => userOf(one) !== '');
const usersOf = (of: Of): number => new Set(named(of).map(userOf)).size;
const rescued = (of: Of): Fact[] => of.filter(({ status }) => status < 400);
const savedCents = (of: Of): number => sum(of, ({ saved }) => saved) / NANO_PER_CENT;
const durations = (of: Of): number => sum(of, ({ durationMs }) => durationMs);

export function groupBy<T>(all: readonly T[], valueOf: (one: T) => string): ReadonlyMap<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const one of all) {
    const group = groups.get(valueOf(one));
    if (group) group.push(one);
    else groups.set(valueOf(one), [one]);
  }
  return groups;
}

function countsOf(values: readonly number[]): [value: number, count: number][] {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([one], [other]) => one - other);
}

function percentile(of: Of, share: number): number {
  const sorted = of.map(({ durationMs }) => durationMs).sort((one, other) => one - other);
  return sorted[Math.max(1, Math.ceil(share * sorted.length)) - 1] ?? 0;
}

const latency = (of: Of): Fields => ({
  avg: ratio(durations(of), of.length),
  p50: percentile(of, 0.5),
  p90: percentile(of, 0.9),
  p95: percentile(of, 0.95),
  p99: percentile(of, 0.99),
});
const cost = (of: Of): Fields => ({ total: cents(of), avg: ratio(cents(of), of.length) });
const tokens = (of: Of): Fields => {
  const total = sum(of, tokensOf);
  return { total, avg: ratio(total, of.length) };
};
const accepted = (of: Of): Fact[] => of.filter((one) => refused([one]).length === 0);
const errors = (of: Of): Fields => ({ total: failed(of).length, refusals: refused(of).length });
const rate = (of: Of): Fields => ({
  rate: ratio(failed(accepted(of)).length, accepted(of).length) * 100,
  refusals: refused(of).length,
});
const hitRate = (of: Of): number => ratio(hits(of).length, of.length) * 100;
const hitLatency = (of: Of): Fields => ({ avg: ratio(durations(hits(of)), hits(of).length) });
const statuses = (of: Of): { status: number; count: number; refusals: number }[] =>
  countsOf(failed(of).map(({ status }) => status)).map(([status, count]) => ({
    status,
    count,
    refusals: refused(of).filter((one) => one.status === status).length,
  }));
const retriesOf = (of: Of): Fact[] =>
  rescued(of).filter(({ retries, fallbacks }) => retries > 0 && fallbacks === 0);
const fallbackRescues = (of: Of): number => rescued(of).filter(({ fallbacks }) => fallbacks > 0).length;

interface GraphOf {
  readonly summary: (of: Of) => Fields;
  /** Of a slot; `until`: everything before it. */
  readonly point?: (of: Of, until: Of) => Fields;
  /** Where the points are no slots of time. */
  readonly entries?: (of: Of) => readonly Fields[];
}

const same = (fields: (of: Of) => Fields): GraphOf => ({ summary: fields, point: fields });

/** By path below `/v1/analytics/graphs/`. */
export const GRAPHS_BY_HAND: Readonly<Record<string, GraphOf>> = {
  requests: same((of) => ({ total: of.length })),
  cost: same(cost),
  latency: same(latency),
  tokens: same(tokens),
  users: same((of) => ({ total: usersOf(of) })),
  'users/requests': {
    summary: (of) => ({
      total: named(of).length,
      unique: usersOf(of),
      avg: ratio(named(of).length, usersOf(of)),
    }),
    point: (of) => ({ avg: ratio(named(of).length, usersOf(of)) }),
  },
  errors: same(errors),
  'errors/rate': same(rate),
  'errors/stacks': {
    summary: errors,
    point: (of) => ({
      stats: statuses(of).map(({ status, ...counts }) => ({ response_status_code: status, ...counts })),
    }),
  },
  'errors/status-codes': {
    summary: (of) => ({ total_errors: failed(of).length, unique_error_codes: statuses(of).length }),
    entries: (of) => statuses(of).map(({ status, ...counts }) => ({ status_code: status, ...counts })),
  },
  'requests/rescued': {
    summary: (of) => ({ retry: retriesOf(of).length, fallback: fallbackRescues(of) }),
    point: (of) => ({
      retry: countsOf(retriesOf(of).map(({ retries }) => retries)).map(([retry_success_count, count]) => ({
        retry_success_count,
        count,
      })),
      fallback: fallbackRescues(of),
    }),
  },
  'cache/hit-rate': {
    summary: (of) => ({ total: hits(of).length, rate: hitRate(of) }),
    point: (of, until) => ({
      simple_hits: simple(of).length,
      semantic_hits: semantic(of).length,
      rate: hitRate(of),
      cumulative_simple_cache_savings: savedCents(simple([...until, ...of])),
      cumulative_semantic_cache_savings: savedCents(semantic([...until, ...of])),
    }),
  },
  'cache/latency': same(hitLatency),
};

export function cacheSummaryByHand(of: Of): Fields {
  const [hit, misses] = [hits(of), of.length - hits(of).length];
  const hitMs = ratio(durations(hit), hit.length);
  return {
    hits: hit.length,
    avg_latency: hitMs,
    total_requests: of.length,
    cache_speedup: ratio(ratio(durations(of) - durations(hit), misses), hitMs),
  };
}

/** By path below `/v1/analytics/groups/`: the field of the value, and the value. */
export const GROUPS_BY_HAND: Readonly<Record<string, readonly [field: string, of: (one: Fact) => string]>> = {
  users: ['user', userOf],
  'ai-models': ['ai_model', ({ model }) => model],
  model: ['model', ({ model }) => model],
  workspaces: ['workspace', ({ workspace }) => workspace],
  workspace: ['workspace', ({ workspace }) => workspace],
  ai_service: ['ai_service', ({ provider }) => provider],
  provider: ['provider', ({ virtualKey }) => virtualKey],
  api_key: ['api_key', ({ keyId }) => keyId],
  config: ['config', ({ config }) => config],
  endpoint: ['endpoint', ({ endpoint }) => endpoint],
  status_code: ['status_code', ({ status }) => String(status)],
  cache_status: ['cache_status', ({ cacheStatus }) => cacheStatus],
  prompt: ['prompt', ({ prompt }) => prompt],
  'metadata/_environment': ['metadata_value', ({ metadata }) => metadata?.['_environment'] ?? ''],
  'metadata/team': ['metadata_value', ({ metadata }) => metadata?.['team'] ?? ''],
};

/** Columns of groups that do not depend on the clock of the gateway alone. */
export const COLUMNS_BY_HAND: Readonly<Record<string, (of: Of) => unknown>> = {
  requests: (of) => of.length,
  cost: cents,
  total_tokens: (of) => sum(of, tokensOf),
  avg_tokens: (of) => ratio(sum(of, tokensOf), of.length),
  avg_input_tokens: (of) =>
    ratio(
      sum(of, ({ input }) => input ?? 0),
      of.length,
    ),
  avg_output_tokens: (of) =>
    ratio(
      sum(of, ({ output }) => output ?? 0),
      of.length,
    ),
  avg_latency: (of) => ratio(durations(of), of.length),
  p50_latency: (of) => percentile(of, 0.5),
  p95_latency: (of) => percentile(of, 0.95),
  success_rate: (of) => {
    const all = accepted(of);
    return all.length === 0 ? null : ratio(all.length - failed(all).length, all.length) * 100;
  },
  error_count: (of) => failed(of).length,
  refusal_count: (of) => refused(of).length,
  cache_hit_rate: hitRate,
  first_seen: (of) => new Date(Math.min(...of.map(({ at }) => at))).toISOString(),
  last_seen: (of) => new Date(Math.max(...of.map(({ at }) => at))).toISOString(),
};

/** Columns that only groups of the metadata have. */
export function feedbackOfGroup(of: Of): Fields {
  const given = of.flatMap(({ feedback }) => (feedback === null ? [] : [feedback]));
  return { avg_weighted_feedback: meanOf(given) ?? 0, requests_with_feedback: given.length };
}
