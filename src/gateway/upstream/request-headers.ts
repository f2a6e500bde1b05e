import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { AppError } from '../../common/errors/app-error.js';
import { isForeignHeader } from '../../providers/client-headers.js';
import { gatewayOption } from '../types/gateway-headers.js';
import type { Target } from '../types/target.js';

/** The parts of a request that the upstream head is made from. */
export type ClientRequestHead = Pick<IncomingMessage, 'method' | 'headers' | 'rawHeaders'>;

/** How a request header is handled on its way upstream. */
type Rule = 'pass' | 'drop' | 'credential';

/**
 * Headers that are not forwarded. Hop-by-hop fields concern one connection (https://www.rfc-editor.org/rfc/rfc9110#name-connection);
 * cookies and forwarding fields concern the caller's path to us; trace context belongs to the caller's own systems
 * (https://www.w3.org/TR/trace-context/#privacy-considerations); the metadata fields unlock the credentials of cloud machines.
 */
const DROPPED: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
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

/** Names that the client's own `Connection` header makes hop-by-hop. Ours are added afterwards, so it cannot remove those. */
function connectionTokens(request: ClientRequestHead): ReadonlySet<string> | null {
  const connection = request.headers.connection;
  if (connection === undefined || connection === 'keep-alive' || connection === 'close') return null;
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
  const perConnection = connectionTokens(request);
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
