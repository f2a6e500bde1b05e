import { countedColumn, displayedColumn } from './log-column.js';

/** Columns whose values are known when the exchange begins. The target is that of the first attempt until the exchange ends. */
export const OPENED_COLUMNS = {
  id: countedColumn('uuid', 'Id, assigned when the resource was created. It never changes.', {
    opened: 0,
    exported: 'text',
    isSent: true,
  }),
  organisation_id: countedColumn(
    'uuid',
    "Id of the organization. In a request it is optional and must be the caller's own.",
    { opened: 2, isSent: true },
  ),
  workspace_id: countedColumn('uuid?', 'Id of the workspace.', {
    opened: 3,
    isSent: true,
    clickhouse: 'UUID',
  }),
  created_at: countedColumn('timestamptz', 'Time of creation, ISO 8601 in UTC.', { opened: 1, isSent: true }),
  api_key_id: countedColumn('uuid?', 'Id of the API key. Null if none was used.', {
    opened: 4,
    exported: 'text',
    isSent: true,
    filter: 'id of the API key',
  }),
  user_id: countedColumn('uuid?', 'Id of the user. Null if there is none.', {
    opened: 5,
    isSent: true,
    filter: 'id of the user to whom the API key belongs',
  }),
  virtual_key: countedColumn('word?', 'Slug of the virtual key. Null if none was used.', {
    opened: 14,
    closed: 1,
    exported: 'text',
    isSent: true,
    filter: 'slug of the virtual key',
    example: 'openai-prod',
  }),
  provider: countedColumn('word?', 'Id of the provider in the provider catalogue, such as `openai`.', {
    opened: 13,
    closed: 0,
    isSent: true,
    filter: 'id of the provider',
    example: 'openai',
  }),
  model: countedColumn('word?', "Id of the model, as its provider's documentation writes it.", {
    opened: 16,
    closed: 3,
    isSent: true,
    filter: 'id of the model',
    example: 'gpt-5',
  }),
  endpoint: countedColumn(
    'word?',
    'Endpoint, such as `chat-completions`. Null for paths that pass through.',
    {
      opened: 12,
      isSent: true,
      filter: 'endpoint, such as `chat-completions`',
      example: 'chat-completions',
    },
  ),
  prompt_slug: countedColumn('word?', 'Slug of the prompt template. Null if none was used.', {
    opened: 19,
    isRare: true,
    exported: 'text',
    filter: 'slug of the prompt template',
  }),
  trace_id: countedColumn(
    'text',
    'Id of the trace to which the request belongs: set by the client, else its own.',
    { opened: 6, exported: 'text', isSent: true, filter: 'id of the trace', example: 'checkout-7' },
  ),
  span_id: countedColumn('text?', 'Id of the span, set by the client. Null if there is none.', {
    opened: 7,
    exported: 'text',
    isSent: true,
    filter: 'id of the span',
  }),
  metadata: countedColumn(
    'jsonb?',
    'Key-value pairs that are stored with each request, for filters and reports: at most 64 keys, values of at most 128 characters.',
    {
      opened: 18,
      exported: 'json',
      isSent: true,
      clickhouse: 'Map(String, String)',
      example: { _user: 'ada' },
    },
  ),
  virtual_key_id: displayedColumn('uuid?', 'Id of the virtual key. Null if none was used.', {
    opened: 15,
    closed: 2,
    isSent: true,
  }),
  span_name: displayedColumn('word?', 'Name of the span, set by the client. Null if there is none.', {
    opened: 9,
    exported: 'text',
    isSent: true,
  }),
  method: displayedColumn('word', 'HTTP method.', { opened: 10, isSent: true, example: 'POST' }),
  path: displayedColumn('text', 'Path of the request, without its query.', {
    opened: 11,
    isSent: true,
    example: '/v1/chat/completions',
  }),
  parent_span_id: displayedColumn(
    'text?',
    'Id of the span above, set by the client. Null if there is none.',
    {
      opened: 8,
      exported: 'text',
      isSent: true,
    },
  ),
  streamed: displayedColumn('bool', 'Whether the response was streamed.', {
    opened: 17,
    closed: 4,
    isSent: true,
  }),
} as const;
