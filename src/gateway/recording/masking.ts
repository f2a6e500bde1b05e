import type { IncomingHttpHeaders } from 'node:http';
import { CREDENTIAL_HEADERS } from '../../common/http/credential-headers.js';
import type { HeaderPairs } from '../../request-log/record.js';

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

type Content = 'secret' | 'config' | 'clear';

const contents = new Map<string, Content>();
const NAMES_MAX = 2_000;

function contentOf(name: string): Content {
  let known = contents.get(name);
  if (known === undefined) {
    known = judged(name.toLowerCase());
    if (contents.size < NAMES_MAX) contents.set(name, known);
  }
  return known;
}

function judged(name: string): Content {
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
