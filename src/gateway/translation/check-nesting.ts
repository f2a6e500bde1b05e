import { AppError } from '../../common/errors/app-error.js';
import { pathDeeperThan } from '../../common/json/deep-json.js';
import type { Json } from '../../providers/endpoint.js';
import type { RequestContent } from '../types/content.js';

/**
 * Maximum nesting of a request that is translated. Serializers and parsers of others give up at some thousand levels, and no provider is
 * known to accept as many.
 */
const LEVELS_MAX = 2_048;

/** Each level has at least a bracket at its beginning and one at its end. */
const DEEP_BYTES_MIN = 2 * LEVELS_MAX;

/** Throws `invalid_request`, which names the field, for a request that is nested too deeply to be translated. */
export function checkNesting(request: Json, { body }: Pick<RequestContent, 'body'>): void {
  if (Buffer.isBuffer(body) && body.length < DEEP_BYTES_MIN) return;
  const parameter = pathDeeperThan(request, LEVELS_MAX);
  if (parameter === null) return;
  throw new AppError('invalid_request', {
    parameter,
    detail: `"${parameter}" is nested deeper than ${LEVELS_MAX} levels. Flatten it to send it to this provider.`,
  });
}
