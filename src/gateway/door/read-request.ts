import { FastRequest } from '../../common/fast-path/fast-request.js';
import type { ClientRequest } from '../../common/fast-path/messages.js';
import { AppError } from '../../common/errors/app-error.js';
import type { Endpoint, Json } from '../../providers/endpoint.js';
import { googleCallOf } from '../../providers/endpoints/google-path.js';
import { findEndpointRow } from '../../providers/endpoints/index.js';
import type { Entry } from '../journal/entry.js';
import { checkPolicy } from '../planning/check-policy.js';
import { type ModelTarget, modelTarget, withModel } from '../planning/model-target.js';
import type { RequestPath } from '../planning/request-path.js';
import type { ReadRequest } from '../types/content.js';
import { FormBody } from './form-body.js';
import { boundaryOf } from './multipart-scanner.js';
import { BodyStream, parseJsonObject, readBody, wholeBody } from './request-body.js';
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
 * go on as they came, but for a model that names its target. Of a form the fields are read while it streams through.
 * Every other body streams through unread.
 */
export async function readRequest(
  request: ClientRequest,
  path: RequestPath,
  entry: Entry,
  { limitBytes, keepsBody }: Reading,
): Promise<ReadRequest> {
  entry.endpoint = findEndpointRow(request.method ?? '', path.path);
  const isKept = keepsBody && isBounded(request, limitBytes);
  const boundary = formBoundary(entry.endpoint, request);
  if (boundary !== null) return readForm(request, path, entry, { boundary, isKept, limitBytes });
  const isJson = isRead(entry.endpoint, request);
  if (!isJson && !isKept) return passThrough(request, path, entry);
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

function isBounded(request: ClientRequest, limitBytes: number): boolean {
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

/** How a form is read: `isKept` says that all of it is to be kept. */
interface FormReading {
  readonly boundary: string;
  readonly limitBytes: number;
  readonly isKept: boolean;
}

/** Reads the fields of a form that stand before its first file; the rest streams through, and is noted as it passes. */
async function readForm(
  request: ClientRequest,
  path: RequestPath,
  entry: Entry,
  { boundary, isKept, limitBytes }: FormReading,
): Promise<ReadRequest> {
  const form = new FormBody(request, entry.requestBody, boundary, limitBytes);
  const before = performance.now();
  await form.readHead(isKept);
  const waitedMs = performance.now() - before;
  const named = modelTarget(form.field('model') ?? '');
  noteForm(entry, form, named);
  if (named) form.replace('model', named.model);
  form.onLate = (name, value) => {
    if (name === 'model') checkLate(entry, value);
    noteForm(entry, form, null);
  };
  const { isWhole } = form;
  return {
    path,
    body: isWhole ? form.takeHead() : form,
    form,
    json: null,
    model: entry.model,
    isStreamed: entry.isStreamed,
    modelSlug: named ? named.slug : null,
    isRepeatable: isWhole,
    waitedMs,
  };
}

function noteForm(entry: Entry, form: FormBody, named: ModelTarget | null): void {
  entry.isStreamed = form.field('stream') === 'true';
  entry.model = (named?.model ?? form.field('model') ?? '').slice(0, MODEL_CHARS_MAX) || null;
}

/** A model behind the file is seen when the request is on its way, and must be one that could have gone there. */
function checkLate({ caller, target }: Entry, model: string): void {
  if (modelTarget(model))
    throw new AppError('invalid_request', {
      detail: 'The field "model" names a virtual key, so it must stand before the file in the form.',
    });
  if (caller?.policy && target) checkPolicy(caller.policy, target.provider.id, model);
}

function formBoundary(endpoint: Endpoint | null, request: ClientRequest): string | null {
  const { headers } = request;
  if (endpoint?.body !== 'form' || headers['content-encoding'] !== undefined || !hasBody(request))
    return null;
  return boundaryOf(headers['content-type']);
}

function isRead(endpoint: Endpoint | null, { headers }: ClientRequest): boolean {
  return endpoint?.body === 'json' && headers['content-encoding'] === undefined;
}

/** Empty when the body names none: whether one is needed is for the provider to say. */
function modelOf({ model = '' }: Json): string {
  if (typeof model !== 'string')
    throw new AppError('invalid_request', { detail: 'The field "model" must be a string.' });
  return model;
}

function passThrough(request: ClientRequest, path: RequestPath, entry: Entry): ReadRequest {
  if (!hasBody(request)) return { ...UNREAD, path, body: null, isRepeatable: true };
  if (!(request instanceof FastRequest))
    return { ...UNREAD, path, body: new BodyStream(request, entry.requestBody), isRepeatable: false };
  const body = wholeBody(request);
  entry.requestBody.add(body);
  return { ...UNREAD, path, body, isRepeatable: false };
}
