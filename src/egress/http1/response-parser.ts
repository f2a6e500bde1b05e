import { ChunkedBody } from './chunked-body.js';
import { connectionClosed, invalidResponse } from './http1-error.js';
import { type ParsedResponseHead, ResponseHeadReader } from './response-head.js';

/** Receives a response. `onHead` and `onBody` return whether more may be delivered; if not, `resume` continues. */
export interface ResponseEvents {
  /** Once, for the final status. */
  onHead(head: ParsedResponseHead): boolean;
  /** Bytes of the body: a view of the input. */
  onBody(bytes: Buffer): boolean;
  /** `isReusable`: the response leaves the connection ready for another request. */
  onEnd(isReusable: boolean): void;
}

type ParserPhase = 'idle' | 'head' | 'counted' | 'chunked' | 'until close' | 'whole';

const [SWITCHING_PROTOCOLS, OK, NO_CONTENT, NOT_MODIFIED] = [101, 200, 204, 304] as const;
const NOTHING = Buffer.alloc(0);

/**
 * Parses the bytes of responses, one response at a time. Pure: it has no socket. `push`, `resume` and `finish` throw an Http1Error when the
 * response is invalid, and any error of the listener; after that only `stop` and `begin` may be called.
 */
export class ResponseParser {
  isPaused = false;
  private phase: ParserPhase = 'idle';
  private isHeadRequest = false;
  /** Remaining bytes of the body, if its length is known. */
  private left = 0;
  /** Bytes received but not delivered, while the reader has paused. */
  private held: Buffer | null = null;
  /** The other side has closed, and not all was delivered. */
  private isClosed = false;
  private readonly head = new ResponseHeadReader();
  private readonly chunked = new ChunkedBody();

  constructor(private readonly events: ResponseEvents) {}

  /** Expects a response. `isHeadRequest`: it has no body, whatever its head announces. */
  begin(isHeadRequest: boolean): void {
    this.phase = 'head';
    this.isHeadRequest = isHeadRequest;
    this.head.begin();
  }

  /** Discards the rest. */
  stop(): void {
    this.phase = 'idle';
    this.isPaused = false;
    this.held = null;
  }

  push(chunk: Buffer): void {
    if (this.isPaused) this.held = this.held === null ? chunk : Buffer.concat([this.held, chunk]);
    else this.run(chunk);
  }

  /** The reader can continue. Does nothing if it has not paused. */
  resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    const chunk = this.held ?? NOTHING;
    this.held = null;
    this.run(chunk);
    if (this.isClosed && !this.isPaused) this.finish();
  }

  /** The other side has closed: this ends a body without another end; otherwise it is a failure. */
  finish(): void {
    this.isClosed = true;
    if (this.isPaused || this.phase === 'idle') return;
    if (this.phase === 'until close') return this.end(false);
    // A peer that announced `close` and closed too early has sent a wrong length.
    throw this.phase === 'head' || this.head.keepsAlive
      ? connectionClosed()
      : invalidResponse('the body is shorter than its content-length');
  }

  private run(chunk: Buffer): void {
    let at = 0;
    while (this.phase !== 'idle') {
      if (this.isPaused) {
        if (at < chunk.length) this.held = at === 0 ? chunk : chunk.subarray(at);
        return;
      }
      if (this.phase === 'whole')
        return this.end(at === chunk.length && this.head.keepsAlive && !this.isClosed);
      if (at === chunk.length) return;
      at = this.step(chunk, at);
    }
  }

  /** Reads the next part. Returns where the following one begins. */
  private step(chunk: Buffer, at: number): number {
    if (this.phase === 'head') return this.readHead(chunk, at);
    if (this.phase === 'chunked') return this.readChunked(chunk, at);
    if (this.phase === 'until close') return this.give(chunk, at, chunk.length);
    const end = Math.min(chunk.length, at + this.left);
    this.left -= end - at;
    if (this.left === 0) this.phase = 'whole';
    return this.give(chunk, at, end);
  }

  private readHead(chunk: Buffer, at: number): number {
    const { head } = this;
    const end = head.read(chunk, at);
    if (end < 0) return chunk.length;
    if (head.status < OK) this.skipInterim(head);
    else {
      this.phase = this.bodyOf(head);
      if (!this.events.onHead(head)) this.pause();
    }
    return end;
  }

  /** 100 is skipped as well, though no request expects it: https://www.rfc-editor.org/rfc/rfc9110#section-15.2 */
  private skipInterim({ status, keepsAlive }: ParsedResponseHead): void {
    if (status === SWITCHING_PROTOCOLS) throw invalidResponse(`status ${status} was not asked for`);
    if (!keepsAlive) throw invalidResponse('an interim response ends the connection');
    this.head.beginNext();
  }

  /** https://www.rfc-editor.org/rfc/rfc9112#section-6.3 */
  private bodyOf({ status, contentLength, isChunked }: ParsedResponseHead): ParserPhase {
    if (status === NO_CONTENT && contentLength > 0 && !this.isHeadRequest)
      throw invalidResponse('it has no content and a length');
    if (this.isHeadRequest || status === NO_CONTENT || status === NOT_MODIFIED) return 'whole';
    if (isChunked) {
      this.chunked.begin();
      return 'chunked';
    }
    if (contentLength < 0) return 'until close';
    this.left = contentLength;
    return contentLength === 0 ? 'whole' : 'counted';
  }

  private readChunked(chunk: Buffer, at: number): number {
    const { chunked } = this;
    if (chunked.left === 0) {
      const next = chunked.read(chunk, at);
      if (chunked.isDone) this.phase = 'whole';
      return next;
    }
    const end = Math.min(chunk.length, at + chunked.left);
    chunked.left -= end - at;
    return this.give(chunk, at, end);
  }

  private give(chunk: Buffer, start: number, end: number): number {
    const isAll = start === 0 && end === chunk.length;
    if (!this.events.onBody(isAll ? chunk : chunk.subarray(start, end))) this.pause();
    return end;
  }

  /** A reader that has stopped the response in the meantime waits for nothing. */
  private pause(): void {
    this.isPaused = this.phase !== 'idle';
  }

  private end(isReusable: boolean): void {
    this.phase = 'idle';
    this.head.forget();
    this.events.onEnd(isReusable);
  }
}
