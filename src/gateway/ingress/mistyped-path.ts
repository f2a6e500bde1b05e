import type { ClientRequest } from '../../common/http/messages.js';
import type { Principal } from '../../auth/principal.js';
import { AppError } from '../../common/errors/app-error.js';
import { nearestNames, suggestion } from '../../common/text/nearest-names.js';
import { endpoints, findEndpointRow } from '../../providers/endpoints/index.js';
import { requestPath } from '../types/request-path.js';
import { ADMINISTRATION_PATHS, BARE_ROOT, firstSegment, notBuilt } from './front-door.js';
import { gatewayOption } from '../types/gateway-headers.js';

const ROOT = '/v1/';
/** Options that name a provider. */
const TARGETS = ['virtual-key', 'provider', 'config'] as const;

/**
 * Throws `not_found` for a caller without access to models whose path is not a model endpoint but a mistyped path of the administration.
 * The data plane receives every path that the administration does not serve, and would otherwise report a missing scope. For admin keys any
 * such path counts, for other keys only a similar one. A request that names a provider is left alone.
 */
export function refuseMistypedPath(
  { method = '', url = '', headers }: ClientRequest,
  { kind }: Principal,
): void {
  if (TARGETS.some((name) => gatewayOption(headers, name) !== null)) return;
  const refusal = withoutProvider(url);
  if (refusal) throw refusal;
  if (!url.startsWith(ROOT)) return;
  const { path, isProxied } = requestPath(url);
  if (isProxied || findEndpointRow(method, path)) return;
  refuseAlike(firstSegment(url), kind);
}

function refuseAlike(segment: string, kind: Principal['kind']): void {
  const exact = ADMINISTRATION_PATHS.get(segment);
  if (exact !== undefined) throw hasInstead([exact]);
  const near = nearestNames(segment, ADMINISTRATION_PATHS.keys());
  if (near.length > 0) throw hasInstead(near.map((name) => ADMINISTRATION_PATHS.get(name) ?? name));
  if (kind === 'admin_key')
    throw new AppError('not_found', {
      resource: 'path in the administration, and paths of providers are not for admin keys',
    });
}

/**
 * A more precise error for a request without a provider whose path explains more than that: it belongs to an unbuilt part of the
 * administration, or the same path exists below `/v1/admin`. Returns every other error as it is.
 */
export function orIntendedPath(thrown: unknown, { url = '' }: ClientRequest): unknown {
  if (!(thrown instanceof AppError) || thrown.code !== 'provider_missing') return thrown;
  const refusal = withoutProvider(url);
  if (refusal) return refusal;
  if (!url.startsWith(ROOT) || requestPath(url).isProxied) return thrown;
  return withDoubledRoot(url) ?? orIntendedResource(url) ?? thrown;
}

/** A client that appends `/v1` itself has a base URL that ends with it. */
function withDoubledRoot(url: string): AppError | null {
  if (!url.startsWith(DOUBLED_ROOT)) return null;
  const { path } = requestPath(url.slice(ROOT.length - 1));
  const shown = path.slice(0, LONGEST_SHOWN);
  return new AppError('not_found', {
    resource: `path: it has /v1 twice. Leave /v1 out of the client's base URL, to reach ${ROOT}${shown.slice(1)}`,
  });
}

function orIntendedResource(url: string): AppError | null {
  const segment = firstSegment(url);
  const exact = ADMINISTRATION_PATHS.get(segment);
  if (exact !== undefined) return hasInstead([exact]);
  const endpoint = orIntendedEndpoint(url);
  if (endpoint || FIRST_SEGMENTS.has(segment)) return endpoint;
  const near = nearestNames(segment, [...ADMINISTRATION_PATHS.keys(), ...FIRST_SEGMENTS]);
  if (near.length === 0) return null;
  return hasInstead(near.map((name) => ADMINISTRATION_PATHS.get(name) ?? ROOT + name));
}

/** Paths of first-class endpoints below /v1 without a variable part. */
const ENDPOINT_PATHS = endpoints
  .flatMap(({ operations }) => operations.map(({ path }) => path.slice(1)))
  .filter((path) => !path.includes('{'));

/** First segments of paths of endpoints. */
const FIRST_SEGMENTS: ReadonlySet<string> = new Set([
  'models',
  ...ENDPOINT_PATHS.map((path) => path.split('/', 1)[0] as string),
]);

const segmentsOf = (path: string): number => path.split('/').length;

/** The error for a path that is similar to a first-class endpoint's; null for others. */
function orIntendedEndpoint(url: string): AppError | null {
  const path = url.slice(ROOT.length).split('?', 1)[0] as string;
  if (ENDPOINT_PATHS.includes(path)) return null;
  const alike = ENDPOINT_PATHS.filter((each) => segmentsOf(each) === segmentsOf(path));
  const [near] = nearestNames(path, new Set(alike));
  if (near === undefined) return null;
  const shown = path.slice(0, near.length + LONGEST_DIFFERENCE);
  return new AppError('not_found', {
    resource: `endpoint ${ROOT}${shown}; did you mean ${ROOT}${near}? To send another path to a provider, choose one with x-gateway-virtual-key or x-gateway-provider`,
  });
}

const LONGEST_DIFFERENCE = 20;
const LONGEST_SHOWN = 100;
const DOUBLED_ROOT = `${ROOT}v1/`;

/** The error that the path alone determines; null for a path that only providers have. */
const withoutProvider = (url: string): AppError | null =>
  BARE_ROOT.test(url) ? new AppError('not_found', { resource: 'path' }) : notBuilt(url);

const hasInstead = (paths: readonly string[]): AppError =>
  new AppError('not_found', { resource: `path${suggestion(paths)}` });
