import type { ReadMeasureName, Sums } from '../../request-log/analytics/read-measures.js';
import type { GroupedBy, GroupOrder } from '../../request-log/analytics/usage-store.js';

/** A column of grouped responses: its measures, its display, and its sort order. */
interface Column {
  readonly measures: readonly ReadMeasureName[];
  readonly value: (sums: Sums) => unknown;
  readonly order: GroupOrder;
}

const total = (...sumOf: ReadMeasureName[]): GroupOrder => ({ sumOf });
const average = (...sumOf: ReadMeasureName[]): GroupOrder => ({ sumOf, per: { sumOf: ['requests'] } });
const percentile = (share: number): Column => ({
  measures: ['duration_histogram'],
  value: (sums) => sums.quantileMs(share),
  order: { latencyAt: share },
});

export const COLUMNS = {
  requests: { measures: ['requests'], value: (sums) => sums.count('requests'), order: total('requests') },
  cost: {
    measures: ['cost_nano_usd'],
    value: (sums) => sums.cents('cost_nano_usd'),
    order: total('cost_nano_usd'),
  },
  total_tokens: {
    measures: ['input_tokens', 'output_tokens'],
    value: ({ tokens }) => tokens,
    order: total('input_tokens', 'output_tokens'),
  },
  avg_tokens: {
    measures: ['requests', 'input_tokens', 'output_tokens'],
    value: (sums) => sums.perRequest(sums.tokens),
    order: average('input_tokens', 'output_tokens'),
  },
  avg_input_tokens: {
    measures: ['requests', 'input_tokens'],
    value: (sums) => sums.perRequest(sums.count('input_tokens')),
    order: average('input_tokens'),
  },
  avg_output_tokens: {
    measures: ['requests', 'output_tokens'],
    value: (sums) => sums.perRequest(sums.count('output_tokens')),
    order: average('output_tokens'),
  },
  avg_latency: {
    measures: ['requests', 'duration_us'],
    value: (sums) => sums.perRequest(sums.milliseconds('duration_us')),
    order: average('duration_us'),
  },
  p50_latency: percentile(0.5),
  p90_latency: percentile(0.9),
  p95_latency: percentile(0.95),
  p99_latency: percentile(0.99),
  success_rate: {
    measures: ['requests', 'errors', 'refusals'],
    value: ({ errorRate }) => (errorRate === null ? null : 100 - errorRate),
    order: { sumOf: ['requests'], less: 'errors', per: { sumOf: ['requests'], less: 'refusals' } },
  },
  error_count: { measures: ['errors'], value: (sums) => sums.count('errors'), order: total('errors') },
  refusal_count: {
    measures: ['refusals'],
    value: (sums) => sums.count('refusals'),
    order: total('refusals'),
  },
  cache_hit_rate: {
    measures: ['requests', 'simple_hits', 'semantic_hits'],
    value: (sums) => sums.percentOfRequests(sums.hits),
    order: average('simple_hits', 'semantic_hits'),
  },
  last_seen: {
    measures: ['last_seen'],
    value: (sums) => sums.moment('last_seen'),
    order: total('last_seen'),
  },
  first_seen: {
    measures: ['first_seen'],
    value: (sums) => sums.moment('first_seen'),
    order: total('first_seen'),
  },
} as const satisfies Record<string, Column>;

export type ColumnName = keyof typeof COLUMNS;

export const isColumn = (name: string): name is ColumnName => Object.hasOwn(COLUMNS, name);

export const columnOf = (name: ColumnName): Column => COLUMNS[name];

/** Groupings of requests, below `/v1/analytics/groups/`. */
export interface Grouping {
  /** Name of the field with the group's value. */
  readonly field: string;
  readonly by: GroupedBy;
  readonly columns: readonly ColumnName[];
  /** Counts are texts there in the compatible API. */
  readonly asText?: readonly ColumnName[];
}

const USUAL: readonly ColumnName[] = [
  'requests',
  'cost',
  'total_tokens',
  'avg_latency',
  'success_rate',
  'refusal_count',
  'last_seen',
];
const of = (dimension: string): GroupedBy => ({ kind: 'dimension', dimension });
const grouping = (field: string, dimension: string): Grouping => ({
  field,
  by: of(dimension),
  columns: USUAL,
});

/** By slug, as requests name workspaces; the nil id (no workspace) has none. */
const WORKSPACES: Grouping = { field: 'workspace', by: { kind: 'workspace' }, columns: USUAL };

/** Groups by the values of a metadata key. */
export const byMetadata = (key: string): Grouping => ({
  field: 'metadata_value',
  by: { kind: 'metadata', key },
  columns: ['requests', 'cost', 'avg_tokens', 'last_seen'],
});

export const GROUPINGS = {
  users: {
    field: 'user',
    by: of('end_user'),
    columns: ['requests', 'cost'],
    asText: ['requests', 'cost'],
  },
  'ai-models': { field: 'ai_model', by: of('model'), columns: ['requests'], asText: ['requests'] },
  workspaces: WORKSPACES,
  workspace: WORKSPACES,
  ai_service: grouping('ai_service', 'provider'),
  model: grouping('model', 'model'),
  status_code: grouping('status_code', 'status'),
  api_key: { field: 'api_key', by: { kind: 'id', dimension: 'api_key_id' }, columns: USUAL },
  config: { field: 'config', by: { kind: 'config' }, columns: USUAL },
  provider: grouping('provider', 'virtual_key'),
  prompt: grouping('prompt', 'prompt_slug'),
  endpoint: grouping('endpoint', 'endpoint'),
  cache_status: grouping('cache_status', 'cache_status'),
} as const satisfies Record<string, Grouping>;

export type GroupingName = keyof typeof GROUPINGS;

export const isGrouping = (name: string): name is GroupingName => Object.hasOwn(GROUPINGS, name);
