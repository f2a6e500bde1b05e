import { AppError } from '../../common/errors/app-error.js';
import type { Provider } from '../../providers/provider.js';
import {
  ownPrefixPath,
  hostRoot,
  unknownUpstreamPath,
  type UpstreamBase,
  upstreamPath,
} from '../../providers/upstream-path.js';
import type { Endpoint } from '../../providers/endpoint.js';
import { beginsWith, type RequestPath, withoutParameter, writtenPath } from '../types/request-path.js';
import { namesDeployment } from '../planning/named-model.js';
import type { Target } from '../types/target.js';
import { supportOf } from '../../providers/support.js';

/** Input of a path besides the target. */
export interface PathSubject {
  readonly facts: { readonly endpoint: Endpoint | null };
  readonly content: { readonly model: string | null };
}

/** The client's own path, unless the provider's dialect has another one for the endpoint. */
export function ownPath(
  { provider, credentials }: Target,
  { facts: { endpoint }, content: { model } }: PathSubject,
  path: string,
): string {
  const { pathOf } = provider.dialect;
  if (!pathOf || !endpoint) return path;
  return pathOf({ endpoint: endpoint.id, path, model: model ?? '', fields: credentials.fields });
}

/** A path with further parameters. */
export function pathWithQuery(path: string, query: string): string {
  if (query === '') return path;
  return path.includes('?') ? `${path}&${query}` : `${path}?${query}`;
}

/** Whether a client wrote a provider's own path in full: it is forwarded unchanged, and nothing is translated. */
export function isOwnPath({ paths }: Provider, path: RequestPath): boolean {
  if (!paths) return false;
  const written = writtenPath(path);
  return beginsWith(written, paths.atRoot) || beginsWith(written, paths.belowBase);
}

/** A path below a target's address, as `upstreamPath` places it. */
export const pathAt = (target: Target, path: string): string => upstreamPath(baseOf(target), path);

const baseOf = ({ provider, basePath, isCustomHost, credentials: { fields } }: Target): UpstreamBase => ({
  provider,
  basePath,
  isCustomHost,
  fields,
});

/**
 * The provider's path of a request that is not translated, without its query. Throws `endpoint_unsupported` for a two-step upload to a
 * provider without them, and what the dialect throws.
 */
export function providerPath(requested: RequestPath, target: Target, subject: PathSubject): string {
  const { provider, basePath } = target;
  const { path, isProxied, prefix = '' } = requested;
  const written = writtenPath(requested);
  if (isProxied) return basePath + written;
  if (beginsWith(written, provider.paths?.atRoot)) return hostRoot(basePath, provider.paths) + written;
  if (requested.isGatewayRoot) return pathBelowBase(withoutPrefix(requested), target, subject);
  if (beginsWith(written, provider.paths?.belowBase)) return pathAt(target, written);
  if (prefix.startsWith(UPLOADS)) throw withoutUploads(provider);
  return ownPrefixPath(baseOf(target), prefix, path) ?? pathBelowBase(requested, target, subject);
}

const withoutPrefix = ({ path, query, isProxied }: RequestPath): RequestPath => ({ path, query, isProxied });

/** An endpoint that the provider has is placed by its version; everything else is appended as the client wrote it. */
function pathBelowBase(requested: RequestPath, target: Target, subject: PathSubject): string {
  const { endpoint } = subject.facts;
  const isForwarded = isUnlisted(target, endpoint) && !namesDeployment(requested);
  if (!endpoint || isForwarded) return pathOfUnknown(requested, target);
  const placed = ownPath(target, subject, requested.path);
  const isOwn = placed !== requested.path || target.provider.endpoints.includes(endpoint.id);
  return isOwn ? pathAt(target, placed) : unknownUpstreamPath(baseOf(target), placed);
}

/**
 * Whether the provider's row lists neither the endpoint nor a translation of it. The request is forwarded like any other path, because the
 * provider may have more than its row.
 */
export function isUnlisted({ provider }: Target, endpoint: Endpoint | null): boolean {
  return endpoint !== null && !isUnread(endpoint) && supportOf(provider, endpoint.id) === null;
}

/** Neither the request nor the response is read. */
export const isUnread = ({ body, usage }: Endpoint): boolean => body === 'opaque' && usage === null;

/** A prefix that the custom host already ends with is sent once. */
function pathOfUnknown(requested: RequestPath, target: Target): string {
  const { path, prefix = '' } = requested;
  const { basePath } = target;
  if (prefix !== '' && basePath.endsWith(prefix)) return basePath + path;
  return unknownUpstreamPath(baseOf(target), writtenPath(requested));
}

const UPLOADS = '/upload/';

const withoutUploads = ({ id }: Provider): AppError =>
  new AppError('endpoint_unsupported', {
    provider: id,
    endpoint: 'uploads in two steps',
    detail: 'Send the file to the path of this provider for files.',
  });

/**
 * The query of a request that is not translated: the client's own, without a key that the gateway's credential replaces, plus the account's
 * parameters.
 */
export function queryAt(
  { provider, credentials, isAnonymous, query: added }: Target,
  { query }: RequestPath,
): string {
  const { keyParameter } = provider;
  const isReplaced = keyParameter !== undefined && (credentials.key !== null || isAnonymous === true);
  const own = isReplaced ? withoutParameter(query, keyParameter) : query;
  if (added === '' || query === '') return pathWithQuery(own, added);
  const names = new Set([...new URLSearchParams(query).keys()].map((name) => name.toLowerCase()));
  const missing = added.split('&').filter((parameter) => !names.has(parameter.split('=', 1)[0] as string));
  return pathWithQuery(own, missing.join('&'));
}
