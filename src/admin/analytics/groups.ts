import type { ReadMeasureName, MeasureSums } from '../../request-log/analytics/read-measures.js';
import type { GroupedBy, GroupOrder } from '../../request-log/analytics/usage-store.js';

/** A column of grouped responses: its measures, its display, and its sort order. */
interface GroupColumn {
  readonly text: string;
  readonly measures: readonly ReadMeasureName[];
  readonly value: (sums: MeasureSums) => unknown;
  readonly order: GroupOrder;
}

const total = (...sumOf: ReadMeasureName[]): GroupOrder => ({ sumOf });
const average = (...sumOf: ReadMeasureName[]): GroupOrder => ({ sumOf, per: { sumOf: ['requests'] } });
const percentile = (share: number, text: string): GroupColumn => ({
  text,
  measures: ['duration_histogram'],
  value: (sums) => sums.quantileMs(share),
  order: { latencyAt: share },
});

export const COLUMNS = {
  requests: {
    text: 'Number of requests.',
    measures: ['requests'],
    value: (sums) => sums.count('requests'),
    order: total('requests'),
  },
  cost: {
    text: 'Cost in US cents.',
    measures: ['cost_nano_usd'],
    value: (sums) => sums.cents('cost_nano_usd'),
    order: total('cost_nano_usd'),
  },
  total_tokens: {
    text: 'Input and output tokens together.',
    measures: ['input_tokens', 'output_tokens'],
    value: ({ tokens }) => tokens,
    order: total('input_tokens', 'output_tokens'),
  },
  avg_tokens: {
    text: 'Mean of input and output tokens together.',
    measures: ['requests', 'input_tokens', 'output_tokens'],
    value: (sums) => sums.perRequest(sums.tokens),
    order: average('input_tokens', 'output_tokens'),
  },
  avg_input_tokens: {
    text: 'Mean of the input tokens.',
    measures: ['requests', 'input_tokens'],
    value: (sums) => sums.perRequest(sums.count('input_tokens')),
    order: average('input_tokens'),
  },
  avg_output_tokens: {
    text: 'Mean of the output tokens.',
    measures: ['requests', 'output_tokens'],
    value: (sums) => sums.perRequest(sums.count('output_tokens')),
    order: average('output_tokens'),
  },
  avg_latency: {
    text: 'Mean latency in milliseconds.',
    measures: ['requests', 'duration_us'],
    value: (sums) => sums.perRequest(sums.milliseconds('duration_us')),
    order: average('duration_us'),
  },
  p50_latency: percentile(0.5, 'Median latency in milliseconds.'),
  p90_latency: percentile(0.9, '90th percentile of the latency in milliseconds.'),
  p95_latency: percentile(0.95, '95th percentile of the latency in milliseconds.'),
  p99_latency: percentile(0.99, '99th percentile of the latency in milliseconds.'),
  success_rate: {
    text: 'Percentage of responses with a status below 400 among the requests that the gateway did not refuse. Null if it refused all.',
    measures: ['requests', 'errors', 'refusals'],
    value: ({ errorRate }) => (errorRate === null ? null : 100 - errorRate),
    order: { sumOf: ['requests'], less: 'errors', per: { sumOf: ['requests'], less: 'refusals' } },
  },
  error_count: {
    text: 'Number of responses with a status of 400 or more, refusals of the gateway included.',
    measures: ['errors'],
    value: (sums) => sums.count('errors'),
    order: total('errors'),
  },
  refusal_count: {
    text: 'Number of errors that are refusals of the gateway: it responded with its own error before or instead of a provider.',
    measures: ['refusals'],
    value: (sums) => sums.count('refusals'),
    order: total('refusals'),
  },
  cache_hit_rate: {
    text: 'Percentage of responses from the cache.',
    measures: ['requests', 'simple_hits', 'semantic_hits'],
    value: (sums) => sums.percentOfRequests(sums.hits),
    order: average('simple_hits', 'semantic_hits'),
  },
  last_seen: {
    text: 'Arrival of the last request.',
    measures: ['last_seen'],
    value: (sums) => sums.moment('last_seen'),
    order: total('last_seen'),
  },
  first_seen: {
    text: 'Arrival of the first request.',
    measures: ['first_seen'],
    value: (sums) => sums.moment('first_seen'),
    order: total('first_seen'),
  },
} as const satisfies Record<string, GroupColumn>;

