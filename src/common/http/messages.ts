import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastRequest } from './fast-request.js';

/** A request of the data plane: as Node's server reads it, or the fast path. */
export type ClientRequest = IncomingMessage | FastRequest;

/** Where a request comes from and what stands in its head, whoever has read it. */
export type RequestOrigin = Pick<IncomingMessage, 'headers' | 'socket'>;

/**
 * Where the answer to a request goes: what the data plane uses of Node's `ServerResponse`, by the same names and with the same
 * meaning (https://nodejs.org/docs/latest-v20.x/api/http.html#class-httpserverresponse). Headers are names and values in turn.
 */
export interface ClientResponse {
  /** The client is gone, or the answer is over. */
  readonly destroyed: boolean;
  /** The head is written; it may still wait for the first bytes of the body. */
  readonly headersSent: boolean;
  /** All of the answer is with the system. */
  readonly writableFinished: boolean;
  readonly socket: Socket | null;
  sendDate: boolean;
  /** False: the connection ends with this answer. */
  shouldKeepAlive: boolean;
  writeHead(status: number, headers: string[]): this;
  writeHead(status: number, statusText: string | undefined, headers: string[]): this;
  /** False when the client is slow: `drain` tells when it has read what there is. */
  write(chunk: Buffer): boolean;
  end(last?: Buffer | string): unknown;
  flushHeaders(): void;
  destroy(): unknown;
  on(event: 'close', listener: () => void): unknown;
  once(event: 'close' | 'drain', listener: () => void): unknown;
  off(event: 'close', listener: () => void): unknown;
}
