import { randomUUID } from 'node:crypto';
import type {
  CapturedBodies,
  CapturedBody,
  OpenedExchange,
  RequestLogRecord,
} from '../../src/request-log/record.js';
import { uuidV7 } from '../../src/common/ids/uuid-v7.js';

const TENANT = { organisation_id: randomUUID(), workspace_id: randomUUID(), api_key_id: randomUUID() };

/** The beginning of an exchange; say only what the test is about. */
export function anOpened(given: Partial<OpenedExchange> = {}): OpenedExchange {
  const now = Date.now();
  return {
    id: uuidV7(now),
    created_at: now,
    ...TENANT,
    user_id: null,
    trace_id: 'trace-1',
    span_id: null,
    parent_span_id: null,
    span_name: null,
    method: 'POST',
    path: '/v1/chat/completions',
    endpoint: 'chat-completions',
    provider: 'openai',
    virtual_key: 'openai-prod',
    virtual_key_id: null,
    model: 'gpt-4o-mini',
    streamed: false,
    metadata: null,
    ...given,
  };
}

/** How that exchange ended: well, unless told otherwise. */
export function aRecord(
  opened: OpenedExchange = anOpened(),
  given: Partial<RequestLogRecord> = {},
): RequestLogRecord {
  const usage = { input_tokens: 12, output_tokens: 3 };
  return {
    ...opened,
    config_id: null,
    config_version_id: null,
    option_path: 'config',
    decisions: null,
    ending: 'completed',
    status: 200,
    error_code: null,
    error_source: null,
    duration_ms: 40,
    first_token_ms: null,
    overhead_us: 300,
    request_bytes: 100,
    response_bytes: 200,
    response_model: 'gpt-4o-mini',
    usage,
    usage_source: 'provider',
    cost_nano_usd: 3_600,
    attempts: [
      {
        attempt: 0,
        option_path: 'config',
        provider: 'openai',
        virtual_key_id: null,
        origin: 'https://api.openai.com:443',
        started_at: opened.created_at,
        first_byte_ms: 30,
        duration_ms: 38,
        status: 200,
        error_code: null,
        usage,
        cost_nano_usd: 3_600,
      },
    ],
    countable: null,
    hook_results: null,
    request_headers: ['content-type', 'application/json'],
    response_headers: ['content-type', 'application/json'],
    ...given,
  };
}

export function aBody(bytes: string | Buffer, given: Partial<CapturedBody> = {}): CapturedBody {
  const chunk = Buffer.from(bytes);
  return {
    chunks: [chunk],
    bytes: chunk.length,
    truncated: false,
    content_type: 'application/json',
    content_encoding: null,
    ...given,
  };
}

export const NO_BODIES: CapturedBodies = { request: null, response: null };
