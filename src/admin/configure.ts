import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../common/errors/app-error.js';
import { ADMINISTRATION_BODY_LIMIT, bodyLimitOf, INGESTION_BODY_LIMIT } from '../common/http/body-limits.js';
import { FORM_TYPE, parseFormBody } from '../common/http/form-body.js';
import { parseJsonBody } from './http/json-body.js';
import { createValidationPipe } from './http/validation.js';
import { uuidV7 } from '../common/ids/uuid-v7.js';
import { entityTagOf, isOneThing } from './http/entity-tag.js';
import { leaveUnread } from './http/unread-body.js';
import { markUnreadable } from './http/readable-body.guard.js';
import { refuseWrongMethods } from './http/route-methods.js';
import { RefusalRecordingFilter } from './audit/refusal-recording.filter.js';

const JSON_TYPE = 'application/json';
const PROTOBUF_TYPE = 'application/x-protobuf';
const OTLP_PATH = '/v1/otel/v1/traces';

/**
 * Configures the web server for the administration: body parsing, validation, the error format, and common response headers. Call it before
 * `init`.
 */
export function configureAdmin(app: NestFastifyApplication): void {
  const server = app.getHttpAdapter().getInstance();
  server.setGenReqId(() => uuidV7(Date.now()));
  refuseWrongMethods(server);
  server.addHook('onRoute', (route) => {
    route.bodyLimit = bodyLimitOf(route.url);
  });
  // With callbacks: synchronous work needs no promises. The framework catches nothing that such a hook throws.
  server.addHook('preSerialization', (request, reply, payload: unknown, done) => {
    try {
      addTag(request, reply, payload);
    } catch (error) {
      done(error as Error);
      return;
    }
    done(null, payload);
  });
  server.addHook('onSend', (request, reply, payload, done) => {
    addHeaders(request, reply);
    done(null, payload);
  });
  server.addHook('preParsing', leaveUnread);
  readJsonOnly(app);
  app.useGlobalPipes(createValidationPipe());
  app.useGlobalFilters(app.get(RefusalRecordingFilter));
}

/**
 * Only JSON is accepted, and an empty body may have the JSON content type. The framework would add its own parsers for JSON and forms,
 * unless they exist already.
 */
function readJsonOnly(app: NestFastifyApplication): void {
  app.getHttpAdapter().getInstance().removeAllContentTypeParsers();
  const limit = { bodyLimit: ADMINISTRATION_BODY_LIMIT };
  app.useBodyParser(JSON_TYPE, limit, (request, body, done) => {
    void unpacked(request, body).then(
      (bytes) => finish(request, done, () => parseJsonBody(bytes)),
      (error: unknown) => finishUnreadable(request, done, error),
    );
  });
  app.useBodyParser(PROTOBUF_TYPE, limit, (request, body, done) => {
    void unpacked(request, body).then(
      (bytes) => finish(request, done, () => only(OTLP_PATH, request, bytes)),
      (error: unknown) => finishUnreadable(request, done, error),
    );
  });
  app.useBodyParser(FORM_TYPE, limit, (request, body, done) => {
    finish(request, done, () => parseFormBody(request.routeOptions.url, body.toString('utf8')));
  });
}

/** Only trace exporters compress or send protobuf; elsewhere both are refused. */
type RoutedHead = Pick<FastifyRequest, 'headers' | 'routeOptions'>;

function only(path: string, { routeOptions, headers }: RoutedHead, bytes: Buffer): Buffer {
  if (routeOptions.url === path) return bytes;
  throw new AppError('unsupported_media_type', { contentType: headers['content-type'] ?? 'none' });
}

const gunzipped = promisify(gunzip);
/** A small archive can expand to any size. */
const LARGEST_UNPACKED = 4 * INGESTION_BODY_LIMIT;

async function unpacked(request: RoutedHead, bytes: Buffer): Promise<Buffer> {
  if (request.headers['content-encoding'] !== 'gzip') return bytes;
  only(OTLP_PATH, request, bytes);
  try {
    return await gunzipped(bytes, { maxOutputLength: LARGEST_UNPACKED });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE')
      throw new AppError('body_too_large', { limitBytes: LARGEST_UNPACKED });
    throw new AppError('invalid_request', {
      detail:
        'The body is not gzip, although its Content-Encoding says so. Compress it, or leave the header out.',
    });
  }
}

type DoneCallback = (error: Error | null, body?: unknown) => void;

function finish(request: object, done: DoneCallback, read: () => unknown): void {
  let body: unknown;
  try {
    body = read();
  } catch (error) {
    finishUnreadable(request, done, error);
    return;
  }
  done(null, body);
}

/** The request continues without a body: `ReadableBodyGuard` refuses it once the caller and its scope are checked. */
function finishUnreadable(request: object, done: DoneCallback, error: unknown): void {
  markUnreadable(request, AppError.from(error));
  done(null);
}

/** Only single resources have a tag, which a change can name. */
function addTag(request: FastifyRequest, reply: FastifyReply, payload: unknown): void {
  if (request.method !== 'GET' || reply.statusCode !== 200) return;
  if (typeof payload === 'object' && payload !== null && isOneThing(payload))
    reply.header('etag', entityTagOf(payload));
}

const OURS = 'x-gateway-';
const COMPATIBLE = 'x-portkey-';

/** A client that used the compatible header names gets them in the response, too. */
function addHeaders(request: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-gateway-request-id', request.id);
  reply.header('x-content-type-options', 'nosniff');
  if (!reply.hasHeader('cache-control')) reply.header('cache-control', 'no-store');
  if (request.headers[`${COMPATIBLE}api-key`] === undefined) return;
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (name.startsWith(OURS) && value !== undefined) reply.header(name.replace(OURS, COMPATIBLE), value);
}
