import type { Principal } from '../../auth/principal.js';
import type { Usage } from '../../common/contracts/usage.js';
import type { HeaderPairs, LogSource, RequestLogRecord } from '../../request-log/record.js';
import { closedText } from '../../request-log/spool/frame-values.js';
import type { IngestedLog } from './ingested-log.entity.js';
import { clearExchange } from '../../request-log/redaction/clear-exchange.js';
import type { Redactor } from '../../request-log/redaction/redactor.js';
import { CREDENTIAL_HEADERS } from '../../common/http/credential-headers.js';

/** A request made elsewhere, as far as it was reported. */
export interface IngestedCall {
  readonly id: string;
  readonly source: LogSource;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly durationMs: number;
  readonly traceId: string;
  readonly spanId: string | null;
  readonly parentSpanId: string | null;
  readonly spanName: string | null;
  readonly method: string;
  readonly url: string;
  readonly provider: string | null;
  readonly model: string | null;
  readonly responseModel: string | null;
  readonly streamed: boolean;
  readonly status: number;
  readonly errorCode: string | null;
  readonly usage: Usage | null;
  readonly costNanoUsd: number | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly request: IngestedMessage;
  readonly response: IngestedMessage;
}

export interface IngestedMessage {
  readonly headers: Readonly<Record<string, string>>;
  /** A JSON value; undefined if absent. */
  readonly body: unknown;
}

const LONGEST_URL = 2_048;
const LONGEST_HEADER = 1_024;
const MOST_HEADERS = 100;
const SECRET_HEADERS: ReadonlySet<string> = new Set(CREDENTIAL_HEADERS);
const SOUNDS_SECRET = /(?:key|token|secret|password|credential|signature|authorization)$/i;
const SUCCESS = 400;

/** The inbox row: the closed frame that the gateway would have written. It names no counter, so no budget is charged. */
export function inboxRow(
  caller: Principal,
  call: IngestedCall,
  { keepsBodies, redactor }: { readonly keepsBodies: boolean; readonly redactor: Redactor | null },
): IngestedLog {
  const [request, response] = [call.request, call.response].map(({ body }) =>
    keepsBodies && body !== undefined ? Buffer.from(JSON.stringify(body)) : Buffer.alloc(0),
  ) as [Buffer, Buffer];
  const facts = (bytes: Buffer) =>
    bytes.length === 0
      ? null
      : { bytes: bytes.length, truncated: false, content_type: 'application/json', content_encoding: null };
  const closed = {
    record: recordOf(caller, call, { request: request.length, response: response.length }),
    request: facts(request),
    response: facts(response),
  };
  const exchange = { closed, requestBody: request, responseBody: response };
  const kept = redactor ? clearExchange(exchange, redactor) : exchange;
  return {
    id: call.id,
    organizationId: caller.organizationId,
    closed: Buffer.from(closedText(kept.closed)),
    requestBody: kept.requestBody,
    responseBody: kept.responseBody,
  };
}

function recordOf(
  caller: Principal,
  call: IngestedCall,
  bytes: { readonly request: number; readonly response: number },
): RequestLogRecord {
  return {
    id: call.id,
    source: call.source,
    created_at: call.startedAt,
    organisation_id: caller.organizationId,
    workspace_id: caller.workspaceId,
    api_key_id: caller.apiKeyId,
    user_id: caller.userId,
    trace_id: call.traceId,
    span_id: call.spanId,
    parent_span_id: call.parentSpanId,
    span_name: call.spanName,
    method: call.method,
    path: shownUrl(call.url),
    endpoint: null,
    provider: call.provider,
    virtual_key: null,
    virtual_key_id: null,
    model: call.model,
    streamed: call.streamed,
    metadata: call.metadata,
    ...NO_CONFIG,
    ...outcomeOf(call),
    request_bytes: bytes.request,
    response_bytes: bytes.response,
    request_headers: maskedPairs(call.request.headers),
    response_headers: maskedPairs(call.response.headers),
  };
}

const NO_CONFIG = {
  config_id: null,
  config_version_id: null,
  option_path: 'config',
  decisions: null,
  attempts: [],
  countable: null,
  hook_results: null,
  first_token_ms: null,
  overhead_us: 0,
} as const;

function outcomeOf({ status, errorCode, durationMs, responseModel, usage, costNanoUsd }: IngestedCall) {
  return {
    ending: status < SUCCESS ? ('completed' as const) : ('upstream_failed' as const),
    status,
    error_code: errorCode,
    error_source: status < SUCCESS ? null : ('provider' as const),
    duration_ms: durationMs,
    response_model: responseModel,
    usage,
    usage_source: usage ? ('provider' as const) : ('none' as const),
    cost_nano_usd: costNanoUsd,
  };
}

/** Without its query and user, which may be secrets. */
function shownUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  const shown = url ? url.origin + url.pathname : (text.split('?', 1)[0] as string);
  return shown.slice(0, LONGEST_URL);
}

function maskedPairs(headers: Readonly<Record<string, string>>): HeaderPairs {
  return Object.entries(headers)
    .slice(0, MOST_HEADERS)
    .flatMap(([name, value]) => {
      const isSecret = SECRET_HEADERS.has(name.toLowerCase()) || SOUNDS_SECRET.test(name);
      return [name.toLowerCase(), isSecret ? '***' : value.slice(0, LONGEST_HEADER)];
    });
}
