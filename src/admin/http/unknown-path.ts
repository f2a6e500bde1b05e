import { AppError } from '../../common/errors/app-error.js';
import { nearestPaths, suggestion } from '../../common/text/nearest-names.js';
import { endpoints } from '../../providers/endpoints/index.js';

const ROOT = '/v1';
const LONGEST_SHOWN = 100;
const TRAILING_SLASHES = /\/+$/;

/** Paths of the data plane below /v1. */
const MODEL_PATHS: ReadonlySet<string> = new Set([
  '/models',
  ...endpoints.flatMap(({ operations }) => operations.map(({ path }) => path)),
]);

/**
 * The error for a path that neither plane serves, with the nearest of `routes`, the paths of the administration. A path without /v1 is usually one
 * of a client whose base URL lacks it.
 */
export function unknownPathError(path: string, routes: Iterable<string>): AppError {
  const requested = path.replace(TRAILING_SLASHES, '').slice(0, LONGEST_SHOWN);
  const known = [...routes];
  const near = nearestPaths(requested, known);
  if (near.length > 0 || requested.startsWith(`${ROOT}/`)) return noPath(suggestion(near));
  const below = nearestPaths(ROOT + requested, belowRoot(known));
  if (below.length === 0) return noPath('');
  return noPath(`${suggestion(below)}. Set the client's base URL to <address>${ROOT}`);
}

const noPath = (hint: string): AppError => new AppError('not_found', { resource: `path${hint}` });

const belowRoot = (routes: readonly string[]): readonly string[] => [
  ...[...MODEL_PATHS].map((path) => ROOT + path),
  ...routes.filter((route) => route.startsWith(`${ROOT}/`)),
];
