import type { Duplex } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Origin } from '../../egress/origin.js';
import type { ResponseHandler } from '../../egress/http1/exchange.js';
import type { RequestBody } from '../types/content.js';
import type { StoredResponse } from '../types/stored-answer.js';
import type { Json } from '../../providers/endpoint.js';

/** Copies a passing response for the cache. */
export interface ResponseRecording {
  begin(status: number, rawHeaders: readonly string[]): void;
  add(chunk: Buffer): void;
  /** The last byte has arrived, or will not arrive. */
  over(hasFailed: boolean): void;
}

/** A request whose response the cache stores, if it is approved. */
export interface CacheFill {
  /** Records the next try, instead of the one before. */
  record(): ResponseRecording;
  /** The client received a successful response made from the last try. */
  approve(): void;
  /** Drops a response that is not approved. Requests that wait for it must not wait for another target's. */
  release(): void;
}

/** An upstream request. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: string[];
  readonly body: RequestBody;
  /** The protocol to upgrade the connection to, if any. */
  readonly upgrade?: 'websocket' | undefined;
  /** A text whose tokens the gateway counts itself: nothing is sent. */
  readonly counted?: string | undefined;
  /** The cached response: nothing is sent. */
  readonly stored?: StoredResponse | undefined;
  /** Records the response for the cache. */
  readonly cacheFill?: CacheFill | undefined;
  /**
   * The path of a second request like this one, taken from the first response: the second response is passed on. Throws an AppError if
   * there is none.
   */
  readonly next?: ((answer: Json) => string) | undefined;
}

/** Receives a response. */
export interface WireHandler extends ResponseHandler {
  /** The connection was upgraded: from now on the socket belongs to the caller. */
  onUpgrade(status: number, rawHeaders: readonly string[], socket: Duplex): void;
}

/** A destination of requests: connections to a provider, or the sandbox. */
export interface Wire {
  dispatch(request: WireRequest, handler: WireHandler): void;
}

/**
 * Connections to an origin as a wire: our own client if the request is in memory and the setting allows it, undici for a streaming body or
 * an upgrade.
 */
export function wireOf(connections: Origin, origin: string): Wire {
  return {
    dispatch: (request, handler) => {
      if (connections.connections && isWhole(request)) connections.connections.dispatch(request, handler);
      else dispatchByUndici(connections.dispatcher, origin, request, handler);
    },
  };
}

function isWhole(request: WireRequest): request is WireRequest & { readonly body: Buffer | null } {
  return request.upgrade === undefined && (request.body === null || Buffer.isBuffer(request.body));
}

function dispatchByUndici(
  dispatcher: Dispatcher,
  origin: string,
  { method, path, headers, body, upgrade }: WireRequest,
  handler: WireHandler,
): void {
  dispatcher.dispatch(
    { origin, method, path, headers, body: body as Dispatcher.DispatchOptions['body'], upgrade },
    new UndiciHandler(handler),
  );
}

/**
 * undici reports headers as bytes, and also interim responses. Its callback form of `dispatch`:
 * https://github.com/nodejs/undici/blob/v7.x/docs/docs/api/Dispatcher.md#dispatcherdispatchoptions-handler
 */
class UndiciHandler implements Dispatcher.DispatchHandler {
  constructor(private readonly handler: WireHandler) {}

  onConnect(abort: (reason?: Error) => void): void {
    this.handler.onConnect(abort);
  }

  onHeaders(status: number, rawHeaders: readonly Buffer[], resume: () => void, statusText: string): boolean {
    if (status < 200) return true;
    return this.handler.onHeaders(status, rawHeaders.map(text), resume, statusText);
  }

  onUpgrade(status: number, rawHeaders: readonly (Buffer | string)[] | null, socket: Duplex): void {
    this.handler.onUpgrade(status, (rawHeaders ?? []).map(text), socket);
  }

  onData(chunk: Buffer): boolean {
    return this.handler.onData(chunk);
  }

  onComplete(): void {
    this.handler.onComplete();
  }

  onError(error: Error): void {
    this.handler.onError(error);
  }
}

function text(bytes: Buffer | string): string {
  return bytes.toString('latin1');
}
