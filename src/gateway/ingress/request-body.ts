import type { IncomingMessage } from 'node:http';
import { FastRequest } from '../../common/http/fast-request.js';
import type { ClientRequest } from '../../common/http/messages.js';
import { AppError } from '../../common/errors/app-error.js';
import { withoutByteOrderMark } from '../../common/json/byte-order-mark.js';
import { jsonFault } from '../../common/json/json-fault.js';
import type { Json } from '../../providers/endpoint.js';
import type { BodyCapture } from '../recording/capture.js';
import type { PassingBody } from '../types/content.js';
import { ClientLeft } from '../types/client-left.js';
import { announcedSize } from './request-hygiene.js';

/** Reads a whole body of up to `limitBytes`. Refuses a longer one before reading if its length is known. */
export function readBody(request: ClientRequest, limitBytes: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limitBytes)
    return Promise.reject(new AppError('body_too_large', { limitBytes }));
  return request instanceof FastRequest ? Promise.resolve(wholeBody(request)) : collect(request, limitBytes);
}

/** The body of a request that arrived whole. Throws ClientLeft if it did not. */
export function wholeBody({ body, complete }: FastRequest): Buffer {
  if (!complete) throw new ClientLeft();
  return body;
}

function collect(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      chunks.push(chunk);
      if (bytes <= limitBytes) return;
      request.off('data', onData).pause();
      reject(new AppError('body_too_large', { limitBytes }));
    };
    request.on('data', onData);
    request.once('end', () => {
      request.off('data', onData);
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, bytes));
    });
    request.once('close', () => {
      if (!request.complete) reject(new ClientLeft());
    });
  });
}

export function parseJsonObject(body: Buffer): Json {
  const text = withoutByteOrderMark(body.toString('utf8'));
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new AppError('invalid_json', { detail: jsonFault(text) });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new AppError('invalid_request', { detail: 'The request body must be a JSON object.' });
  return value as Json;
}

/** The chunks of a body, as they arrive. */
export function bodyChunks(request: ClientRequest): AsyncIterableIterator<Buffer> {
  if (request instanceof FastRequest) return onePiece(request);
  // Ending the iteration must not destroy the request: its socket still carries the response.
  return request.iterator({ destroyOnReturn: false }) as AsyncIterableIterator<Buffer>;
}

async function* onePiece(request: FastRequest): AsyncGenerator<Buffer> {
  const body = wholeBody(request);
  if (body.length > 0) yield body;
}

/**
 * A body that streams through: never whole in memory, and paused when the provider is slow. The rest is read even if the provider needs no
 * more of it: otherwise a client that sends everything before it reads, and the next request of its connection, would wait indefinitely.
 */
export class BodyStream implements PassingBody {
  readonly size: number | null;

  constructor(
    private readonly request: IncomingMessage,
    private readonly capture: BodyCapture,
  ) {
    this.size = announcedSize(request);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of bodyChunks(this.request)) {
        this.capture.add(chunk);
        yield chunk;
      }
    } finally {
      this.request.resume();
    }
  }
}
