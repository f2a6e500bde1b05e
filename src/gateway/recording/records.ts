import type { AppError } from '../../common/errors/app-error.js';
import type { ClientRequest } from '../../common/http/messages.js';
import type { Principal } from '../../auth/principal.js';
import type { Usage } from '../../common/contracts/usage.js';
import type {
  AttemptRecord,
  CacheStatus,
  Charge,
  CountableText,
  Ending,
  HeaderPairs,
  OpenedExchange,
  RequestLogRecord,
} from '../../request-log/record.js';
import { requestMetadata } from '../../common/contracts/request-metadata.js';
import { costOfAttempts } from '../../request-log/request-cost.js';
import type { Endpoint, Json, UsageReader } from '../../providers/endpoint.js';
import type { GatewayHeaders } from '../types/gateway-headers.js';
import type { Estimate } from '../limits/estimate.js';
import type { RecordedTry } from '../types/attempt-outcome.js';
import { type AttemptTrail, isStreamRequested, modelOf } from '../types/attempt-trail.js';
import type { SavedConfig } from '../types/plan.js';
import type { Target } from '../types/target.js';
import { headerOf } from '../../common/http/raw-headers.js';
import { maskedHeaders, maskedPath } from './masking.js';
import { lacksOutput, type Reading, TIER_CHARS_MAX, UNREAD } from './metering.js';

/** Results of an exchange's steps so far. */
export interface Findings {
  /** Of the request, as received. */
  readonly rawHeaders: HeaderPairs;
  readonly id: string;
  readonly traceId: string;
  /** Arrival: milliseconds since the epoch, and on the monotonic clock. */
  readonly createdAt: number;
  readonly arrivedAt: number;
  readonly overheadMs: number;
  readonly asked: GatewayHeaders;
  /** Credentials, ours and the provider's: masked wherever they might appear. Known when the exchange ends. */
  readonly secrets: readonly string[];
  readonly endpoint: Endpoint | null;
  readonly trail: AttemptTrail;
  readonly config: SavedConfig | null;
  readonly decisions: readonly string[] | null;
  readonly request: ClientRequest;
  readonly requestBody: { readonly bytes: number };
  readonly responseBody: { readonly bytes: number };
  readonly attempts: readonly AttemptRecord[];
  /** The cost of a usage at the request's last target, in nano-dollars; null when it is unknown. */
  worth(usage: Usage, responseModel: string | null): number | null;
}

/** How an exchange ended, from the step that ended it. */
export interface ExchangeOutcome {
  readonly ending: Ending;
  readonly status: number;
  readonly errorCode: string | null;
  readonly errorSource: 'gateway' | 'provider' | null;
  /** The gateway's own error, for the access log. */
  readonly error?: AppError;
  readonly reading: Reading;
  readonly contentType: string | null;
  readonly contentEncoding: string | null;
  readonly responseHeaders: HeaderPairs;
}

/** The response part of an outcome without a response. */
export const NO_ANSWER = {
  reading: UNREAD,
  contentType: null,
  contentEncoding: null,
  responseHeaders: [],
} as const;

/** The first frame of an exchange. */
export function openedExchange(found: Findings, caller: Principal, trail: AttemptTrail): OpenedExchange {
  const { asked } = found;
  const { method = '', url = '' } = found.request;
  const where = whereOf(trail.target);
  return {
    id: found.id,
    created_at: found.createdAt,
    organisation_id: caller.organizationId,
    workspace_id: caller.workspaceId,
    api_key_id: caller.apiKeyId,
    user_id: caller.userId,
    trace_id: found.traceId,
    span_id: asked.spanId,
    parent_span_id: asked.parentSpanId,
    span_name: asked.spanName,
    method,
    path: maskedPath(url),
    endpoint: found.endpoint ? found.endpoint.id : null,
    provider: where.provider,
    virtual_key: where.virtual_key,
    virtual_key_id: where.virtual_key_id,
    model: modelOf(trail),
    streamed: isStreamRequested(trail),
    metadata: metadataOf(asked, trail.body),
  };
}

const NOWHERE = { provider: null, virtual_key: null, virtual_key_id: null } as const;

type Where = Pick<OpenedExchange, 'provider' | 'virtual_key' | 'virtual_key_id'>;

function whereOf(target: Target | null): Where {
  if (!target) return NOWHERE;
  const { provider, virtualKey } = target;
  if (!virtualKey) return { provider: provider.id, virtual_key: null, virtual_key_id: null };
  return { provider: provider.id, virtual_key: virtualKey.slug, virtual_key_id: virtualKey.id };
}

export const metadataOf = (asked: GatewayHeaders, body: Json | null): OpenedExchange['metadata'] =>
  requestMetadata(asked.metadata, body);

