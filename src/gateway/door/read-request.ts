import type { IncomingMessage } from 'node:http';
import { AppError } from '../../common/errors/app-error.js';
import type { Endpoint, Json } from '../../providers/endpoint.js';
import { googleCallOf } from '../../providers/endpoints/google-path.js';
import { findEndpointRow } from '../../providers/endpoints/index.js';
import type { Entry } from '../journal/entry.js';
import { type ModelTarget, modelTarget, withModel } from '../planning/model-target.js';
import type { RequestPath } from '../planning/request-path.js';
import type { ReadRequest } from '../types/content.js';
import { BodyStream, parseJsonObject, readBody } from './request-body.js';
import { hasBody } from './request-hygiene.js';

const MODEL_CHARS_MAX = 256;

/** How a request is to be read. */
export interface Reading {
  readonly limitBytes: number;
  /** A body that need not be read is kept nevertheless where its length is known and allowed, so that it can be sent again. */
  readonly keepsBody: boolean;
}

/**
 * Reads what the gateway has to know. Only the body of a first-class endpoint is read, and parsed once; its bytes
 * go on as they came, but for a model that names its target. Every other body streams through unread.
 */
export async function readRequest(
  request: IncomingMessage,
  path: RequestPath,
  entry: Entry,
  { limitBytes, keepsBody }: Reading,
): Promise<ReadRequest> {
  entry.endpoint = findEndpointRow(request.method ?? '', path.path);
  const isJson = isRead(entry.endpoint, request);
  if (!isJson && !(keepsBody && isBounded(request, limitBytes))) return passThrough(request, path, entry);
  const before = performance.now();
  const bytes = await readBody(request, limitBytes);
  const waitedMs = performance.now() - before;
  entry.requestBody.add(bytes);
  if (!isJson) return { ...UNREAD, path, body: bytes, isRepeatable: true, waitedMs };
  const json = (entry.body = parseJsonObject(bytes));
  const named = nameModel(entry, path.path, json);
  return {
    path,
    body: named ? withModel(bytes, named.model) : bytes,
    json,
    model: entry.model,
    isStreamed: entry.isStreamed,
    modelSlug: named ? named.slug : null,
    isRepeatable: true,
    waitedMs,
  };
}

const UNREAD = { json: null, model: null, isStreamed: false, modelSlug: null, waitedMs: 0 } as const;

function isBounded(request: IncomingMessage, limitBytes: number): boolean {
  const length = request.headers['content-length'];
  return hasBody(request) && length !== undefined && Number(length) <= limitBytes;
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

function passThrough(request: IncomingMessage, path: RequestPath, entry: Entry): ReadRequest {
  const body = hasBody(request) ? new BodyStream(request, entry.requestBody) : null;
  return { ...UNREAD, path, body, isRepeatable: body === null };
}
