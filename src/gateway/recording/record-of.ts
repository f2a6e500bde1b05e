import type { AppError } from '../../common/errors/app-error.js';
import type { ClientRequest } from '../../common/http/messages.js';
import type { Principal } from '../../auth/principal.js';
import type {
  AttemptRecord,
  CacheStatus,
  CountableText,
  Ending,
  HeaderPairs,
  OpenedExchange,
  RequestLogRecord,
} from '../../request-log/record.js';
import { requestMetadata } from '../../common/contracts/request-metadata.js';
import { costOfAttempts } from '../../request-log/request-cost.js';
import type { Json, UsageReader } from '../../providers/endpoint.js';
import type { GatewayHeaders } from '../types/gateway-headers.js';
import { costOf } from '../../providers/prices/cost.js';
import type { PriceBook } from '../ports.js';
import { type AttemptTrail, isStreamRequested, modelOf } from '../types/attempt-trail.js';
import type { ExchangeFacts } from '../types/exchange-facts.js';
import type { Target } from '../types/target.js';
import { headerOf } from '../../common/http/raw-headers.js';
import { priceFor } from './applied-price.js';
import { between, rounded } from './attempt-columns.js';
import type { BodyCaptures } from './capture.js';
import { maskedHeaders, maskedPath } from './masking.js';
import { hasText, lacksOutput, type Reading, TIER_CHARS_MAX, UNREAD } from './reading.js';

/** An exchange as it is recorded: the values that its steps returned. */
export interface RecordedExchange {
  readonly request: ClientRequest;
  readonly facts: ExchangeFacts;
  readonly bodies: BodyCaptures;
  /** Of the request as it was read, then of the attempt that decided its outcome. */
  readonly trail: AttemptTrail;
  /** The choices of routing with their reasons; empty if there was nothing to choose. */
  readonly decisions: readonly string[];
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
  /** When the response was complete, on the monotonic clock: since then, only the gateway has worked. Absent or null without a response. */
  readonly answeredAt?: number | null;
  /** Bytes that passed beside the bodies, of a session. */
  readonly sessionBytes?: { readonly up: number; readonly down: number };
}

/** The response part of an outcome without a response. */
export const NO_ANSWER = {
  reading: UNREAD,
  contentType: null,
  contentEncoding: null,
  responseHeaders: [],
} as const;

/** The first frame of an exchange. */
export function openedExchange(
  { method = '', url = '' }: ClientRequest,
  facts: ExchangeFacts,
  caller: Principal,
  trail: AttemptTrail,
): OpenedExchange {
  const { options } = facts;
  const where = whereOf(trail.target);
  return {
    id: facts.id,
    created_at: facts.createdAt,
    organisation_id: caller.organizationId,
    workspace_id: caller.workspaceId,
    api_key_id: caller.apiKeyId,
    user_id: caller.userId,
    trace_id: facts.traceId,
    span_id: options.spanId,
    parent_span_id: options.parentSpanId,
    span_name: options.spanName,
    method,
    path: maskedPath(url),
    endpoint: facts.endpoint ? facts.endpoint.id : null,
    provider: where.provider,
    virtual_key: where.virtual_key,
    virtual_key_id: where.virtual_key_id,
    model: modelOf(trail),
    streamed: isStreamRequested(trail),
    metadata: metadataOf(options, trail.body),
  };
}

const NOWHERE = { provider: null, virtual_key: null, virtual_key_id: null } as const;

type RecordedTarget = Pick<OpenedExchange, 'provider' | 'virtual_key' | 'virtual_key_id'>;

function whereOf(target: Target | null): RecordedTarget {
  if (!target) return NOWHERE;
  const { provider, virtualKey } = target;
  if (!virtualKey) return { provider: provider.id, virtual_key: null, virtual_key_id: null };
  return { provider: provider.id, virtual_key: virtualKey.slug, virtual_key_id: virtualKey.id };
}

export const metadataOf = (options: GatewayHeaders, body: Json | null): OpenedExchange['metadata'] =>
  requestMetadata(options.metadata, body);

type UsageColumns = Pick<RequestLogRecord, 'usage' | 'usage_source'>;

/** If the response reported nothing, the usage that the last attempt is charged, as an estimate. */
function usageIn(attempts: readonly AttemptRecord[], { usage, isAssumed }: Reading): UsageColumns {
  const last = attempts.at(-1);
  const known = usage ?? (last?.isEstimated ? last.usage : null);
  if (!known) return { usage: null, usage_source: 'none' };
  if (last?.isEstimated) return { usage: known, usage_source: 'estimated' };
  return { usage: known, usage_source: isAssumed ? 'counted' : 'provider' };
}

/** How an exchange ended, and what was recorded until then. */
interface ClosingFrame {
  /** The first frame. */
  readonly opened: OpenedExchange;
  readonly outcome: ExchangeOutcome;
  /** On the monotonic clock. */
  readonly endedAt: number;
  readonly attempts: readonly AttemptRecord[];
  readonly overheadMs: number;
  /** Credentials, ours and the provider's: masked wherever they might appear. */
  readonly secrets: readonly string[];
  readonly prices: PriceBook;
}

/** Maximum number of recorded choices. */
const DECISIONS_MAX = 32;