/** The row of a try. Rare columns are added only if they apply: a spread of an object this wide costs microseconds. */
type Rare = 'charges' | 'countable' | 'isAside' | 'isEstimated' | 'price';
export type NewRecord = Omit<AttemptRecord, Rare> & {
  -readonly [Name in Rare]?: AttemptRecord[Name];
};

/** An ended attempt, for its record. */
export interface EndedAttempt {
  readonly errorCode: string | null;
  readonly reading: Reading;
  /** The provider was working when the client disconnected, so the input is billed in any case. */
  readonly isCut?: boolean;
  /** The response is complete, even if the attempt does not reflect that yet. */
  readonly isComplete?: boolean;
  /** Absent: the record of the request has the text of the response. */
  readonly countable?: AttemptRecord['countable'] | null;
  readonly isAside?: true;
  /** Its usage includes an estimate, although it ended. */
  readonly isEstimated?: boolean;
}

/** The record of an ended try. */
export function attemptRecord(
  attempt: RecordedTry,
  target: Target,
  rest: Pick<AttemptRecord, 'attempt' | 'option_path' | 'error_code' | 'usage' | 'cost_nano_usd'>,
): NewRecord {
  const endedAt = attempt.endedAt ?? performance.now();
  return {
    attempt: rest.attempt,
    option_path: rest.option_path,
    provider: target.provider.id,
    virtual_key_id: target.virtualKey ? target.virtualKey.id : null,
    origin: target.origin,
    started_at: attempt.startedAtEpoch,
    first_byte_ms: between(attempt.startedAt, attempt.firstByteAt),
    duration_ms: rounded(endedAt - attempt.startedAt),
    status: attempt.status || null,
    error_code: rest.error_code,
    usage: rest.usage,
    cost_nano_usd: rest.cost_nano_usd,
  };
}

/** An attempt about to be sent. */
export interface ReservedAttempt {
  readonly attempt: number;
  readonly option: string;
  readonly target: Target;
  readonly charges: readonly Charge[];
  readonly estimate: Estimate;
  /** Milliseconds since the epoch; absent: now. */
  readonly startedAt?: number;
}

/** The record of an attempt about to be sent, for the case that its end is never recorded: it used its whole reservation. */
export function reservedAttempt({
  attempt,
  option,
  target,
  charges,
  estimate,
  startedAt = Date.now(),
}: ReservedAttempt): AttemptRecord {
  const { tokens, costNanoUsd, usage = NO_USAGE } = estimate;
  // A token limit reserves the maximum of tokens; the most expensive usage may have fewer.
  const lacking = Math.max(0, tokens - usage.input_tokens - usage.output_tokens);
  return {
    attempt,
    option_path: option,
    provider: target.provider.id,
    virtual_key_id: target.virtualKey ? target.virtualKey.id : null,
    origin: target.origin,
    started_at: startedAt,
    first_byte_ms: null,
    duration_ms: 0,
    status: null,
    error_code: 'gateway_crashed',
    usage: { ...usage, output_tokens: usage.output_tokens + lacking },
    cost_nano_usd: costNanoUsd,
    ...(charges.length > 0 && { charges }),
    isEstimated: true,
  };
}

/** Providers do not bill refusals, or requests that never reached them. Every other attempt without an end is charged an estimate. */
export const isUnended = ({ wasSent, status, isWhole }: RecordedTry, isComplete = false): boolean =>
  wasSent && status < 400 && !isComplete && !isWhole;

type UsageColumns = Pick<RequestLogRecord, 'usage' | 'usage_source'>;

/** If the response reported nothing, the usage that the last attempt is charged, as an estimate. */
function usageIn(attempts: readonly AttemptRecord[], { usage, isAssumed }: Reading): UsageColumns {
  const last = attempts.at(-1);
  const known = usage ?? (last?.isEstimated ? last.usage : null);
  if (!known) return { usage: null, usage_source: 'none' };
  if (last?.isEstimated) return { usage: known, usage_source: 'estimated' };
  return { usage: known, usage_source: isAssumed ? 'counted' : 'provider' };
}

const NO_USAGE: Usage = { input_tokens: 0, output_tokens: 0 };

/** The second frame. */
export function closedRecord(
  found: Findings,
  opened: OpenedExchange,
  outcome: ExchangeOutcome,
): RequestLogRecord {
  const used = usageIn(found.attempts, outcome.reading);
  // The last target. The first frame has the first one, which may differ.
  const { target } = found.trail;
  const where = target ? whereOf(target) : opened;
  return recordAt({ where, used, found, trail: found.trail, opened, outcome });
}

interface ClosedExchange {
  readonly where: Where;
  readonly used: UsageColumns;
  readonly found: Findings;
  readonly trail: AttemptTrail;
  readonly opened: OpenedExchange;
  readonly outcome: ExchangeOutcome;
}

