import { AppError } from '../../common/errors/app-error.js';
import type { OwnPaths, Provider } from '../../providers/provider.js';
import type { Endpoint } from '../../providers/endpoint.js';
import { beginsWith, type RequestPath, withoutParameter, writtenPath } from '../types/request-path.js';
import type { Target } from '../types/target.js';

/** What a path may depend on besides the target. */
export interface PathSubject {
  readonly entry: { readonly endpoint: Endpoint | null };
  readonly content: { readonly model: string | null };
}

/** The client's own path, but where the provider's dialect knows a better one for an endpoint. */
export function ownPath(
  { provider, credentials }: Target,
  { entry: { endpoint }, content: { model } }: PathSubject,
  path: string,
): string {
  const { pathOf } = provider.dialect;
  if (!pathOf || !endpoint) return path;
  return pathOf({ endpoint: endpoint.id, path, model: model ?? '', fields: credentials.fields });
}

/** A path with further parameters. */
export function joined(path: string, query: string): string {
  if (query === '') return path;
  return path.includes('?') ? `${path}&${query}` : `${path}?${query}`;
}

/** Whether a client wrote a path of the provider in full: it goes there as it is, and nothing is translated. */
export function isOwnPath({ paths }: Provider, path: RequestPath): boolean {
  if (!paths) return false;
  const written = writtenPath(path);
  return beginsWith(written, paths.atRoot) || beginsWith(written, paths.belowBase);
}

/**
 * Where a request that is not translated lies at a provider, without its query. Throws `endpoint_unsupported` for an upload in two
 * steps to a provider that takes none, and what the dialect throws.
 */
export function placeOf(requested: RequestPath, target: Target, subject: PathSubject): string {
  const { provider, basePath } = target;
  const { path, isProxied, prefix = '' } = requested;
  const written = writtenPath(requested);
  if (isProxied) return basePath + written;
  if (beginsWith(written, provider.paths?.atRoot)) return rootOf(basePath, provider.paths) + written;
  if (beginsWith(written, provider.paths?.belowBase)) return basePath + written;
  if (prefix.startsWith(UPLOADS)) throw withoutUploads(provider);
  // The base URL has the prefix, or the gateway knows the endpoint without.
  if (subject.entry.endpoint || basePath.endsWith(prefix)) return basePath + ownPath(target, subject, path);
  return basePath + written;
}

const UPLOADS = '/upload/';

const withoutUploads = ({ id }: Provider): AppError =>
  new AppError('endpoint_unsupported', {
    provider: id,
    endpoint: 'uploads in two steps',
    detail: 'Send the file to the path of this provider for files.',
  });

/** The base path without what the provider's own paths begin with: `/proxy` of `/proxy/v1beta`. */
export function rootOf(basePath: string, { atRoot = [] }: OwnPaths = {}): string {
  const ending = atRoot.find((beginning) => basePath.endsWith(beginning));
  return ending === undefined ? basePath : basePath.slice(0, -ending.length);
}

/**
 * The query of a request that is not translated: the client's own, without a key where the gateway adds a credential in its place, and
 * what the account adds to it.
 */
export function queryAt(
  { provider, credentials, isAnonymous, query: added }: Target,
  { query }: RequestPath,
): string {
  const { keyParameter } = provider;
  const isReplaced = keyParameter !== undefined && (credentials.key !== null || isAnonymous === true);
  const own = isReplaced ? withoutParameter(query, keyParameter) : query;
  if (added === '' || query === '') return joined(own, added);
  const names = new Set([...new URLSearchParams(query).keys()].map((name) => name.toLowerCase()));
  const missing = added.split('&').filter((parameter) => !names.has(parameter.split('=', 1)[0] as string));
  return joined(own, missing.join('&'));
}
