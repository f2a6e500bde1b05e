import { FastRequest } from '../../common/http/fast-request.js';
import type { ClientRequest } from '../../common/http/messages.js';
import { AppError } from '../../common/errors/app-error.js';
import type { Endpoint, Json } from '../../providers/endpoint.js';
import { findEndpointRow } from '../../providers/endpoints/index.js';
import type { Entry } from '../recording/entry.js';
import { parsedObject } from '../recording/metering.js';
import { checkPolicy } from '../planning/check-allowed.js';
import { type ModelTarget, modelTarget, withModel } from '../planning/model-target.js';
import { namesDeployment, pathModelOf, withPathModel } from '../planning/path-model.js';
import type { RequestPath } from '../types/request-path.js';
import type { ReadRequest } from '../types/content.js';
import { wantsStream } from '../types/wants-stream.js';
import { codingsOf } from '../../common/http/content-coding.js';
import { decodedBody, unreadableCoding } from './decoded-body.js';
import { FormBody } from './form-body.js';
import { boundaryOf } from './multipart-scanner.js';
import { BodyStream, parseJsonObject, readBody, wholeBody } from './request-body.js';
import { hasBody } from './request-hygiene.js';

const MODEL_CHARS_MAX = 256;

/** How a request is read. */
export interface ReadingRules {
  readonly limitBytes: number;
  /** Also keeps a body that need not be read, so that it can be sent again, if its length is known and allowed. */
  readonly keepsBody: boolean;
  /** Only the model can name the target, `@slug/model`. Absent if something else names it. */
  readonly needsTarget?: true;
}

/**
 * Reads the parts of a request that the gateway needs. Only the body of a first-class endpoint is read: decoded if it has a
 * content-encoding, and parsed once. Its bytes are forwarded unchanged unless the model names its target. The fields of a form are read
 * while it streams through. Every other body streams through unread.
 */
export async function readRequest(
  request: ClientRequest,
  path: RequestPath,
  entry: Entry,
  { limitBytes, keepsBody, needsTarget }: ReadingRules,
): Promise<ReadRequest> {
  entry.isFor(findEndpointRow(request.method ?? '', path.path), path.path);
  const isKept = keepsBody && isBounded(request, limitBytes);
  if (isJson(entry.endpoint, request)) return readJson(request, path, entry, limitBytes);
  if (needsTarget && mayNameTarget(entry.endpoint, request))
    return readTarget(request, path, entry, limitBytes);
  const form = formOf(entry.endpoint, request);
  if (form.boundary !== null)
    return readForm(request, path, entry, { boundary: form.boundary, isKept, limitBytes });
  const unread = form.unreadable === null ? UNREAD : { ...UNREAD, unreadable: form.unreadable };
  if (!isKept) return passThrough(request, path, entry, unread);
  const { bytes, waitedMs } = await keptBody(request, entry, limitBytes);
  return { ...unread, path, body: bytes, isRepeatable: true, waitedMs };
}

async function keptBody(request: ClientRequest, entry: Entry, limitBytes: number) {
  const before = performance.now();
  const bytes = await readBody(request, limitBytes);
  const waitedMs = performance.now() - before;
  entry.trail.requestBody.add(bytes);
  return { bytes, waitedMs };
}

