import type { Duplex } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { Lead } from '../caching/lead.js';
import type { StoredAnswer } from '../types/stored-answer.js';
import type { Json } from '../../providers/endpoint.js';

/** A body on its way through. */
export interface PassingBody extends AsyncIterable<Buffer> {
  /** Its size, where the client has told it; null where it comes in chunks, and goes on in such. */
  readonly size: number | null;
}

/** A request as it goes upstream. */
export interface WireRequest {
  readonly method: string;
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: string[];
  /** Bytes that are known, or a body on its way through; null for none. */
  readonly body: Buffer | PassingBody | null;
  /** The protocol that the connection is to change to, where it is. */
  readonly upgrade?: 'websocket' | undefined;
  /** A text whose tokens the gateway counts by itself: nothing is sent to anybody. */
  readonly counted?: string | undefined;
  /** The answer, where the cache has it: nothing is sent to anybody. */
  readonly stored?: StoredAnswer | undefined;
  /** Wants the answer for the cache. */
  readonly lead?: Lead | undefined;
  /**
   * The path of a second request like this one, by what the first answer says: its answer is the answer. Throws an AppError
   * where there is none.
   */
  readonly next?: ((answer: Json) => string) | undefined;
}

/**
 * What hears of an answer. The names are undici's own (its callback form of `dispatch`), so that
 * nothing stands between its parser and us.
 * https://github.com/nodejs/undici/blob/v7.x/docs/docs/api/Dispatcher.md#dispatcherdispatchoptions-handler
 */
export interface WireHandler {
  onConnect(abort: (reason?: Error) => void): void;
  onHeaders(status: number, rawHeaders: readonly Buffer[], resume: () => void, statusText: string): boolean;
  /** The connection has changed its protocol: from now on the socket is the caller's. */
  onUpgrade(status: number, rawHeaders: readonly (Buffer | string)[] | null, socket: Duplex): void;
  onData(chunk: Buffer): boolean;
  onComplete(): void;
  onError(error: Error): void;
}

/** Something that answers requests: a pool of connections, or the sandbox. */
export interface Wire {
  dispatch(request: WireRequest, handler: WireHandler): void;
}

/** A pool of connections as a wire. */
export function wireOf(pool: Dispatcher, origin: string): Wire {
  return {
    dispatch: ({ method, path, headers, body, upgrade }, handler) => {
      pool.dispatch(
        { origin, method, path, headers, body: body as Dispatcher.DispatchOptions['body'], upgrade },
        handler,
      );
    },
  };
}