/** The second frame: a pure function of what the steps returned. */
export function recordOf(exchange: RecordedExchange, closed: ClosingFrame): RequestLogRecord {
  const { trail, bodies } = exchange;
  const { opened, outcome, attempts } = closed;
  return columnsOf({
    exchange,
    closed,
    opened,
    outcome,
    // The last target. The first frame has the first one, which may differ.
    where: trail.target ? whereOf(trail.target) : opened,
    used: usageIn(attempts, outcome.reading),
    bytes: outcome.sessionBytes ?? { up: bodies.request.bytes, down: bodies.response.bytes },
  });
}

interface FrameParts extends Pick<ClosingFrame, 'opened' | 'outcome'> {
  readonly exchange: RecordedExchange;
  readonly closed: ClosingFrame;
  readonly where: RecordedTarget;
  readonly used: UsageColumns;
  readonly bytes: { readonly up: number; readonly down: number };
}

/** Written out field by field: a spread of an object this wide costs several microseconds. */
function columnsOf({ where, used, bytes, opened, outcome, exchange, closed }: FrameParts): RequestLogRecord {
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
    model: modelOf(exchange.trail),
    streamed: isStreamRequested(exchange.trail),
    config_id: exchange.facts.config ? exchange.facts.config.id : null,
    config_version_id: exchange.facts.config ? exchange.facts.config.versionId : null,
    option_path: exchange.trail.option,
    decisions: decisionsOf(exchange),
    metadata: opened.metadata,
    ending: outcome.ending,
    status: outcome.status,
    error_code: outcome.errorCode,
    error_source: outcome.errorSource,
    duration_ms: rounded(closed.endedAt - exchange.facts.arrivedAt),
    first_token_ms: between(exchange.facts.arrivedAt, outcome.reading.firstEventAt),
    overhead_us: Math.round(closed.overheadMs * 1000),
    request_bytes: bytes.up,
    response_bytes: bytes.down,
    response_model: outcome.reading.responseModel,
    usage: used.usage,
    usage_source: used.usage_source,
    cost_nano_usd: costIn(closed.attempts, exchange.trail),
    cache_status: exchange.trail.cacheStatus,
    cache_score: exchange.trail.cacheScore,
    dropped_parameters: exchange.trail.dropped,
    service_tier: serviceTierOf(exchange.trail, outcome),
    saved_nano_usd: savedIn(exchange.trail, outcome.reading, closed.prices),
    attempts: closed.attempts,
    countable: lacksOutput(outcome.reading) ? countable(exchange, outcome) : null,
    hook_results: exchange.trail.hookResults && { ...exchange.trail.hookResults },
    request_headers: maskedHeaders(exchange.request.rawHeaders, closed.secrets),
    response_headers: maskedHeaders(outcome.responseHeaders, closed.secrets),
  };
}

/** As the response reported it, in its body or in a header; else as it was requested. */
const serviceTierOf = (trail: AttemptTrail, outcome: ExchangeOutcome): string | null =>
  outcome.reading.serviceTier ?? tierInHeader(trail, outcome) ?? requestedTier(trail.body);

function tierInHeader({ target }: AttemptTrail, { responseHeaders }: ExchangeOutcome): string | null {
  const name = target?.provider.tierHeader;
  return name === undefined ? null : (headerOf(responseHeaders, name)?.slice(0, TIER_CHARS_MAX) ?? null);
}

/** The requested tier, for a response that names none: OpenAI's and Anthropic's field, or Google's. */
function requestedTier(body: Json | null): string | null {
  const tier = body?.service_tier ?? body?.serviceTier;
  return typeof tier === 'string' ? tier.slice(0, TIER_CHARS_MAX) : null;
}

const isHit = (status: CacheStatus | null): boolean => status === 'HIT' || status === 'SEMANTIC HIT';

/** A cache hit costs what finding it cost, usually nothing. There too, an unknown price is not 0. */
function costIn(attempts: readonly AttemptRecord[], { cacheStatus }: AttemptTrail): number | null {
  const isFree = isHit(cacheStatus) && attempts.every(({ usage }) => usage === null);
  return isFree ? 0 : costOfAttempts(attempts);
}

/** The cost that a cache hit avoided, in nano-dollars; null when the price is unknown. Nothing is charged for it. */
function savedIn(trail: AttemptTrail, { usage, responseModel }: Reading, prices: PriceBook): number | null {
  const { target, cacheStatus } = trail;
  if (!isHit(cacheStatus) || !usage || !target) return null;
  const found = priceFor(prices, responseModel, { target, model: modelOf(trail) });
  return found && costOf(usage, found.price);
}

/** Those of routing first; null for none. */
function decisionsOf({ decisions, trail }: RecordedExchange): string[] | null {
  const all = [...decisions, ...(trail.decisions ?? [])];
  return all.length > 0 ? all.slice(0, DECISIONS_MAX) : null;
}

/**
 * Text to count if the provider's response reported no usage, or only that of its input; for a response that was cut off, at least the
 * input.
 */
function countable(
  { facts: { endpoint }, trail: { cacheStatus, body } }: RecordedExchange,
  { reading, ending }: ExchangeOutcome,
): RequestLogRecord['countable'] {
  if (!endpoint?.usage || !body || isHit(cacheStatus) || reading === UNREAD) return null;
  if (!hasText(reading) && ending !== 'client_aborted') return null;
  return countableText(endpoint.usage, body, reading);
}

/** The text to count of a response: only its output if the provider reported its input. */
export function countableText(
  reader: UsageReader,
  body: Json,
  { usage, outputText: output }: Reading,
): CountableText {
  return usage ? { input: '', output, isOutputOnly: true } : { input: reader.inputText(body), output };
}
