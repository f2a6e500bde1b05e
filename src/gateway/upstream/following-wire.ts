import { AppError } from '../../common/errors/app-error.js';
import { parsedObject } from '../recording/reading.js';
import type { Wire, WireHandler, WireRequest } from './wire.js';

/** Maximum size of the first response. */
const ANSWER_BYTES_MAX = 1024 * 1024;

/**
 * Two consecutive requests: the first response names the path of the second, and the second response is passed on. A first response that is
 * a refusal is passed on itself.
 */
export function followingWire(wire: Wire, next: NonNullable<WireRequest['next']>): Wire {
  return {
    dispatch: (request, handler) => {
      wire.dispatch(
        { ...request, headers: plainly(request.headers) },
        new FollowingHandler(handler, (answer) => {
          wire.dispatch({ ...request, path: next(answer) }, handler);
        }),
      );
    },
  };
}

/** Client headers for its own response, which could make the first one unreadable. */
const RESPONSE_HEADERS: ReadonlySet<string> = new Set([
  'accept-encoding',
  'range',
  'if-range',
  'if-none-match',
  'if-modified-since',
]);

function plainly(headers: readonly string[]): string[] {
  const plain = ['accept-encoding', 'identity'];
  for (let at = 0; at < headers.length; at += 2)
    if (!RESPONSE_HEADERS.has((headers[at] as string).toLowerCase()))
      plain.push(headers[at] as string, headers[at + 1] as string);
  return plain;
}

type Follow = (answer: NonNullable<ReturnType<typeof parsedObject>>) => void;

/** Receives the first response. */
class FollowingHandler implements WireHandler {
  private chunks: Buffer[] = [];
  private bytes = 0;
  private isHeard = false;
  /** The handler to notify, until then; a connection may keep this object longer than the exchange needs it. */
  private outer: { readonly handler: WireHandler; readonly follow: Follow } | null;

  constructor(handler: WireHandler, follow: Follow) {
    this.outer = { handler, follow };
  }

  onConnect(abort: (reason?: Error) => void): void {
    this.outer?.handler.onConnect(abort);
  }

  onHeaders(status: number, rawHeaders: readonly string[], resume: () => void, statusText: string): boolean {
    this.isHeard = status >= 300;
    return this.isHeard
      ? (this.outer?.handler.onHeaders(status, rawHeaders, resume, statusText) ?? true)
      : true;
  }

  onUpgrade(...said: Parameters<WireHandler['onUpgrade']>): void {
    this.outer?.handler.onUpgrade(...said);
  }

  onData(chunk: Buffer): boolean {
    if (this.isHeard) return this.outer?.handler.onData(chunk) ?? true;
    this.bytes += chunk.length;
    if (this.bytes <= ANSWER_BYTES_MAX) this.chunks.push(chunk);
    return true;
  }

  onComplete(): void {
    const { outer, chunks, bytes } = this;
    this.outer = null;
    this.chunks = [];
    if (!outer) return;
    if (this.isHeard) return outer.handler.onComplete();
    const answer = bytes <= ANSWER_BYTES_MAX ? parsedObject(Buffer.concat(chunks).toString('utf8')) : null;
    try {
      if (!answer) throw new AppError('upstream_protocol_error');
      outer.follow(answer);
    } catch (error) {
      outer.handler.onError(error as Error);
    }
  }

  onError(error: Error): void {
    const { outer } = this;
    this.outer = null;
    outer?.handler.onError(error);
  }
}
