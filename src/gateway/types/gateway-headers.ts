import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import type { CacheRules } from '../../routing-config/document.js';
import {
  UNSUPPORTED_PARAMETER_RULES,
  type UnsupportedParameterRule,
} from '../../common/contracts/upstream-rules.js';
import { AppError } from '../../common/errors/app-error.js';
import type { Json } from '../../providers/endpoint.js';

/** The caller's options for the gateway, in headers of either spelling. Null or false if an option is not set. */
export interface GatewayHeaders {
  /** Name of a saved config, or its text. */
  readonly config: string | null;
  readonly provider: string | null;
  readonly virtualKey: string | null;
  readonly customHost: string | null;
  readonly traceId: string | null;
  readonly spanId: string | null;
  readonly parentSpanId: string | null;
  readonly spanName: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
  /** False when the caller turns logging of bodies off. */
  readonly keepsBodies: boolean;
  /** Retries after a 429 or 503 of the provider. */
  readonly retries: number;
  /** Limit of each attempt's time to the first byte, or null for the operator's. */
  readonly timeoutMs: number | null;
  /** Cache rules, for a config without its own. */
  readonly cache: CacheRules | null;
  /** How to handle parameters that the provider does not support; null if the config and the virtual key decide. */
  readonly unsupportedParameters: UnsupportedParameterRule | null;
  /** The caller uses `x-portkey-*` and receives the response's headers in that spelling too. */
  readonly isCompatible: boolean;
}

const PREFIXES = ['x-gateway-', 'x-portkey-'] as const;
const ID_CHARS_MAX = 128;
const METADATA_VALUE_CHARS_MAX = 128;
const METADATA_KEYS_MAX = 64;
const RETRIES_MAX = 5;
const TIMEOUT_MS_MAX = 30 * 60_000;

/** The options of a request that was refused before it was read. */
export const NO_OPTIONS: GatewayHeaders = {
  config: null,
  provider: null,
  virtualKey: null,
  customHost: null,
  traceId: null,
  spanId: null,
  parentSpanId: null,
  spanName: null,
  metadata: null,
  keepsBodies: false,
  retries: 0,
  timeoutMs: null,
  cache: null,
  unsupportedParameters: null,
  isCompatible: false,
};

export function readGatewayHeaders(headers: IncomingHttpHeaders): GatewayHeaders {
  const parent = traceparent(headers);
  return {
    config: utf8(option(headers, CONFIG)),
    provider: option(headers, PROVIDER),
    virtualKey: option(headers, VIRTUAL_KEY),
    customHost: option(headers, CUSTOM_HOST),
    traceId: id(headers, TRACE_ID) ?? parent.traceId ?? sessionInHeaders(headers),
    spanId: id(headers, SPAN_ID),
    parentSpanId: id(headers, PARENT_SPAN_ID) ?? parent.spanId,
    spanName: utf8(id(headers, SPAN_NAME)),
    metadata: metadata(utf8(option(headers, METADATA))),
    keepsBodies: option(headers, DEBUG) !== 'false',
    retries: whole(headers, RETRY_COUNT, 'retries', RETRIES_MAX) ?? 0,
    timeoutMs: whole(headers, REQUEST_TIMEOUT, 'milliseconds', TIMEOUT_MS_MAX) || null,
    cache: cacheRules(option(headers, CACHE)),
    unsupportedParameters: unsupportedRule(option(headers, UNSUPPORTED)),
    isCompatible:
      headers['x-portkey-api-key'] !== undefined || headers['x-portkey-package-version'] !== undefined,
  };
}

/** Both spellings of an option, built once. */
type Option = readonly [string, string];
const named = (name: string): Option => [PREFIXES[0] + name, PREFIXES[1] + name];

const CONFIG = named('config');
const PROVIDER = named('provider');
const VIRTUAL_KEY = named('virtual-key');
const CUSTOM_HOST = named('custom-host');
const TRACE_ID = named('trace-id');
const SPAN_ID = named('span-id');
const PARENT_SPAN_ID = named('parent-span-id');
const SPAN_NAME = named('span-name');
const METADATA = named('metadata');
const DEBUG = named('debug');
const RETRY_COUNT = named('retry-count');
const REQUEST_TIMEOUT = named('request-timeout');
const CACHE = named('cache');
const UNSUPPORTED = named('unsupported-parameters');

/** Bounded: all names come from the catalogue and the code. */
const options = new Map<string, Option>();

/** The value of `x-gateway-<name>` or its other spelling; null when absent or blank. */
export function gatewayOption(headers: IncomingHttpHeaders, name: string): string | null {
  let known = options.get(name);
  if (!known) options.set(name, (known = named(name)));
  return option(headers, known);
}

function option(headers: IncomingHttpHeaders, [ours, compatible]: Option): string | null {
  const value = headers[ours] ?? headers[compatible];
  if (value === undefined) return null;
  return (typeof value === 'string' ? value : value.join(', ')).trim() || null;
}

const NOT_ASCII = /[\x80-\xff]/;

/**
 * A value as its client wrote it. Node reads headers as Latin-1 (https://nodejs.org/docs/latest-v20.x/api/http.html#messageheaders); most
 * clients write UTF-8. Bytes that are not valid UTF-8 stay Latin-1.
 */
