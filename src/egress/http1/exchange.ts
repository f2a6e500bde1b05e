import { Http1Error } from './http1-error.js';
import { type HttpRequest, OutgoingRequestHead } from './request-head.js';

/**
 * Receives a response. Exactly one of `onComplete` and `onError` ends it; `onError` may come alone. An error thrown by one of the others
 * ends the exchange and arrives in `onError`.
 */
export interface ResponseHandler {
  /** Right before the request is written. If it is aborted here, nothing is sent. */
  onConnect(abort: (reason?: Error) => void): void;
  /** Once, for the final status; names and values in turn, in latin1. False pauses: nothing more is delivered until `resume` is called. */
  onHeaders(status: number, rawHeaders: readonly string[], resume: () => void, statusText: string): boolean;
  /** Bytes of the body, a view of the input. False pauses. */
  onData(chunk: Buffer): boolean;
  onComplete(): void;
  onError(error: Error): void;
}

/** An exchange's interface to its connection. */
export interface Carrier {
  abort(reason: Error): void;
  resume(): void;
}

/** One request and its response. */
export class HttpExchange {
  readonly head: OutgoingRequestHead;
  readonly isHead: boolean;
  readonly body: Buffer | null;
  /** The connection, from `onConnect` until the exchange ends. */
  carrier: Carrier | null = null;
  /** The next one in the queue of its pool. */
  next: HttpExchange | null = null;
  /** Its index among those whose connection is being opened. */
  place = -1;

  /** Throws an InvalidRequestError. */
  constructor(
    request: HttpRequest,
    host: string,
    readonly handler: ResponseHandler,
  ) {
    this.head = new OutgoingRequestHead(request, host);
    this.isHead = request.method === 'HEAD';
    this.body = request.body;
  }

  /** Does nothing once the exchange has ended, whatever its connection is doing by then. */
  readonly abort = (reason?: Error): void => {
    this.carrier?.abort(reason ?? new Http1Error('HTTP1_ABORTED', 'the request was aborted'));
  };

  readonly resume = (): void => {
    this.carrier?.resume();
  };

  complete(): void {
    this.carrier = null;
    try {
      this.handler.onComplete();
    } catch (error) {
      this.handler.onError(error as Error);
    }
  }

  fail(error: Error): void {
    this.carrier = null;
    this.handler.onError(error);
  }
}