/** Written out field by field: a spread of an object this wide costs several microseconds. */
function recordAt({ where, used, found, trail, opened, outcome }: ClosedExchange): RequestLogRecord {
  return {
    id: opened.id,
    created_at: opened.created_at,
    organisation_id: opened.organisation_id,
    workspace_id: opened.workspace_id,
    api_key_id: opened.api_key_id,
    user_id: opened.user_id,
    trace_id: opened.trace_id,
    span_id: opened.span_id,
    parent_span_id: opened.parent_span_id,
    span_name: opened.span_name,
    method: opened.method,
    path: opened.path,
    endpoint: opened.endpoint,
    provider: where.provider,
    virtual_key: where.virtual_key,
    virtual_key_id: where.virtual_key_id,
    model: modelOf(trail),
    streamed: isStreamRequested(trail),
    config_id: found.config ? found.config.id : null,
    config_version_id: found.config ? found.config.versionId : null,
    option_path: trail.option,
    decisions: found.decisions,
    metadata: opened.metadata,
    ending: outcome.ending,
    status: outcome.status,
    error_code: outcome.errorCode,
    error_source: outcome.errorSource,
    duration_ms: rounded(performance.now() - found.arrivedAt),
    first_token_ms: between(found.arrivedAt, outcome.reading.firstEventAt),
    overhead_us: Math.round(found.overheadMs * 1000),
    request_bytes: found.requestBody.bytes,
    response_bytes: found.responseBody.bytes,
    response_model: outcome.reading.responseModel,
    usage: used.usage,
    usage_source: used.usage_source,
    cost_nano_usd: costIn(found),
    cache_status: trail.cacheStatus,
    cache_score: trail.cacheScore,
    dropped_parameters: trail.dropped,
    service_tier: outcome.reading.serviceTier ?? tierInHeader(trail, outcome) ?? askedTier(trail.body),
    saved_nano_usd: savedIn(found, outcome.reading),
    attempts: found.attempts,
    countable: lacksOutput(outcome.reading) ? countable(found, outcome) : null,
    hook_results: trail.hookResults && { ...trail.hookResults },
    request_headers: maskedHeaders(found.rawHeaders, found.secrets),
    response_headers: maskedHeaders(outcome.responseHeaders, found.secrets),
  };
}

function tierInHeader({ target }: AttemptTrail, { responseHeaders }: ExchangeOutcome): string | null {
  const name = target?.provider.tierHeader;
  return name === undefined ? null : (headerOf(responseHeaders, name)?.slice(0, TIER_CHARS_MAX) ?? null);
}

/** The requested tier, for a response that names none: OpenAI's and Anthropic's field, or Google's. */
function askedTier(body: Json | null): string | null {
  const tier = body?.service_tier ?? body?.serviceTier;
  return typeof tier === 'string' ? tier.slice(0, TIER_CHARS_MAX) : null;
}

const isHit = (status: CacheStatus | null): boolean => status === 'HIT' || status === 'SEMANTIC HIT';

/** A cache hit costs what finding it cost, usually nothing. There too, an unknown price is not 0. */
function costIn({ attempts, trail: { cacheStatus } }: Findings): number | null {
  const isFree = isHit(cacheStatus) && attempts.every(({ usage }) => usage === null);
  return isFree ? 0 : costOfAttempts(attempts);
}

/** The cost that a cache hit avoided. */
function savedIn(found: Findings, { usage, responseModel }: Reading): number | null {
  return isHit(found.trail.cacheStatus) && usage ? found.worth(usage, responseModel) : null;
}

/**
 * Text to count if the provider's response reported no usage, or only that of its input; for a response that was cut off, at least the
 * input.
 */
function countable(
  { endpoint, trail: { cacheStatus, body } }: Findings,
  { reading, ending }: ExchangeOutcome,
): RequestLogRecord['countable'] {
  if (!endpoint?.usage || !body || isHit(cacheStatus) || reading === UNREAD) return null;
  if (!hasText(reading) && ending !== 'client_aborted') return null;
  return countableText(endpoint.usage, body, reading);
}

/** Whether there is text to count. */
export const hasText = ({ outputText, isInputCounted }: Reading): boolean =>
  outputText !== '' || isInputCounted === true;

/** The text to count of a response: only its output if the provider reported its input. */
export function countableText(
  reader: UsageReader,
  body: Json,
  { usage, outputText: output }: Reading,
): CountableText {
  return usage ? { input: '', output, isOutputOnly: true } : { input: reader.inputText(body), output };
}

function between(from: number, to: number | null): number | null {
  return to === null ? null : rounded(to - from);
}

/** The clock has only microsecond precision. */
function rounded(ms: number): number {
  return Math.round(ms * 1000) / 1000;
}