export type ColumnName = keyof typeof COLUMNS;

export const isColumn = (name: string): name is ColumnName => Object.hasOwn(COLUMNS, name);

export const groupColumn = (name: ColumnName): GroupColumn => COLUMNS[name];

/** Groupings of requests, below `/v1/analytics/groups/`. */
export interface Grouping {
  /** Name of the field with the group's value. */
  readonly field: string;
  readonly text: string;
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
const grouping = (field: string, dimension: string, text: string): Grouping => ({
  field,
  text: `${text}, if grouped by it.`,
  by: of(dimension),
  columns: USUAL,
});

/** By slug, as requests name workspaces; the nil id (no workspace) has none. */
const WORKSPACES: Grouping = {
  field: 'workspace',
  text: 'Slug of the workspace of the group, if grouped by it.',
  by: { kind: 'workspace' },
  columns: USUAL,
};

/** Groups by the values of a metadata key. */
export const byMetadata = (key: string): Grouping => ({
  field: 'metadata_value',
  text: 'Value of the metadata key. Empty for requests without it.',
  by: { kind: 'metadata', key },
  columns: ['requests', 'cost', 'avg_tokens', 'last_seen'],
});

export const GROUPINGS = {
  users: {
    field: 'user',
    text: 'End user of the group, if grouped by it.',
    by: of('end_user'),
    columns: ['requests', 'cost'],
    asText: ['requests', 'cost'],
  },
  'ai-models': {
    field: 'ai_model',
    text: 'Id of the model of the group, if grouped by it.',
    by: of('model'),
    columns: ['requests'],
    asText: ['requests'],
  },
  workspaces: WORKSPACES,
  workspace: WORKSPACES,
  ai_service: grouping('ai_service', 'provider', 'Id of the provider of the group'),
  model: grouping('model', 'model', 'Id of the model of the group'),
  status_code: grouping('status_code', 'status', 'HTTP status of the group'),
  api_key: {
    field: 'api_key',
    text: 'Id of the API key of the group, if grouped by it.',
    by: { kind: 'id', dimension: 'api_key_id' },
    columns: USUAL,
  },
  config: {
    field: 'config',
    text: 'Id of the config of the group, if grouped by it.',
    by: { kind: 'config' },
    columns: USUAL,
  },
  provider: grouping('provider', 'virtual_key', 'Slug of the virtual key of the group'),
  prompt: grouping('prompt', 'prompt_slug', 'Slug of the prompt template of the group'),
  endpoint: grouping('endpoint', 'endpoint', 'Endpoint of the group'),
  cache_status: grouping('cache_status', 'cache_status', 'What the cache did'),
} as const satisfies Record<string, Grouping>;

export type GroupingName = keyof typeof GROUPINGS;

export const isGrouping = (name: string): name is GroupingName => Object.hasOwn(GROUPINGS, name);

const METADATA = 'metadata/';

/** The metadata key of a grouping in its path; null for other groupings. */
export const metadataKeyIn = (groupBy: string): string | null =>
  groupBy.startsWith(METADATA) ? groupBy.slice(METADATA.length) : null;

/** The path of the grouping by a metadata key, below `/v1/analytics/groups/`. */
export const pathOfMetadata = (key: string): string => `${METADATA}${key}`;

/** Undefined for other paths. */
export function groupingOf(groupBy: string): Grouping | undefined {
  const key = metadataKeyIn(groupBy);
  if (key !== null) return byMetadata(key);
  return isGrouping(groupBy) ? GROUPINGS[groupBy] : undefined;
}
