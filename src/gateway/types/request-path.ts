import { AppError } from '../../common/errors/app-error.js';

const ROOT_LENGTH = '/v1'.length;
const ROOT = /^\/v1(?=\/|$)/;
/** Google's client adds a slash between its base URL, which ends with one, and the path of a session. */
const DOUBLED_SLASH = /^\/\/(?=ws\/)/;
const PROXY = '/proxy/';

/** A gateway key, which the provider and its logs would receive with the path. */
const GATEWAY_KEY = /gw_(admin|ws|user)_[0-9A-Za-z]/i;

/** Paths of only these characters, without a dot segment, need no further check. */
const PLAIN = /^[\w\-~/:@,+!$*=]*$/;

const CONTROL = /[\u0000-\u001f\u007f]/;

/**
 * The path of a request at a provider. `prefix` and `path` together are the client's spelling, byte for byte, without the `@slug/` of a
 * model call.
 */
export interface RequestPath {
  /** The path that identifies the endpoint, below a provider's base URL: `/chat/completions`. */
  readonly path: string;
  /** With its `?`, byte for byte; empty when there is none. */
  readonly query: string;
  /** It was sent below `/proxy`: it is forwarded unchanged, even if its path is a known endpoint. */
  readonly isProxied: boolean;
  /** The part before it, which the client adds because its own provider has it; absent for none. */
  readonly prefix?: string;
  /** The prefix is the gateway's own `/v1`: a version for a provider that has such paths at its root, and nothing for others. */
  readonly isGatewayRoot?: true;
  /** The virtual key in `/models/@slug/model:generateContent`, which `path` has no more; absent for none. */
  readonly slug?: string;
}

/** A call of a model in Google's format, which may name its virtual key. A slash or percent sign in the model is left to the provider. */
const CALL_WITH_SLUG = /^((?:\/v1(?:alpha|beta)?)?\/models\/)(?:@|%40)([^/%]+)(?:\/|%2f)([^/%]+:\w+)$/i;
const CALL = /^\/models\/[^/]+:\w+$/;

/**
 * Prefixes that clients write between their base URL and a path, longest first. A provider that has such paths itself lists them in its row
 * (`Provider.paths`).
 */
const CLIENT_PREFIXES: readonly RegExp[] = [
  // Google's version, and its paths of OpenAI's format: https://ai.google.dev/gemini-api/docs/openai
  /^\/v1(?:alpha|beta)(?:\/openai)?(?=\/)/,
  // Google's version 1, only before a model call: other providers' paths begin like this, too.
  /^\/v1(?=\/models\/[^/]+:\w+$)/,
  // Google's uploads: https://ai.google.dev/api/files#method:-media.upload
  /^\/upload\/v1(?:alpha|beta)?(?=\/)/,
  // Azure's and Groq's: https://github.com/openai/openai-node/blob/master/src/azure.ts, https://github.com/groq/groq-typescript
  /^\/openai(?:\/v1|\/deployments\/(?:@[^/]+\/)?[^/]+)?(?=\/)/,
];

/**
 * The part of a gateway path that belongs to the provider.
 *
 * It is decoded for inspection only: the client's own spelling is forwarded. A path that could leave the provider's base path in any
 * reading (dots, backslashes, encoded forms) is refused.
 */
export function requestPath(target: string): RequestPath {
  const mark = target.indexOf('?');
  const whole = mark < 0 ? target : target.slice(0, mark);
  if (target.includes('gw_') && GATEWAY_KEY.test(target))
    refuse('it carries a gateway key, which must not leave the gateway');
  const query = mark < 0 ? '' : target.slice(mark);
  const isBelowRoot = ROOT.test(whole);
  const written = isBelowRoot ? whole.slice(ROOT_LENGTH) : whole.replace(DOUBLED_SLASH, '/');
  const isProxied = isBelowRoot && written.startsWith(PROXY);
  if (!PLAIN.test(written)) inspect(isProxied ? written.slice(PROXY.length - 1) : written);
  const parts = isProxied ? split(written.slice(PROXY.length - 1)) : withoutSlug(written, isBelowRoot);
  return { ...parts, query, isProxied };
}

/** The path of a request, with the virtual key that a call in Google's format names. */
function withoutSlug(written: string, isBelowRoot: boolean): PathParts {
  const [, root = '', slug, call = ''] = CALL_WITH_SLUG.exec(written) ?? [];
  return slug === undefined ? placed(written, isBelowRoot) : { ...placed(root + call, isBelowRoot), slug };
}

/** Google's version 1 of a model call is the gateway's own root. */
const placed = (path: string, isBelowRoot: boolean): PathParts =>
  isBelowRoot && CALL.test(path) ? { path, prefix: '/v1', isGatewayRoot: true } : split(path);

type PathParts = Pick<RequestPath, 'path' | 'prefix' | 'isGatewayRoot' | 'slug'>;

function split(path: string): PathParts {
  const prefix = prefixOf(path);
  return prefix === '' ? { path } : { path: path.slice(prefix.length), prefix };
}

function prefixOf(path: string): string {
  for (const pattern of CLIENT_PREFIXES) {
    const [prefix] = pattern.exec(path) ?? [];
    if (prefix !== undefined) return prefix;
  }
  return '';
}

/** The client's spelling below `/v1` or beside it, byte for byte. */
export const writtenPath = ({ prefix = '', path }: RequestPath): string => prefix + path;

/** Whether a path is one of these or below one. */
export function beginsWith(path: string, beginnings: readonly string[] = []): boolean {
  return beginnings.some(
    (beginning) =>
      path.startsWith(beginning) && (path.length === beginning.length || path[beginning.length] === '/'),
  );
}

/** A query without one parameter; every other byte is unchanged. */
export function withoutParameter(query: string, name: string): string {
  const parts = query.slice(1).split('&');
  const kept = parts.filter((part) => part !== name && !part.startsWith(`${name}=`));
  if (kept.length === parts.length) return query;
  return kept.length === 0 ? '' : `?${kept.join('&')}`;
}

function inspect(path: string): void {
  const text = decodedOnce(path);
  if (CONTROL.test(text)) refuse('it has control characters');
  if (path.includes('\\')) refuse('it has a backslash');
  for (const segment of text.split(/[/\\]/)) {
    const name = segment.split(';', 1)[0];
    if (name === '.' || name === '..') refuse('it has "." or ".." segments');
  }
}

function decodedOnce(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return refuse('it is not valid percent-encoding');
  }
}

function refuse(detail: string): never {
  throw new AppError('path_invalid', { detail });
}
