import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { AppError } from '../../common/errors/app-error.js';
import { isForeignHeader } from '../../providers/client-headers.js';
import { gatewayOption } from '../types/gateway-headers.js';
import type { Target } from '../types/target.js';
import { lower } from '../../common/http/raw-headers.js';
import { setsSessionCookie } from '../../common/http/session-cookie-names.js';
import { ORIGIN_HEADERS } from './origin-headers.js';

/** The parts of a request that the upstream head is made from. */
export type ClientRequestHead = Pick<IncomingMessage, 'method' | 'headers' | 'rawHeaders'>;

/** How a request header is handled on its way upstream. */
type Rule = 'pass' | 'drop' | 'credential';

/** Fields that concern one connection: https://www.rfc-editor.org/rfc/rfc9110#name-connection */
const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
] as const;

/**
 * Headers of a request that are not forwarded. Cookies and forwarding fields concern the caller's path to us; trace context belongs to the
 * caller's own systems (https://www.w3.org/TR/trace-context/#privacy-considerations); the metadata fields unlock the credentials of cloud
 * machines.
 */
const DROPPED: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  'proxy-authorization',
  // A session negotiates these again: https://www.rfc-editor.org/rfc/rfc6455#section-11.3
  'sec-websocket-extensions',
  'sec-websocket-protocol',
  'http2-settings',
  'expect',
  'host',
  'content-length',
  'cookie',
  'forwarded',
  'x-real-ip',
  'traceparent',
  'tracestate',
  'baggage',
  'metadata',
  'metadata-flavor',
  'x-metadata-token',
  'x-aws-ec2-metadata-token',
  'x-aws-ec2-metadata-token-ttl-seconds',
]);

const DROPPED_PREFIXES = ['x-gateway-', 'x-portkey-', 'x-forwarded-'] as const;

/** Headers in which callers send a provider's credential. */
const CREDENTIALS: ReadonlySet<string> = new Set(['authorization', 'x-api-key', 'api-key', 'x-goog-api-key']);

const RULES_MAX = 2_000;
const rules = new Map<string, Rule>();

/** The rule of a name as the client wrote it; cached, because clients write few different ones. */
function ruleOf(name: string): Rule {
  const known = rules.get(name);
  if (known) return known;
  const rule = decide(name.toLowerCase());
  if (rules.size < RULES_MAX) rules.set(name, rule);
  return rule;
}

function decide(name: string): Rule {
  if (DROPPED.has(name) || DROPPED_PREFIXES.some((prefix) => name.startsWith(prefix))) return 'drop';
  return CREDENTIALS.has(name) ? 'credential' : 'pass';
}

const USUAL_CONNECTION = /^(keep-alive|close)$/i;

/** Names that a `Connection` header makes hop-by-hop; null for none. Ours are added afterwards, so it cannot remove those. */
function namedIn(connection: string | undefined): ReadonlySet<string> | null {
  if (connection === undefined || USUAL_CONNECTION.test(connection)) return null;
  return new Set(
    connection
      .toLowerCase()
      .split(',')
      .map((token) => token.trim()),
  );
}

/** Loop protection: https://www.rfc-editor.org/rfc/rfc8586. Only if the address might be our own. */
const LOOP_HEADER = 'cdn-loop';
const LOOP_TOKEN = 'gatehouse';

/** Refuses a request that this gateway has sent itself. */
export function checkLoop(headers: IncomingHttpHeaders): void {
  const passed = headers[LOOP_HEADER];
  if (passed !== undefined && passed.includes(LOOP_TOKEN)) throw new AppError('loop_detected');
}

/**
 * The headers of an upstream request, names and values in turn, in the client's order and spelling. `gatewayKey` is the caller's key: a
 * header that contains it is not forwarded, whatever its name. `own`: headers that the gateway sets itself in place of the client's,
 * lower-case names and values in turn.
 */
export function upstreamHeaders(
  request: ClientRequestHead,
  target: Target,
  gatewayKey: string,
  own: readonly string[] = NONE,
): string[] {
  const { rawHeaders } = request;
  const { forwarded } = target;
  const perConnection = namedIn(request.headers.connection);
  const headers: string[] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    const value = rawHeaders[index + 1] as string;
    if (
      !staysHere(ruleFor(name, forwarded), value, target, gatewayKey) &&
      !perConnection?.has(name.toLowerCase()) &&
      !isNamed(own, name)
    )
      headers.push(name, value);
  }
  headers.push(...own);
  if (!bringsCredential(request, target)) addCredential(headers, target);
  addAccount(headers, request, target);
  if (target.isCustomHost) headers.push(LOOP_HEADER, LOOP_TOKEN);
  return headers;
}

