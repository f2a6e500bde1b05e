import type { IncomingMessage } from 'node:http';
import { AppError } from '../../common/errors/app-error.js';
import type { Json } from '../../providers/endpoint.js';
import type { BodyCapture } from '../journal/capture.js';
import type { PassingBody } from '../upstream/wire.js';
import { announcedSize } from './request-hygiene.js';

/** Reads a whole body, at most `limitBytes` of it. Refuses a longer one before reading where its length is known. */
export function readBody(request: IncomingMessage, limitBytes: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limitBytes)
    return Promise.reject(new AppError('body_too_large', { limitBytes }));
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

/** The client went away before its request was whole. Nobody hears an answer. */
export class ClientLeft extends Error {
  override readonly name = 'ClientLeft';
}

export function parseJsonObject(body: Buffer): Json {
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'));
  } catch {
    throw new AppError('invalid_json', { detail: body.length === 0 ? 'it is empty' : 'it cannot be parsed' });
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new AppError('invalid_request', { detail: 'The request body must be a JSON object.' });
  return value as Json;
}

/**
 * A body on its way through: never whole in memory, and paused when the provider is slow. What a provider does not want of it any more
 * is read all the same: a client that sends first and listens then would wait for ever, and the next request of its connection too.
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
    // Ending the iteration must not destroy the request: its socket still has to carry our answer.
    const chunks = this.request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>;
    try {
      for await (const chunk of chunks) {
        this.capture.add(chunk);
        yield chunk;
      }
    } finally {
      this.request.resume();
    }
  }
}