function utf8(value: string | null): string | null {
  if (value === null || !NOT_ASCII.test(value)) return value;
  const bytes = Buffer.from(value, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : value;
}

function id(headers: IncomingHttpHeaders, option_: Option): string | null {
  const value = option(headers, option_);
  if (value !== null && value.length > ID_CHARS_MAX)
    throw new AppError('header_invalid', {
      header: option_[0],
      detail: `it is longer than ${ID_CHARS_MAX} characters`,
    });
  return value;
}

function whole(headers: IncomingHttpHeaders, option_: Option, unit: string, maximum: number): number | null {
  const value = option(headers, option_);
  if (value === null) return null;
  if (!/^\d{1,9}$/.test(value) || Number(value) > maximum)
    throw new AppError('header_invalid', {
      header: option_[0],
      detail: `it must be a whole number of ${unit}, at most ${maximum}`,
    });
  return Number(value);
}

/** https://www.w3.org/TR/trace-context/#traceparent-header */
const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}/;

interface Parent {
  readonly traceId: string | null;
  readonly spanId: string | null;
}

const NO_PARENT: Parent = { traceId: null, spanId: null };

function traceparent(headers: IncomingHttpHeaders): Parent {
  const value = headers.traceparent;
  if (typeof value !== 'string') return NO_PARENT;
  const [, traceId, spanId] = TRACEPARENT.exec(value) ?? [];
  return traceId && spanId ? { traceId, spanId } : NO_PARENT;
}

function metadata(text: string | null): Readonly<Record<string, string>> | null {
  if (text === null) return null;
  const refuse = (detail: string): never => {
    throw new AppError('header_invalid', { header: 'x-gateway-metadata', detail });
  };
  const entries = Object.entries(jsonObject(text) ?? refuse('it must be a JSON object'));
  if (entries.length > METADATA_KEYS_MAX) refuse(`it has more than ${METADATA_KEYS_MAX} keys`);
  for (const [key, value] of entries)
    if (typeof value !== 'string' || value.length > METADATA_VALUE_CHARS_MAX)
      refuse(`"${key.slice(0, 64)}" must be a string of at most ${METADATA_VALUE_CHARS_MAX} characters`);
  return Object.fromEntries(entries);
}

const CACHE_RULES: ReadonlyMap<string, CacheRules> = new Map(
  (['simple', 'semantic', 'off'] as const).map((mode) => [mode, { mode }]),
);

function cacheRules(mode: string | null): CacheRules | null {
  if (mode === null) return null;
  const rules = CACHE_RULES.get(mode);
  if (!rules)
    throw new AppError('header_invalid', {
      header: CACHE[0],
      detail: 'it must be "simple", "semantic" or "off"',
    });
  return rules;
}

function unsupportedRule(text: string | null): UnsupportedParameterRule | null {
  if (text === null) return null;
  const rule = UNSUPPORTED_PARAMETER_RULES.find((each) => each === text);
  if (!rule)
    throw new AppError('header_invalid', { header: UNSUPPORTED[0], detail: 'it must be "refuse" or "drop"' });
  return rule;
}

function jsonObject(text: string): object | null {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

/**
 * Headers in which clients send the id of a session, most specific client first. The first valid one is the trace.
 * Claude Code: https://code.claude.com/docs/en/llm-gateway. Codex: https://github.com/openai/codex/blob/main/codex-rs/codex-api/src/requests/headers.rs.
 * OpenCode: https://github.com/sst/opencode/blob/dev/packages/opencode/src/session/llm.ts.
 */
const SESSION_HEADERS = [
  'x-claude-code-session-id',
  'session-id',
  'thread-id',
  'x-session-id',
  'x-session-affinity',
] as const;

/** Members of a body that hold such an id, and how it is written there. */
const SESSION_MEMBERS: readonly ((body: Json) => unknown)[] = [
  ({ metadata }) => sessionOfUser(memberOf(metadata, 'user_id')),
  // Other clients share one key between all of their users; Codex sends the UUID of its thread.
  ({ prompt_cache_key: key }) => (typeof key === 'string' && UUID.test(key) ? key : null),
];

const SESSION = /^[\w.:@/+=-]{1,128}$/;
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const USER_CHARS_MAX = 1_024;
const IN_USER = /_session_([\w-]+)$/;

/** The client's session by its headers; null for none, and for a value that is not an id. */
export function sessionInHeaders(headers: IncomingHttpHeaders): string | null {
  for (const name of SESSION_HEADERS) {
    const session = validated(headers[name]);
    if (session !== null) return session;
  }
  return null;
}

/** The same by its parsed body. */
export function sessionInBody(body: Json): string | null {
  for (const read of SESSION_MEMBERS) {
    const session = validated(read(body));
    if (session !== null) return session;
  }
  return null;
}

const validated = (value: unknown): string | null =>
  typeof value === 'string' && SESSION.test(value) ? value : null;

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? (value as Json)[name] : null;

/** Claude Code's user: JSON with a `session_id`, or `user_…_session_<id>` of older versions. */
function sessionOfUser(user: unknown): unknown {
  if (typeof user !== 'string' || user.length > USER_CHARS_MAX) return null;
  if (!user.startsWith('{')) return IN_USER.exec(user)?.[1];
  try {
    return memberOf(JSON.parse(user), 'session_id');
  } catch {
    return null;
  }
}
