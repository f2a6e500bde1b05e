import type { ClientRequest, ClientResponse } from '../../common/http/messages.js';
import { AppError } from '../../common/errors/app-error.js';
import { isFinal } from '../../common/errors/error-spec.js';
import { endLingering } from '../../common/http/lingering-close.js';
import { createLogger } from '../../common/observability/logger.js';
import { NO_ANSWER } from '../recording/record-of.js';
import type { Ending } from '../../request-log/record.js';
import type { StartedAttempt } from '../upstream/started-attempt.js';
import { type Exchange, failedAttempt } from '../recording/exchange.js';
import type { OutcomeTry } from '../types/attempt-outcome.js';
import { settleDiscarded } from '../attempt/discard.js';
import { hasBody } from '../ingress/request-hygiene.js';
import { addAnswerHeaders, NO_SNIFFING } from './answer-headers.js';
import { type ErrorReply, errorReply } from '../translation/error-formats.js';
import type { ErrorCode } from '../../common/errors/catalog.js';
import type { Target } from '../types/target.js';

const logger = createLogger('gateway');

const RETRY_AFTER_SECONDS = '1';

/** Statuses with a `retry-after` header. */
const COME_BACK: ReadonlySet<number> = new Set([429, 503]);

/** Details of an exceeded rate limit, in headers `x-ratelimit-<name>`; the reset is in seconds from now. */
const RATE_LIMIT_FACTS = ['limit', 'remaining', 'reset'] as const;

/** Headers of an error response besides those of the exchange: names and values in turn. */
function refusalHeaders({ spec, details }: AppError, bytes: number): string[] {
  const headers = [
    'content-type',
    'application/json; charset=utf-8',
    'content-length',
    String(bytes),
    'cache-control',
    'no-store',
    ...NO_SNIFFING,
  ];
  if (isFinal(spec)) headers.push('x-should-retry', 'false');
  if (COME_BACK.has(spec.status))
    headers.push('retry-after', String(details.retryAfter ?? RETRY_AFTER_SECONDS));
  for (const name of RATE_LIMIT_FACTS)
    if (details[name] !== undefined) headers.push(`x-ratelimit-${name}`, String(details[name]));
  if (details.allowed !== undefined) headers.push('allow', String(details.allowed));
  return headers;
}

/**
 * Responds with our own error. If the request's body has not been read, the connection is closed, so that the rest of the body is never
 * taken for the next request.
 */
export function sendRefusal(request: ClientRequest, response: ClientResponse, refusal: Refusal): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const { error, requestId, reply = errorReply(error, request, requestId) } = refusal;
  const { status } = reply;
  const body = refusal.body ?? bytesOf(reply.body);
  const headers = [...refusalHeaders(error, body.length), ...reply.headers, ...refusal.headers];
  // Node marks a request without a body complete only after its listeners ran.
  if (request.complete || !hasBody(request)) {
    response.writeHead(status, headers).end(body);
    return;
  }
  headers.push('connection', 'close');
  response.writeHead(status, headers).write(body);
  endLingering(request, response);
}

export interface Refusal {
  readonly error: AppError;
  readonly requestId: string;
  /** The error in the client's format; absent if it is not known yet. */
  readonly reply?: ErrorReply;
  /** Its body as bytes, if the caller already has them. */
  readonly body?: Buffer;
  /** Names and values in turn. */
  readonly headers: readonly string[];
}

const bytesOf = (body: ErrorReply['body']): Buffer => Buffer.from(JSON.stringify(body));

/** Why an exchange ends without a response. */
export interface StopReason {
  readonly error: unknown;
  /** The try in which the provider failed; null when the error is our own. */
  readonly failed: Pick<OutcomeTry, 'firstByteAt'> | null;
}

/** Records a response that broke off before the client received any of it. */
export function brokenResponse(exchange: Exchange, sent: StartedAttempt, error: AppError): StopReason {
  const { attempt } = sent;
  settleDiscarded(sent, exchange.trail, failedAttempt(exchange, error));
  return { error, failed: attempt };
}

/** Ends an exchange without a response: records the reason, and responds with our error. */
export function stopExchange(
  exchange: Exchange,
  { error: thrown, failed }: StopReason,
  hasLeft: boolean,
): void {
  const { facts, trail } = exchange;
  const plain = AppError.from(thrown);
  const { target } = trail;
  const error = failed && target ? namingProvider(plain, target) : plain;
  if (error.code === 'internal_error')
    logger.error({ err: error, request_id: facts.id }, 'A request failed inside the gateway.');
  refuseExchange(exchange, { error, hasLeft, failed });
}

interface ExchangeRefusal {
  readonly error: AppError;
  /** The client has disconnected, so no response can be sent. */
  readonly hasLeft: boolean;
  readonly failed: StopReason['failed'];
}

/** Status of an exchange whose client disconnected before it received one, as in nginx. */
const CLIENT_LEFT_STATUS = 499;

/** Records why the exchange has no response from a provider, and our error as its response, then responds with it. */
function refuseExchange(exchange: Exchange, { error, hasLeft, failed }: ExchangeRefusal): void {
  const { request, response, facts, bodies, trail, recorder } = exchange;
  const reply = errorReply(error, request, facts.id);
  const verdicts = error.code === 'guardrail_denied' ? { hook_results: trail.hookResults } : {};
  const body = bytesOf({ ...reply.body, ...verdicts });
  const isSent = !hasLeft && !response.headersSent;
  if (isSent) bodies.response.add(body);
  recorder.close(
    exchange,
    {
      ending: hasLeft ? 'client_aborted' : endingOf(failed),
      status: hasLeft ? CLIENT_LEFT_STATUS : reply.status,
      errorCode: hasLeft ? null : error.code,
      errorSource: hasLeft ? null : 'gateway',
      error,
      ...NO_ANSWER,
      contentType: isSent ? 'application/json' : null,
    },
    () => {
      const headers: string[] = [];
      addAnswerHeaders(headers, exchange, 'gateway');
      sendRefusal(request, response, { error, requestId: facts.id, reply, body, headers });
    },
  );
}

function endingOf(failed: StopReason['failed']): Ending {
  if (!failed) return 'refused';
  return failed.firstByteAt === null ? 'upstream_failed' : 'upstream_truncated';
}

/** Failures whose message names the provider, in `{where}`. */
const OF_A_PROVIDER: ReadonlySet<ErrorCode> = new Set([
  'upstream_error',
  'upstream_protocol_error',
  'upstream_timeout',
  'request_timeout',
]);

/** Adds the provider and its host to the message of a provider's failure; any other error is returned as it is. */
export function namingProvider(error: AppError, target: Target): AppError {
  if (!OF_A_PROVIDER.has(error.code)) return error;
  return new AppError(error.code, { ...error.details, where: whereIs(target) }, { cause: error.cause });
}

/** A host that a virtual key pins is not shown: the caller may lack the permission to see it. */
function whereIs({ provider, origin, virtualKey, isCustomHost }: Target): string {
  const name = ` "${provider.id}"`;
  if (provider.inProcess) return name;
  return virtualKey && isCustomHost
    ? `${name} of the virtual key "${virtualKey.slug}"`
    : `${name} at ${new URL(origin).host}`;
}
