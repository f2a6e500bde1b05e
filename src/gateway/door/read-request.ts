import type { IncomingMessage } from 'node:http';
import { AppError } from '../../common/errors/app-error.js';
import type { Endpoint, Json } from '../../providers/endpoint.js';
import { googleCallOf } from '../../providers/endpoints/google-path.js';
import { findEndpointRow } from '../../providers/endpoints/index.js';
import type { Entry } from '../journal/entry.js';
import { type ModelTarget, modelTarget, withModel } from '../planning/model-target.js';
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
  if (!isRead(entry.endpoint, request)) return passThrough(request, entry);
  const before = performance.now();
  const bytes = await readBody(request, limitBytes);
  const waitedMs = performance.now() - before;
  entry.requestBody.add(bytes);
  const named = nameModel(entry, path, (entry.body = parseJsonObject(bytes)));
  return {
    body: named ? withModel(bytes, named.model) : bytes,
    modelSlug: named ? named.slug : null,
    isRepeatable: true,
    waitedMs,
  };
}

/** Notes the model and whether a stream is wanted, from the body or, in Google's calls, from the path. */
function nameModel(entry: Entry, path: string, json: Json): ModelTarget | null {
  const google = googleCallOf(path);
  const asked = google?.model ?? modelOf(json);
  const named = google ? null : modelTarget(asked);
  entry.isStreamed = google?.isStreamed ?? json.stream === true;
  entry.model = (named?.model ?? asked).slice(0, MODEL_CHARS_MAX) || null;
  return named;
}

function isRead(endpoint: Endpoint | null, { headers }: IncomingMessage): boolean {
  return endpoint?.body === 'json' && headers['content-encoding'] === undefined;
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