async function readJson(
  request: ClientRequest,
  path: RequestPath,
  entry: Entry,
  limitBytes: number,
): Promise<ReadRequest> {
  const { bytes, waitedMs } = await keptBody(request, entry, limitBytes);
  const codings = codingsOf(request.headers['content-encoding']);
  const decoded = codings.length === 0 ? bytes : await decodedBody(bytes, codings, limitBytes);
  if (!decoded) {
    const unreadable = unreadableCoding(codings);
    return { ...UNREAD, path, body: bytes, unreadable, isRepeatable: true, waitedMs };
  }
  const json = path.isProxied ? jsonObjectIn(decoded) : parseJsonObject(decoded);
  if (!json)
    return {
      ...UNREAD,
      path,
      body: bytes,
      unreadable: 'it is not a JSON object',
      isRepeatable: true,
      waitedMs,
    };
  entry.trail.reads(json);
  const named = nameModel(entry, path, json);
  const read = {
    path: pathFor(path, named),
    body: named ? withModel(decoded, named.model) : decoded,
    json,
    model: entry.trail.model,
    isStreamed: entry.trail.isStreamed,
    modelSlug: named ? named.slug : null,
    isRepeatable: true,
    waitedMs,
  };
  return decoded === bytes ? read : { ...read, encoded: { bytes, decoded } };
}

/** `/v1/proxy` forwards any body, so one that is not a JSON object gives null instead of an error. */
const jsonObjectIn = (body: Buffer): Json | null => parsedObject(body.toString('utf8'));

/** The result for a body that was not read. */
type Unread = Pick<ReadRequest, 'json' | 'model' | 'isStreamed' | 'modelSlug' | 'waitedMs' | 'unreadable'>;
const UNREAD: Unread = { json: null, model: null, isStreamed: false, modelSlug: null, waitedMs: 0 };

function isBounded(request: ClientRequest, limitBytes: number): boolean {
  const length = request.headers['content-length'];
  return hasBody(request) && length !== undefined && Number(length) <= limitBytes;
}

/** Records the model and whether a stream is requested, from the body or, in Google's and Azure's requests, from the path. */
function nameModel(entry: Entry, path: RequestPath, json: Json): ModelTarget | null {
  const inPath = pathModelOf(path);
  entry.trail.asksForStream(inPath?.isStreamed ?? wantsStream(json.stream));
  // Google's clients do not name a target.
  if (inPath && !namesDeployment(path)) return noteModel(entry, inPath.model, null);
  const inBody = modelOf(json);
  if (!inPath) return noteModel(entry, inBody, modelTarget(inBody));
  const beside = modelTarget(inBody);
  const named = modelTarget(inPath.model) ?? (beside && { slug: beside.slug, model: inPath.model });
  return noteModel(entry, inPath.model, named);
}

function noteModel(entry: Entry, asked: string, named: ModelTarget | null): ModelTarget | null {
  entry.trail.asksFor((named?.model ?? asked).slice(0, MODEL_CHARS_MAX) || null);
  return named;
}

/** The path with the plain model in place of `@slug/model`. */
const pathFor = (path: RequestPath, named: ModelTarget | null): RequestPath =>
  named && pathModelOf(path) ? withPathModel(path, named.model) : path;

/** Reads a pass-through body whose target only its model can name. Nothing else of it is examined, and only that name changes. */
async function readTarget(
  request: ClientRequest,
  path: RequestPath,
  entry: Entry,
  limitBytes: number,
): Promise<ReadRequest> {
  const { bytes, waitedMs } = await keptBody(request, entry, limitBytes);
  // A body that is not a JSON object names no target, and may be what its provider expects.
  const model = jsonObjectIn(bytes)?.model;
  const named = typeof model === 'string' ? modelTarget(model) : null;
  const read = { ...UNREAD, path, body: bytes, isRepeatable: true, waitedMs };
  if (!named) return read;
  return { ...read, body: withModel(bytes, named.model), model: named.model, modelSlug: named.slug };
}

function mayNameTarget(endpoint: Endpoint | null, { headers }: ClientRequest): boolean {
  return (
    endpoint?.body !== 'form' &&
    JSON_TYPE.test(headers['content-type'] ?? '') &&
    codingsOf(headers['content-encoding']).length === 0
  );
}

/** How a form is read. `isKept`: the whole form is kept. */
interface FormReading {
  readonly boundary: string;
  readonly limitBytes: number;
  readonly isKept: boolean;
}

