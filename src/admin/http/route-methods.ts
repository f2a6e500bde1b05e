import type { FastifyInstance, FastifyRequest, RouteOptions } from 'fastify';
import { AppError } from '../../common/errors/app-error.js';
import { unknownPathError } from './unknown-path.js';

const SEGMENT = /:[^/]+/g;
const WILDCARD = /\*$/;
const LAST_PARAMETER = /\/:[^/]+$/;

/** A route's path as a regular expression: https://github.com/delvedor/find-my-way#supported-path-formats */
const expressionOf = (url: string): RegExp => {
  const escaped = url.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(SEGMENT, '[^/]+').replace(WILDCARD, '.*')}/?$`);
};

const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;

/**
 * Responds with 405 and the allowed methods when a path does not support a method, with 404 and the nearest paths when there is none, and
 * refuses the body of a GET. Call it before any route is added.
 */
export function refuseWrongMethods(server: FastifyInstance): void {
  const paths = new Map<string, { readonly expression: RegExp; readonly methods: Set<string> }>();
  server.addHook('onRoute', ({ url, method }: RouteOptions) => {
    const path = paths.get(url) ?? { expression: expressionOf(url), methods: new Set() };
    paths.set(url, path);
    for (const each of [method].flat()) path.methods.add(each);
  });
  // A path without parameters takes precedence over parameterized ones that it matches, as `/configs/simulate` matches `/configs/:slug`.
  const methodsOf = (path: string, isRouted: boolean): ReadonlySet<string> => {
    const exact = paths.get(path)?.methods;
    if (exact || isRouted) return exact ?? NONE;
    return [...paths.values()].find(({ expression }) => expression.test(path))?.methods ?? NONE;
  };
  /** Fixed paths below one that lacks the method, such as those that create the kinds of API keys. */
  const placesBelow = (path: string, method: string): readonly string[] =>
    [...paths]
      .filter(([url, { methods }]) => url.startsWith(`${path}/`) && !url.includes(':') && methods.has(method))
      .map(([url]) => url);
  server.addHook('onRequest', (request, _reply, done) => {
    const path = request.url.split('?', 1)[0] as string;
    const is404 = request.is404 || endsInEmptyParameter(path, request);
    const allowed = methodsOf(path, !is404);
    if (is404 && (allowed.size === 0 || allowed.has(request.method)))
      done(unknownPathError(path, paths.keys()));
    else done(refusalOf(request, allowed, placesBelow(path, request.method)));
  });
}

/** The router lets a parameter be empty, so that `/configs/` would be a config without a name. */
const endsInEmptyParameter = (path: string, { routeOptions }: FastifyRequest): boolean =>
  path.endsWith('/') && LAST_PARAMETER.test(routeOptions.url ?? '');

const NONE: ReadonlySet<string> = new Set();

function refusalOf(
  request: FastifyRequest,
  allowed: ReadonlySet<string>,
  places: readonly string[],
): AppError | undefined {
  const { method } = request;
  if (allowed.size > 0 && !allowed.has(method)) {
    const hint = places.length === 0 ? '' : ` Send a ${method} to ${places.join(', ')}.`;
    return new AppError('method_not_allowed', { method, allowed: [...allowed].sort().join(', '), hint });
  }
  if (!request.is404 && (method === 'GET' || method === 'HEAD') && hasBody(request))
    return new AppError('body_not_allowed', { method });
  return undefined;
}
