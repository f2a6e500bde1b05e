import { AppError } from '../../common/errors/app-error.js';
import { batchesOf } from '../../providers/endpoints/batches.js';
import type { Json } from '../../providers/endpoint.js';
import type { RequestPath } from '../types/request-path.js';
import type { Target } from '../types/target.js';
import type { WireRequest } from '../upstream/wire.js';
import { pathWithQuery, ownPath, pathAt, type PathSubject } from './own-path.js';

const OUTPUT = /^\/batches\/([^/]+)\/output$/;

/**
 * A request for the output of a batch first reads the batch for the output's location, then streams the output. Every other request is
 * unchanged, including that for an output at a provider without a batch rule.
 */
export function batchRequest(
  request: WireRequest,
  { path: requestPath, query }: RequestPath,
  target: Target,
  subject: PathSubject,
): WireRequest {
  const [, id] = OUTPUT.exec(requestPath) ?? [];
  const batches = batchesOf(target.provider);
  if (id === undefined || !batches || request.method !== 'GET') return request;
  const below = (path: string): string =>
    pathWithQuery(pathAt(target, ownPath(target, subject, path)) + query, target.query);
  return {
    ...request,
    path: below(batches.pathOf(id)),
    next: (batch) => below(batches.outputOf(batch, id) ?? none(batch)),
  };
}

function none({ status, processing_status: other }: Json): never {
  const said = [status, other].find((word): word is string => typeof word === 'string') ?? 'unknown';
  throw new AppError('conflict', {
    detail: `The batch has no output: its status is "${said.slice(0, 64)}". Try again when it has ended.`,
  });
}
