import { Transform, type TransformCallback } from 'node:stream';
import type { FastifyReply, FastifyRequest, preParsingHookHandler } from 'fastify';
import { AppError } from '../../common/errors/app-error.js';
import { markUnreadable } from './readable-body.guard.js';

/** Media types that have a parser. `configureAdmin` adds them. */
const READ: ReadonlySet<string> = new Set([
  'application/json',
  'application/x-protobuf',
  'application/x-www-form-urlencoded',
]);

const LONGEST_CONTENT_TYPE = 100;

/**
 * Leaves a body unread that announces too large a size or has a media type without a parser, and stops reading one that grows too large.
 * The framework would refuse these before the guards run, so the attempt would have no caller and no audit record; `ReadableBodyGuard`
 * refuses them after caller and scope are checked instead.
 */
export const leaveUnread: preParsingHookHandler = (request, reply, payload, done) => {
  const { headers, routeOptions } = request;
  const limitBytes = routeOptions.bodyLimit;
  const error = refusalOf(request, limitBytes);
  if (error) {
    refuse(request, reply, error);
    // Without these headers there is no body to parse: https://fastify.dev/docs/latest/Reference/ContentTypeParser/
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
  // Bodies of these methods are not read, so their type does not matter.
  if (contentType === undefined || method === 'GET' || method === 'HEAD') return null;
  if (READ.has(mediaTypeOf(contentType))) return null;
  return new AppError('unsupported_media_type', { contentType: contentType.slice(0, LONGEST_CONTENT_TYPE) });
}

const mediaTypeOf = (contentType: string): string =>
  (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();

/**
 * The rest of the body cannot be distinguished from the next request, so the connection closes after the response. The relay, over its Unix
 * socket, closes it itself: closing it on this side while the relay still writes would lose the response.
 */
function refuse(request: FastifyRequest, reply: FastifyReply, error: AppError): void {
  markUnreadable(request, error);
  const isRelayed = request.raw.socket.remoteAddress === undefined;
  if (!isRelayed) reply.header('connection', 'close');
}