/** A translated request leaves the headers of the client's own API behind, except those that the config forwards. */
export function withoutForeignHeaders(
  request: ClientRequestHead,
  { provider, forwarded }: Target,
): ClientRequestHead {
  const { rawHeaders } = request;
  const isKept = (name: string): boolean =>
    !isForeignHeader(name, provider.dialect.id) || forwarded?.has(name) === true;
  const kept = rawHeaders.filter((_, at) => isKept((rawHeaders[at - (at % 2)] as string).toLowerCase()));
  return { method: request.method, headers: request.headers, rawHeaders: kept };
}

function ruleFor(name: string, forwarded: Target['forwarded']): Rule {
  return forwarded?.has(name.toLowerCase()) ? 'pass' : ruleOf(name);
}

/** Any gateway key, not only the caller's. */
const ANY_GATEWAY_KEY = /gw_(admin|ws|user)_[0-9A-Za-z]{20}/;

function staysHere(rule: Rule, value: string, target: Target, gatewayKey: string): boolean {
  if (rule === 'drop' || value.includes(gatewayKey)) return true;
  if (rule === 'credential' && (target.credentials.key !== null || target.isAnonymous)) return true;
  return value.includes('gw_') && ANY_GATEWAY_KEY.test(value);
}

const NONE: readonly string[] = [];

function isNamed(headers: readonly string[], name: string): boolean {
  return headers.length > 0 && headers.indexOf(name.toLowerCase()) % 2 === 0;
}

/** The config forwards the client's own credential in place of the stored one. */
export function bringsCredential(
  { headers }: Pick<ClientRequestHead, 'headers'>,
  { forwarded, provider: { auth } }: Target,
): boolean {
  return (
    forwarded !== null &&
    auth.header !== null &&
    forwarded.has(auth.header) &&
    headers[auth.header] !== undefined
  );
}

function addCredential(headers: string[], { credentials: { key }, provider: { auth } }: Target): void {
  if (key && auth.header && !auth.signer) headers.push(auth.header, auth.value(key));
}

function addAccount(
  headers: string[],
  request: ClientRequestHead,
  { provider, credentials, virtualKey }: Target,
): void {
  for (const { field, header } of provider.accountHeaders ?? []) {
    const value = credentials.fields[field] ?? (virtualKey ? null : gatewayOption(request.headers, field));
    if (value) headers.push(header, value);
  }
}

/**
 * Fields of a response that are not forwarded: those of the provider's connection to us, and those that would act on the whole origin.
 * Everything else is forwarded as written, except the dashboard's own cookie.
 */
const NOT_PASSED: ReadonlySet<string> = new Set([...ORIGIN_HEADERS, ...HOP_BY_HOP]);

/** The parts of a response's head that the gateway reads. */
export interface ResponseHead {
  /** Names and values in turn, without the fields that are not forwarded. */
  readonly headers: string[];
  readonly contentType: string | null;
  /** By its media type, which is case-insensitive: https://www.rfc-editor.org/rfc/rfc9110#section-8.3.1 */
  readonly isJson: boolean;
  readonly isEventStream: boolean;
  readonly isSound: boolean;
  readonly contentEncoding: string | null;
  readonly contentLength: number | null;
  readonly hasDate: boolean;
}

const READ = new Map<string, 'contentType' | 'contentEncoding' | 'contentLength' | 'date' | 'connection'>([
  ['content-type', 'contentType'],
  ['content-encoding', 'contentEncoding'],
  ['content-length', 'contentLength'],
  ['date', 'date'],
  ['connection', 'connection'],
]);

export function readResponseHead(rawHeaders: readonly string[]): ResponseHead {
  const headers: string[] = [];
  const fields: Partial<
    Record<'contentType' | 'contentEncoding' | 'contentLength' | 'date' | 'connection', string>
  > = {};
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = lower(rawHeaders[index] as string);
    const value = rawHeaders[index + 1] as string;
    const read = READ.get(name);
    if (read) fields[read] = value;
    if (passes(name, value)) headers.push(rawHeaders[index] as string, value);
  }
  const mediaType = mediaTypeOf(fields.contentType ?? '');
  return {
    headers: withoutNamed(headers, fields.connection),
    contentType: fields.contentType ?? null,
    isJson: mediaType === 'application/json',
    isEventStream: mediaType === 'text/event-stream',
    isSound: mediaType.startsWith('audio/'),
    contentEncoding: fields.contentEncoding?.trim().toLowerCase() ?? null,
    contentLength: fields.contentLength === undefined ? null : Number(fields.contentLength),
    hasDate: fields.date !== undefined,
  };
}

function passes(name: string, value: string): boolean {
  return !NOT_PASSED.has(name) && !(name === 'set-cookie' && setsSessionCookie(value));
}

function mediaTypeOf(contentType: string): string {
  const end = contentType.indexOf(';');
  return lower((end < 0 ? contentType : contentType.slice(0, end)).trim());
}

/** Drops the headers named by the provider's `Connection` header. */
function withoutNamed(headers: string[], connection: string | undefined): string[] {
  const named = namedIn(connection);
  if (!named) return headers;
  return headers.filter((_, index) => !named.has(lower(headers[index - (index % 2)] as string)));
}
