import { Transform, type TransformCallback } from 'node:stream';
import type { FastifyReply, FastifyRequest, preParsingHookHandler } from 'fastify';
import { AppError } from '../common/errors/app-error.js';
import { markUnreadable } from './readable-body.guard.js';

/** Media types that have a parser. `configureAdmin` adds them. */
const READ: ReadonlySet<string> = new Set([
  'application/json',
  'application/x-protobuf',
  'application/x-www-form-urlencoded',
]);

const LONGEST_CONTENT_TYPE = 100;

/**
 * Leaves a body unread that is announced too large or has a media type without a parser, and stops reading one that grows too large. The
 * framework would refuse these before the guards run, so that the attempt had no caller and no audit record; `ReadableBodyGuard` refuses
 * them behind the caller and its scope instead.
 */
export const leaveUnread: preParsingHookHandler = (request, reply, payload, done) => {
  const { headers, routeOptions } = request;
  const limitBytes = routeOptions.bodyLimit;
  const error = refusalOf(request, limitBytes);
  if (error) {
    refuse(request, reply, error);
    // Without these there is no body to parse: https://fastify.dev/docs/latest/Reference/ContentTypeParser/
    delete headers['content-length'];
    delete headers['transfer-encoding'];
    delete headers['content-type'];
    done(null, payload);
    return;
  }
  if (headers['transfer-encoding'] === undefined) {
    done(null, payload);
    return;
  }
  let bytes = 0;
  const bounded = new Transform({
    transform(chunk: Buffer, _encoding, next: TransformCallback) {
      bytes += chunk.length;
      if (bytes <= limitBytes) {
        next(null, chunk);
        return;
      }
      refuse(request, reply, new AppError('body_too_large', { limitBytes }));
      payload.unpipe(bounded);
      this.push(null);
    },
  });
  payload.once('error', (cause) => bounded.destroy(cause));
  done(null, payload.pipe(bounded));
};

function refusalOf({ method, headers }: FastifyRequest, limitBytes: number): AppError | null {
  const bytes = Number(headers['content-length'] ?? 0);
  if (bytes > limitBytes) return new AppError('body_too_large', { limitBytes });
  const hasBody = headers['transfer-encoding'] !== undefined || bytes > 0;
  const contentType = headers['content-type'] ?? (hasBody ? 'none' : undefined);
  // Nobody reads a body of these, so its type says nothing.
  if (contentType === undefined || method === 'GET' || method === 'HEAD') return null;
  if (READ.has(mediaTypeOf(contentType))) return null;
  return new AppError('unsupported_media_type', { contentType: contentType.slice(0, LONGEST_CONTENT_TYPE) });
}

const mediaTypeOf = (contentType: string): string =>
  (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();

/**
 * What is left of the body cannot be distinguished from the next request, so the connection ends with the answer. The relay, over its Unix socket,
 * ends it by itself: one that is closed on this side while it still writes would lose the answer.
 */
function refuse(request: FastifyRequest, reply: FastifyReply, error: AppError): void {
  markUnreadable(request, error);
  const isRelayed = request.raw.socket.remoteAddress === undefined;
  if (!isRelayed) reply.header('connection', 'close');
}