/** Reads the fields of a form before its first file; the rest streams through, and is recorded as it passes. */
async function readForm(
  request: ClientRequest,
  path: RequestPath,
  entry: Entry,
  { boundary, isKept, limitBytes }: FormReading,
): Promise<ReadRequest> {
  const form = new FormBody(request, entry.trail.requestBody, boundary, limitBytes);
  const before = performance.now();
  await form.readHead(isKept);
  const waitedMs = performance.now() - before;
  const inPath = pathModelOf(path)?.model;
  const named = modelTarget(inPath ?? form.field('model') ?? '');
  noteForm(entry, form, named?.model ?? inPath);
  if (named && inPath === undefined) form.replace('model', named.model);
  form.onLate = (name, value) => {
    if (name === 'model') checkLate(entry, value);
    noteForm(entry, form, inPath);
  };
  const { isWhole } = form;
  return {
    path: pathFor(path, named),
    body: isWhole ? form.takeHead() : form,
    form,
    json: null,
    model: entry.trail.model,
    isStreamed: entry.trail.isStreamed,
    modelSlug: named ? named.slug : null,
    isRepeatable: isWhole,
    waitedMs,
  };
}

/** `model`: the requested model if the field does not name it. */
function noteForm(entry: Entry, form: FormBody, model = form.field('model') ?? ''): void {
  entry.trail.asksForStream(wantsStream(form.field('stream')));
  entry.trail.asksFor(model.slice(0, MODEL_CHARS_MAX) || null);
}

/** A model after the file is read when the request is already being sent, so it must be one that was allowed there. */
function checkLate({ caller, trail: { target } }: Entry, model: string): void {
  if (modelTarget(model))
    throw new AppError('invalid_request', {
      detail: 'The field "model" names a virtual key, so it must come before the file in the form.',
    });
  if (caller?.policy && target) checkPolicy(caller.policy, target.provider.id, model);
}

/** The boundary of a form that is read as it passes, or why a body that should be a form cannot be read. */
interface FormShape {
  readonly boundary: string | null;
  readonly unreadable: string | null;
}
const NO_FORM: FormShape = { boundary: null, unreadable: null };

function formOf(endpoint: Endpoint | null, request: ClientRequest): FormShape {
  if (endpoint?.body !== 'form') return NO_FORM;
  const { 'content-type': type, 'content-encoding': encoding } = request.headers;
  const codings = codingsOf(encoding);
  const boundary = boundaryOf(type);
  if (boundary !== null && codings.length === 0 && hasBody(request)) return { boundary, unreadable: null };
  const problem = !hasBody(request)
    ? 'it is empty'
    : codings.length > 0
      ? 'a form with a content-encoding is not decoded'
      : 'it is not a multipart form with a boundary';
  return { boundary: null, unreadable: `${problem}. Send a plain multipart form` };
}

const JSON_TYPE = /^\s*application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;

/** Every body of a JSON endpoint, whatever its content type; elsewhere, a body with a JSON content type. */
function isJson(endpoint: Endpoint | null, request: ClientRequest): boolean {
  if (endpoint?.body !== 'form') return endpoint?.body === 'json';
  return JSON_TYPE.test(request.headers['content-type'] ?? '') && hasBody(request);
}

/** Empty if the body names none: the provider decides whether it is required. */
function modelOf({ model = '' }: Json): string {
  if (typeof model !== 'string')
    throw new AppError('invalid_request', { detail: 'The field "model" must be a string.' });
  return model;
}

function passThrough(request: ClientRequest, path: RequestPath, entry: Entry, unread: Unread): ReadRequest {
  if (!hasBody(request)) return { ...unread, path, body: null, isRepeatable: true };
  if (!(request instanceof FastRequest))
    return { ...unread, path, body: new BodyStream(request, entry.trail.requestBody), isRepeatable: false };
  const body = wholeBody(request);
  entry.trail.requestBody.add(body);
  return { ...unread, path, body, isRepeatable: false };
}
