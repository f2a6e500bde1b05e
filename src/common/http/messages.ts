import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastRequest } from './fast-request.js';

/** A request of the data plane, from Node's server or from the fast path. */
export type ClientRequest = IncomingMessage | FastRequest;

/** The origin and head of a request, whichever parser read it. */
export type RequestOrigin = Pick<IncomingMessage, 'headers' | 'socket' | 'url'>;

/**
 * The response to a request: the part of Node's `ServerResponse` that the data plane uses, with the same names and meaning
 * (https://nodejs.org/docs/latest-v20.x/api/http.html#class-httpserverresponse). Headers are names and values in turn.
 */
export interface ClientResponse {
  /** The client has disconnected, or the response has ended. */
  readonly destroyed: boolean;
  /** The head is written; it may still wait for the first bytes of the body. */
  readonly headersSent: boolean;
  /** The complete response was passed to the system. */
  readonly writableFinished: boolean;
  readonly socket: Socket | null;
  sendDate: boolean;
  /** False: the connection ends with this response. */
  shouldKeepAlive: boolean;
  writeHead(status: number, headers: string[]): this;
  writeHead(status: number, statusText: string | undefined, headers: string[]): this;
  /** False when the client is slow: `drain` is emitted when it has read the backlog. */
  write(chunk: Buffer): boolean;
  end(last?: Buffer | string): unknown;
  flushHeaders(): void;
  destroy(): unknown;
  on(event: 'close', listener: () => void): unknown;
  once(event: 'drain', listener: () => void): unknown;
}
