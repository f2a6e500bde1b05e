import { countedColumn, displayedColumn } from './log-column.js';

/** How an exchange ended. `refused`: by the gateway, before or instead of a response of the provider. */
export const ENDINGS = [
  'completed',
  'refused',
  'client_aborted',
  'upstream_failed',
  'upstream_truncated',
  'gateway_crashed',
] as const;

/** The origin of a log of a request made elsewhere: `POST /v1/logs`, or a span. */
export const LOG_SOURCES = ['api', 'otlp'] as const;

/**
 * Where the numbers come from: the provider reported them; the gateway counted the text of a complete response; they are an estimate
 * because the response was cut off (by its client, or by the end of the gateway process); or they are unknown.
 */
export const USAGE_SOURCES = ['provider', 'counted', 'estimated', 'none'] as const;

/** The outcome of the response cache, in the values of the header `x-gateway-cache-status`. */
export const CACHE_STATUSES = [
  'HIT',
  'SEMANTIC HIT',
  'MISS',
  'SEMANTIC MISS',
  'REFRESH',
  'DISABLED',
] as const;

/** Columns whose values are known when the exchange has ended, or are computed when its row is stored. */
export const CLOSED_COLUMNS = {
  batch_id: countedColumn('uuid', null, {}),
  config_id: countedColumn('uuid?', 'Id of the saved routing config. Null if none applied.', {
    closed: 5,
    isSent: true,
  }),
  cache_status: countedColumn(
    'word?',
    'What the cache did: `HIT`, `SEMANTIC HIT`, `MISS`, `SEMANTIC MISS`, `REFRESH` or `DISABLED`.',
    {
      closed: 26,
      values: CACHE_STATUSES,
      isRare: true,
      exported: 'text',
      isSent: true,
      filter: 'what the cache did: `HIT`, `SEMANTIC HIT`, `MISS`, `REFRESH` or `DISABLED`',
      example: 'MISS',
    },
  ),
  error_code: countedColumn('word?', 'Code of the error. Null if there was none.', {
    closed: 11,
    exported: 'text',
    isSent: true,
    filter: 'code of the error',
  }),
  source: countedColumn(
    'word?',
    'How the log of a call made elsewhere was imported. Null for requests of the gateway itself.',
    {
      closed: 29,
      isRare: true,
      isSent: true,
      filter: 'source of an imported log, such as `otlp`',
      values: LOG_SOURCES,
    },
  ),
  ending: countedColumn(
    'word',
    'How the exchange ended, `completed`, `refused`, `client_aborted`, `upstream_failed`, `upstream_truncated` or `gateway_crashed`.',
    {
      closed: 9,
      values: ENDINGS,
      isSent: true,
      filter: 'how the exchange ended, such as `completed`',
      example: 'completed',
    },
  ),
  usage_source: countedColumn(
    'word',
    'Where the token counts come from: reported by the `provider`, `counted` by the gateway, `estimated`, or `none`.',
    { closed: 20, isSent: true, values: USAGE_SOURCES },
  ),
  status: countedColumn('int2', 'HTTP status of the response.', { closed: 10, isSent: true, example: 200 }),
  duration_ms: countedColumn('int4', 'Duration in milliseconds.', { closed: 13, isSent: true, example: 812 }),
  overhead_us: countedColumn('int4', 'Time that the gateway itself added, in microseconds.', {
    closed: 15,
    isSent: true,
    example: 310,
  }),
  first_token_ms: countedColumn(
    'int4?',
    'Milliseconds until the first token of the response. Null if there was none.',
    { closed: 14, isSent: true, example: 120 },
  ),
  input_tokens: countedColumn('int4?', 'Input tokens. Null if unknown.', { isSent: true, example: 12 }),
  output_tokens: countedColumn('int4?', 'Output tokens. Null if unknown.', { isSent: true, example: 40 }),
  cached_input_tokens: countedColumn(
    'int4?',
    'Input tokens that the provider read from its prompt cache. Null if it reports none.',
    { isSent: true },
  ),
  cache_write_tokens: countedColumn(
    'int4?',
    'Input tokens that the provider wrote to its prompt cache. Null if it reports none.',
    { isSent: true },
  ),
  reasoning_tokens: countedColumn(
    'int4?',
    'Reasoning tokens, part of the output tokens. Null if the provider reports none.',
    { isSent: true },
  ),
  audio_input_tokens: countedColumn(
    'int4?',
    'Audio input tokens, part of the input tokens. Null if the provider reports none.',
    {},
  ),
  audio_output_tokens: countedColumn(
    'int4?',
    'Audio output tokens, part of the output tokens. Null if the provider reports none.',
    {},
  ),
  cost_nano_usd: countedColumn('int8?', 'Cost in nano-dollars (10⁻⁹ USD). Null if the price is unknown.', {
    closed: 21,
    isSent: true,
    example: 415000,
  }),
  saved_nano_usd: countedColumn(
    'int8?',
    'What the response would have cost without the cache, in nano-dollars (10⁻⁹ USD).',
    { closed: 28, isRare: true, isSent: true },
  ),
  retry_count: countedColumn('int2?', 'Number of retries at the last target. Null if unknown.', {
    isSent: true,
    example: 0,
  }),
  fallback_count: countedColumn('int2?', 'Number of targets tried after the first. Null if unknown.', {
    isSent: true,
    example: 0,
  }),
  config_version_id: displayedColumn(
    'uuid?',
    'Id of the version of the config. Null if no saved config applied.',
    {
      closed: 6,
    },
  ),
  response_model: displayedColumn('word?', 'Id of the model in the response. Null if it names none.', {
    closed: 18,
    isSent: true,
    example: 'gpt-5-2026-01-01',
  }),
  option_path: displayedColumn('word?', 'Place of the target in the config. Null if no config applied.', {
    closed: 7,
    example: 'config.targets[1]',
  }),
  error_source: displayedColumn(
    'word?',
    'Where the error came from: `gateway` or `provider`. Null if there was none.',
    { closed: 12, values: ['gateway', 'provider'], isSent: true },
  ),
  decisions: displayedColumn(
    'jsonb?',
    'Decisions of the routing, from the root of the config down. Null if there were none.',
    { closed: 8, isList: true, example: ['config: conditions[0] holds, so config.targets[1]'] },
  ),
  hook_results: displayedColumn('jsonb?', 'Verdicts of the guardrails. Null if there were none.', {
    closed: 23,
  }),
  request_bytes: displayedColumn('int8', 'Size of the request body in bytes.', {
    closed: 16,
    isSent: true,
    example: 512,
  }),
  response_bytes: displayedColumn('int8', 'Size of the response body in bytes.', {
    closed: 17,
    isSent: true,
    example: 2048,
  }),
  attempt_count: displayedColumn('int2', 'Number of attempts, over all targets.', { example: 1 }),
  service_tier: displayedColumn(
    'word?',
    'Service tier named by the response, or else by the request. Null if neither names one.',
    {
      closed: 31,
      isRare: true,
      exported: 'text',
      isSent: true,
      filter: 'service tier, such as `flex`',
      example: 'default',
    },
  ),
  cache_score: displayedColumn(
    'float4?',
    'Similarity of the closest request in the semantic cache, 0 to 1. Null if the semantic cache was not used.',
    { closed: 27, isRare: true, exported: 'number' },
  ),
  dropped_parameters: displayedColumn(
    'text[]?',
    'Parameters that the provider does not have and was not sent. Null for none.',
    { closed: 30, isRare: true, exported: 'json', isSent: true },
  ),
} as const;
