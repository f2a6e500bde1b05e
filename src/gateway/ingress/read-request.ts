import { FastRequest } from '../../common/http/fast-request.js';
import type { ClientRequest } from '../../common/http/messages.js';
import { fieldError } from '../../common/errors/field-errors.js';
import type { Endpoint, Json } from '../../providers/endpoint.js';
import type { BodyCapture } from '../recording/capture.js';
import { parsedObject } from '../recording/reading.js';
import { type ModelTarget, modelTarget, withModel } from '../planning/named-model.js';
import { namesDeployment, pathModelOf, withPathModel } from '../planning/named-model.js';
import { MODEL_CHARS_MAX, wantsStream } from '../types/attempt-trail.js';
import type { RequestPath } from '../types/request-path.js';
import type { ReadRequest } from '../types/content.js';
import { codingsOf } from '../../common/http/content-coding.js';
import { decodedBody, unreadableCoding } from './decoded-body.js';
import { FormBody } from './form-body.js';
import { boundaryOf } from './multipart-scanner.js';
import { BodyStream, parseJsonObject, readBody, wholeBody } from './request-body.js';
import { hasBody } from './request-hygiene.js';

/** How a request is read. */
export interface ReadingRules {
  readonly limitBytes: number;
  /** Also keeps a body that need not be read, so that it can be sent again, if its length is known and allowed. */
  readonly keepsBody: boolean;
  /** Only the model can name the target, `@slug/model`. Absent if something else names it. */
  readonly needsTarget?: true;
}

/** A request whose body has not been read. */
interface ReceivedRequest {
  readonly request: ClientRequest;
  readonly path: RequestPath;
  /** Null if it is unknown. */
  readonly endpoint: Endpoint | null;
  /** Receives the bytes of the body. */
  readonly capture: BodyCapture;
}

/**
 * Reads the parts of a request that the gateway needs. Only the body of a first-class endpoint is read: decoded if it has a
 * content-encoding, and parsed once. Its bytes are forwarded unchanged unless the model names its target. The fields of a form are read
 * while it streams through. Every other body streams through unread.
 */
export async function readRequest(received: ReceivedRequest, rules: ReadingRules): Promise<ReadRequest> {
  const { path } = received;
  const read = await readContent(received, rules);
  return path.slug === undefined ? read : { ...read, modelSlug: path.slug };
}

async function readContent(
  received: ReceivedRequest,
  { limitBytes, keepsBody, needsTarget }: ReadingRules,
): Promise<ReadRequest> {
  const { request, path, endpoint } = received;
  const isKept = keepsBody && isBounded(request, limitBytes);
  if (isJson(endpoint, request)) return readJson(received, limitBytes);
  if (needsTarget && mayNameTarget(endpoint, request)) return readTarget(received, limitBytes);
  const form = formOf(endpoint, request);
  if (form.boundary !== null) return readForm(received, { boundary: form.boundary, isKept, limitBytes });
  const unread = form.unreadable === null ? UNREAD : { ...UNREAD, unreadable: form.unreadable };
  if (!isKept) return passThrough(received, unread);
  const { bytes, waitedMs } = await keptBody(received, limitBytes);
  return { ...unread, path, body: bytes, isRepeatable: true, waitedMs };
}

async function keptBody({ request, capture }: ReceivedRequest, limitBytes: number) {
  const before = performance.now();
  const bytes = await readBody(request, limitBytes);
  const waitedMs = performance.now() - before;
  capture.add(bytes);
  return { bytes, waitedMs };
}

async function readJson(received: ReceivedRequest, limitBytes: number): Promise<ReadRequest> {
  const { request, path } = received;
  const { bytes, waitedMs } = await keptBody(received, limitBytes);
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
  const { named, model, isStreamed } = namedModel(path, json);
  const read = {
    path: pathFor(path, named),
    body: named ? withModel(decoded, named.model) : decoded,
    json,
    model,
    isStreamed,
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

/** The model of a request, and the target that it names, if any. */
interface NamedModel {
  readonly named: ModelTarget | null;
  readonly model: string | null;
  readonly isStreamed: boolean;
}

/** The model and whether a stream is requested, from the body or, in Google's and Azure's requests, from the path. */
function namedModel(path: RequestPath, json: Json): NamedModel {
  const inPath = pathModelOf(path);
  const isStreamed = inPath?.isStreamed ?? wantsStream(json.stream);
  // The virtual key in a path of Google's is read with the path.
  if (inPath && !namesDeployment(path)) return { named: null, model: nameOf(inPath.model), isStreamed };
  const inBody = modelOf(json);
  const named = inPath ? deploymentTarget(inPath.model, inBody) : modelTarget(inBody);
  return { named, model: nameOf(named ? named.model : (inPath?.model ?? inBody)), isStreamed };
}

/** The target of a path that names the deployment: the path names it itself, or the body beside it. */
function deploymentTarget(model: string, inBody: string): ModelTarget | null {
  const beside = modelTarget(inBody);
  return modelTarget(model) ?? (beside && { slug: beside.slug, model });
}

const nameOf = (model: string): string | null => model.slice(0, MODEL_CHARS_MAX) || null;

/** The path with the plain model in place of `@slug/model`. */
const pathFor = (path: RequestPath, named: ModelTarget | null): RequestPath =>
  named && pathModelOf(path) ? withPathModel(path, named.model) : path;

/** Reads a pass-through body whose target only its model can name. Nothing else of it is examined, and only that name changes. */
async function readTarget(received: ReceivedRequest, limitBytes: number): Promise<ReadRequest> {
  const { path } = received;
  const { bytes, waitedMs } = await keptBody(received, limitBytes);
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
  { request, path, capture }: ReceivedRequest,
  { boundary, isKept, limitBytes }: FormReading,
): Promise<ReadRequest> {
  const form = new FormBody(request, capture, boundary, limitBytes);
  const before = performance.now();
  await form.readHead(isKept);
  const waitedMs = performance.now() - before;
  const inPath = pathModelOf(path)?.model;
  const model = inPath ?? form.field('model') ?? '';
  const named = modelTarget(model);
  if (named && inPath === undefined) form.replace('model', named.model);
  const { isWhole } = form;
  return {
    path: pathFor(path, named),
    body: isWhole ? form.takeHead() : form,
    form,
    json: null,
    model: nameOf(named?.model ?? model),
    isStreamed: wantsStream(form.field('stream')),
    modelSlug: named ? named.slug : null,
    isRepeatable: isWhole,
    waitedMs,
  };
}

/** The boundary of a form that is read as it passes, or why a body that should be a form cannot be read. */
interface FormFormat {
  readonly boundary: string | null;
  readonly unreadable: string | null;
}
const NO_FORM: FormFormat = { boundary: null, unreadable: null };

function formOf(endpoint: Endpoint | null, request: ClientRequest): FormFormat {
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
  if (typeof model !== 'string') throw fieldError('model', 'must be a string');
  return model;
}

function passThrough({ request, path, capture }: ReceivedRequest, unread: Unread): ReadRequest {
  if (!hasBody(request)) return { ...unread, path, body: null, isRepeatable: true };
  if (!(request instanceof FastRequest))
    return { ...unread, path, body: new BodyStream(request, capture), isRepeatable: false };
  const body = wholeBody(request);
  capture.add(body);
  return { ...unread, path, body, isRepeatable: false };
}
