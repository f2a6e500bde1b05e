import type { IncomingHttpHeaders } from 'node:http';
import { CREDENTIAL_HEADERS } from '../../common/http/credential-headers.js';
import type { CapturedBody, HeaderPairs } from '../../request-log/record.js';
import { codingsOf, decodedSync } from '../../common/http/content-coding.js';

const SECRET_HEADERS: ReadonlySet<string> = new Set(CREDENTIAL_HEADERS);

/** Names that suggest a secret, in any spelling. */
const SOUNDS_SECRET = /(?:key|token|secret|password|credential|signature|authorization)$/i;

const MASK = '***';
/** Shorter texts occur by chance, and are not secrets. */
export const SECRET_CHARS_MIN = 8;
const VALUE_CHARS_MAX = 1_024;
const PATH_CHARS_MAX = 2_048;
const HEADERS_MAX = 100;

function isSecret(name: string): boolean {
  return SECRET_HEADERS.has(name) || SOUNDS_SECRET.test(name);
}

/** A config in the request may contain keys; the name of a saved one may be shown. */
const CONFIG_HEADER = /^x-(?:gateway|portkey)-config$/;

type MaskedContent = 'secret' | 'config' | 'clear';

const contents = new Map<string, MaskedContent>();
const NAMES_MAX = 2_000;

function contentOf(name: string): MaskedContent {
  let known = contents.get(name);
  if (known === undefined) {
    known = judged(name.toLowerCase());
    if (contents.size < NAMES_MAX) contents.set(name, known);
  }
  return known;
}

function judged(name: string): MaskedContent {
  if (isSecret(name)) return 'secret';
  return CONFIG_HEADER.test(name) ? 'config' : 'clear';
}

/** Headers as they are logged: secrets as `***`, long values cut. `secrets` are masked in any header. */
export function maskedHeaders(rawHeaders: HeaderPairs, secrets: readonly string[]): HeaderPairs {
  const masked: string[] = [];
  for (let index = 0; index < rawHeaders.length && index < 2 * HEADERS_MAX; index += 2) {
    const name = rawHeaders[index] as string;
    masked.push(name, maskedValue(name, rawHeaders[index + 1] as string, secrets));
  }
  return masked;
}

function maskedValue(name: string, value: string, secrets: readonly string[]): string {
  const content = contentOf(name);
  if (content === 'secret' || (content === 'config' && value.trimStart().startsWith('{'))) return MASK;
  let clear = value;
  for (const secret of secrets)
    if (secret.length >= SECRET_CHARS_MIN && clear.includes(secret)) clear = clear.replaceAll(secret, MASK);
  return clear.length > VALUE_CHARS_MAX ? clear.slice(0, VALUE_CHARS_MAX) : clear;
}

/** Provider credentials that a caller sent itself. */
export function clientCredentials(headers: IncomingHttpHeaders): string[] {
  const bearer = headers.authorization?.replace(/^\w+ +/, '');
  return [bearer, headers['x-api-key'], headers['api-key'], headers['x-goog-api-key']].filter(
    (value): value is string => typeof value === 'string' && value !== '',
  );
}

const GATEWAY_KEY = /gw_(?:admin|ws|user)_[0-9A-Za-z]+/gi;
const SECRET_PARAMETER = /([?&](?:[\w-]*(?:key|token|secret|password|signature))=)[^&]*/gi;

/** A request's path and query as they are logged: keys in them are masked. */
export function maskedPath(target: string): string {
  const path = target.length > PATH_CHARS_MAX ? target.slice(0, PATH_CHARS_MAX) : target;
  if (!path.includes('?') && !path.includes('gw_')) return path;
  return path.replace(SECRET_PARAMETER, `$1${MASK}`).replace(GATEWAY_KEY, MASK);
}

const STAR = 0x2a;

/** Maximum decoded size of a body: readers of the log decode no more either. */
const UNPACKED_BYTES_MAX = 10 * 1024 * 1024;

/**
 * A captured body with each secret replaced by as many `*`. Providers echo credentials in their error texts, compressed ones too: a refusal
 * is decoded, and stays decoded if it contains a secret. Decoding 1 KiB takes 40 µs, a third of a request, so other responses are searched
 * as they are. The client's bytes are not changed: secrets are masked in a copy.
 */
export function redacted(
  body: CapturedBody | null,
  secrets: readonly string[],
  isRefusal = false,
): CapturedBody | null {
  if (!body || secrets.length === 0) return body;
  const whole = body.chunks.length === 1 ? (body.chunks[0] as Buffer) : Buffer.concat(body.chunks);
  const coding = body.content_encoding;
  const text = coding !== null && isRefusal ? unpacked(whole, coding) : null;
  const clear = masked(text ?? whole, secrets);
  return clear ? { ...body, chunks: [clear], content_encoding: text ? null : coding } : body;
}

/** Null if readers of the log cannot decode it. */
function unpacked(bytes: Buffer, contentEncoding: string): Buffer | null {
  try {
    return decodedSync(bytes, codingsOf(contentEncoding), UNPACKED_BYTES_MAX);
  } catch {
    return null;
  }
}

/** Null if there are none. */
function masked(whole: Buffer, secrets: readonly string[]): Buffer | null {
  let clear: Buffer | null = null;
  for (const secret of secrets) {
    clear = without(secret, whole, clear);
    if (secret.includes('/')) clear = without(secret.replaceAll('/', ESCAPED_SLASH), whole, clear);
  }
  return clear;
}

/** Some JSON serializers escape the slash, which base64 contains: https://www.rfc-editor.org/rfc/rfc8259#section-7 */
const ESCAPED_SLASH = String.raw`\/`;

/** `clear`: the copy in which other secrets are already masked; null until a copy is needed. */
function without(secret: string, whole: Buffer, clear: Buffer | null): Buffer | null {
  if (secret.length < SECRET_CHARS_MIN || !mayHold(whole, secret)) return clear;
  let copy = clear;
  for (let at = whole.indexOf(secret); at >= 0; at = whole.indexOf(secret, at + 1)) {
    copy ??= Buffer.from(whole);
    copy.fill(STAR, at, at + Buffer.byteLength(secret));
  }
  return copy;
}

const END_CHARS = 12;

/**
 * Keys begin alike and like words (`sk-`, `gw_`), so that searching for their ends takes half the time; and half of that again if each
 * character is one byte.
 */
function mayHold(whole: Buffer, secret: string): boolean {
  const end = secret.slice(-END_CHARS);
  return whole.includes(end, 0, Buffer.byteLength(end) === END_CHARS ? 'latin1' : 'utf8');
}
