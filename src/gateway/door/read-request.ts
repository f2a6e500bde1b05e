import type { IncomingMessage } from 'node:http';
import { AppError } from '../../common/errors/app-error.js';
import type { Json } from '../../providers/endpoint.js';
import { findEndpointRow } from '../../providers/endpoints/index.js';
import type { Entry } from '../journal/entry.js';
import { modelTarget, withModel } from '../planning/model-target.js';
import type { RequestPath } from '../planning/request-path.js';
import type { WireRequest } from '../upstream/wire.js';
import { BodyStream, parseJsonObject, readBody } from './request-body.js';
import { hasBody } from './request-hygiene.js';

const MODEL_CHARS_MAX = 256;

/** A request's body as it will go upstream, and what was read of it. */
export interface ReadRequest {
  readonly body: WireRequest['body'];
  /** Slug that the model named, `@slug/model`. */
  readonly modelSlug: string | null;
  /** The body is kept whole, so that another try can send it again. */
  readonly isRepeatable: boolean;
  /** How long the client took to send it, milliseconds. */
  readonly waitedMs: number;
}

/**
 * Reads what the gateway has to know. Only the body of a first-class endpoint is read, and parsed once; its bytes
 * go on as they came, but for a model that names its target. Every other body streams through unread.
 */
export async function readRequest(
  request: IncomingMessage,
  { path }: RequestPath,
  entry: Entry,
  limitBytes: number,
): Promise<ReadRequest> {
  entry.endpoint = findEndpointRow(request.method ?? '', path);
  if (!entry.endpoint || request.headers['content-encoding'] !== undefined)
    return passThrough(request, entry);
  const before = performance.now();
  const bytes = await readBody(request, limitBytes);
  const waitedMs = performance.now() - before;
  entry.requestBody.add(bytes);
  const json = (entry.body = parseJsonObject(bytes));
  entry.isStreamed = json.stream === true;
  const asked = modelOf(json);
  const named = modelTarget(asked);
  entry.model = (named ? named.model : asked).slice(0, MODEL_CHARS_MAX) || null;
  return {
    body: named ? withModel(bytes, named.model) : bytes,
    modelSlug: named ? named.slug : null,
    isRepeatable: true,
    waitedMs,
  };
}

/** Empty when the body names none: whether one is needed is for the provider to say. */
function modelOf({ model = '' }: Json): string {
  if (typeof model !== 'string')
    throw new AppError('invalid_request', { detail: 'The field "model" must be a string.' });
  return model;
}

function passThrough(request: IncomingMessage, entry: Entry): ReadRequest {
  const body = hasBody(request) ? new BodyStream(request, entry.requestBody) : null;
  return { body, modelSlug: null, isRepeatable: body === null, waitedMs: 0 };
}
