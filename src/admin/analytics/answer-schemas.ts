import { COLUMNS, GROUPINGS } from './groups.js';

/** The responses of charts and groups in the OpenAPI document: their fields are rows of tables, not DTOs. */

/** https://spec.openapis.org/oas/v3.0.3#schema-object */
type ResponseSchema = Readonly<Record<string, unknown>> & { readonly description: string };
type SchemaProperties = Readonly<Record<string, ResponseSchema>>;

const number = (description: string): ResponseSchema => ({ description, type: 'number' });
const moment = (description: string): ResponseSchema => ({
  description,
  type: 'string',
  format: 'date-time',
});
const object = (properties: SchemaProperties) => ({ type: 'object' as const, properties });
const constant = (value: string): ResponseSchema => ({
  description: 'Type of this object.',
  type: 'string',
  enum: [value],
});

/** Part of every response that counts requests. */
const RANGE: ResponseSchema = {
  description:
    'The time that was counted. It is wider than the requested range where only whole hours are left of its ends.',
  ...object({
    from: moment('Beginning of the time range.'),
    to: moment('End of the time range.'),
    is_exact: {
      description:
        'False if the range or one of its points cuts an hour whose minutes are deleted, or if the figures need request logs that retention may have deleted.',
      type: 'boolean',
    },
  }),
};

/** Fields of charts, each with the same meaning in every chart that has it. */
const FIELDS = {
  total: number('Total in the interval or group; in the summary, over the time range.'),
  avg: number('Mean value.'),
  p50: number('Median in milliseconds.'),
  p90: number('90th percentile in milliseconds.'),
  p95: number('95th percentile in milliseconds.'),
  p99: number('99th percentile in milliseconds.'),
  unique: number('Number of different end users.'),
  rate: number(
    'Percentage of all requests; for errors, of those that the gateway did not refuse, and without its refusals.',
  ),
  refusals: number('Number of errors that are refusals of the gateway, such as exceeded limits.'),
  count: number('Number of requests.'),
  status_code: number('HTTP status.'),
  total_errors: number('Number of errors.'),
  unique_error_codes: number('Number of different HTTP statuses among the errors.'),
  stats: {
    description: 'Number of errors by HTTP status.',
    type: 'array',
    items: { type: 'object', additionalProperties: { type: 'integer' } },
  },
  retry: {
    description:
      'Requests that succeeded by a retry: their number, or their numbers by the retry that succeeded.',
  },
  fallback: number('Number of requests that succeeded at another target.'),
  simple_hits: number('Number of responses from the simple cache.'),
  semantic_hits: number('Number of responses from the semantic cache.'),
  cumulative_simple_cache_savings: number(
    'What the simple cache saved until the end of the interval, in US cents.',
  ),
  cumulative_semantic_cache_savings: number(
    'What the semantic cache saved until the end of the interval, in US cents.',
  ),
  score: number('Value of the rating, -10 to 10.'),
  avg_weighted_feedback: number('Mean of value times weight of the ratings.'),
  ai_model: { description: 'Id of the model. Empty if there is none.', type: 'string', example: 'gpt-4o' },
  timestamp: moment('Beginning of the interval.'),
} satisfies SchemaProperties;

export type ChartField = keyof typeof FIELDS;

const fieldsOf = (names: readonly ChartField[]): SchemaProperties =>
  Object.fromEntries(names.map((name) => [name, FIELDS[name]]));

export const graphSchema = (
  summary: readonly ChartField[],
  points: readonly ChartField[],
  counts: 'requests' | 'feedback',
) =>
  object({
    object: constant('analytics-graph'),
    ...(counts === 'requests' && { range: RANGE }),
    summary: { description: 'Values for the whole time range.', ...object(fieldsOf(summary)) },
    data_points: {
      description: 'Values for each interval, or for each group.',
      type: 'array',
      items: object(fieldsOf(points)),
    },
  });

export const CACHE_SUMMARY = object({
  object: { description: 'Type of this object.', type: 'string', example: 'analytics-summary' },
  range: RANGE,
  summary: {
    description: 'Values for the whole time range.',
    type: 'object',
    additionalProperties: { type: 'number' },
  },
});

const described = (texts: Readonly<Record<string, { readonly text: string }>>): SchemaProperties =>
  Object.fromEntries(Object.entries(texts).map(([name, { text }]) => [name, { description: text }]));

/** Counts of some groups are texts, as in the compatible API, so columns declare no type. */
const groupsOf = (fields: Readonly<Record<string, string>>) =>
  object({
    object: constant('list'),
    range: RANGE,
    total: { description: 'Number of groups on all pages.', type: 'integer' },
    data: {
      description: 'The groups of this page.',
      type: 'array',
      items: object({
        object: { description: 'Type of this object.' },
        ...described(Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, { text }]))),
        ...described(COLUMNS),
      }),
    },
  });

export const GROUP_ANSWER = groupsOf({
  ...Object.fromEntries(Object.values(GROUPINGS).map(({ field, text }) => [field, text])),
  api_key_name:
    'Name of the API key, also of a revoked one. Null if it does not exist. Only in groups by API key.',
});

export const METADATA_ANSWER = groupsOf({
  metadata_value: 'Value of the metadata key. Empty for requests without it.',
  avg_weighted_feedback: FIELDS.avg_weighted_feedback.description,
  requests_with_feedback: 'Number of requests whose trace has feedback.',
});
