import { createHash } from 'node:crypto';
import { associatedData } from '../../common/crypto/associated-data.js';
import type { Target } from '../types/target.js';
import type { WireRequest } from '../upstream/wire.js';
import { canonicalBody } from './canonical-json.js';

/** The parts that identify equal requests. */
export interface CacheKeyParts {
  readonly organizationId: string;
  readonly workspaceId: string;
  /** Null: requests with different metadata differ. */
  readonly namespace: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly endpoint: string;
  readonly isStreamed: boolean;
  readonly target: Target;
  /** As it would be sent, after changes by guardrails and the config. */
  readonly wire: WireRequest;
}

/** Change it with the stored format or the naming, so that responses of an older version are never found. */
const FORMAT = '1';
const NAMESPACE_FORMAT = 'room 1';

/**
 * Headers without influence on the response: caller, transport and tracing. Every other header that goes upstream is part of the key,
 * because its effect there is unknown.
 */
const SILENT: ReadonlySet<string> = new Set([
  'accept-encoding',
  'b3',
  'baggage',
  'cdn-loop',
  'content-type',
  'idempotency-key',
  'origin',
  'referer',
  'sentry-trace',
  'traceparent',
  'tracestate',
  'user-agent',
  'via',
  'x-amzn-trace-id',
  'x-client-request-id',
  'x-cloud-trace-context',
  'x-correlation-id',
  'x-goog-api-client',
  'x-request-id',
]);
const SILENT_PREFIXES = [
  'amz-sdk-',
  'cf-',
  'sec-',
  'x-b3-',
  'x-datadog-',
  'x-envoy-',
  'x-stainless-',
] as const;

/**
 * The only function that builds cache keys: a digest over a list in which each part is preceded by its length, the tenant first. A
 * credential of the caller, in the request or the config, is a part. A virtual key's credential is not, because it belongs to the
 * workspace. Null when the body has no canonical text.
 */
export function cacheKey(keyParts: CacheKeyParts): string | null {
  const { body } = keyParts.wire;
  const text = Buffer.isBuffer(body) ? canonicalBody(body) : null;
  return text === null ? null : digestOf(keyParts, FORMAT, [text]);
}

/**
 * The namespace of a semantic comparison. Its requests are equal in all parts of the key except the body, of which `rest` must be equal.
 */
export function namespaceKey(keyParts: CacheKeyParts, rest: readonly string[]): string {
  return digestOf(keyParts, NAMESPACE_FORMAT, rest);
}

function digestOf(keyParts: CacheKeyParts, format: string, body: readonly string[]): string {
  const { target, wire } = keyParts;
  const parts = [
    keyParts.organizationId,
    keyParts.workspaceId,
    ...namespaceOf(keyParts),
    format,
    keyParts.endpoint,
    keyParts.isStreamed ? 'stream' : 'whole',
    target.provider.id,
    target.origin,
    ...accountOf(target),
    wire.method,
    wire.path,
    ...speakingHeaders(wire.headers, target),
    ...body,
  ];
  return createHash('sha256').update(associatedData(parts)).digest('hex');
}

function namespaceOf({ namespace, metadata }: CacheKeyParts): readonly [string, string] {
  return namespace === null ? ['metadata', orderly(metadata ?? {})] : ['namespace', namespace];
}

function accountOf({ virtualKey, credentials: { key, fields } }: Target): readonly [string, string] {
  return virtualKey ? ['stored', ''] : [key ? key.reveal() : '', orderly(fields)];
}

function orderly(fields: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(fields).sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** Sorted by name, so that the order in which clients write them does not matter. */
function speakingHeaders(headers: readonly string[], target: Target): string[] {
  const pairs: [string, string][] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const name = (headers[at] as string).toLowerCase();
    if (!isSilent(name) && !isStored(name, target)) pairs.push([name, headers[at + 1] as string]);
  }
  return pairs.sort(([one], [other]) => (one < other ? -1 : 1)).flat();
}

const isSilent = (name: string): boolean =>
  SILENT.has(name) || SILENT_PREFIXES.some((prefix) => name.startsWith(prefix));

/** The header that carries a virtual key's credential, unless the config forwards the client's own. */
function isStored(name: string, { virtualKey, provider, forwarded }: Target): boolean {
  return virtualKey !== null && name === provider.auth.header && !forwarded?.has(name);
}
