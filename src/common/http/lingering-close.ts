import { FastRequest } from './fast-request.js';
import type { ClientRequest, ClientResponse } from './messages.js';
import type { Socket } from 'node:net';

/** Maximum time and bytes for a client to finish sending before its connection is closed. */
const LINGER_MS = 2_000;
const LINGER_BYTES = 64 * 1024 * 1024;

const closing = new WeakSet<Socket>();

/** Its last response has begun to leave, with `connection: close`: further bytes are not a request. */
export const isClosing = ({ socket }: ClientRequest): boolean => closing.has(socket);

/**
 * Ends a response with `connection: close` that was written completely. While the client still sends, the connection stays open until it is
 * done, or for a limited time: closing at once would answer further bytes with a reset, and the client would lose a response that it has
 * not read yet: https://www.rfc-editor.org/rfc/rfc9112#section-9.6
 */
export function endLingering(request: ClientRequest, response: ClientResponse): void {
  if (request instanceof FastRequest || request.complete || request.destroyed || response.destroyed) {
    response.end();
    return;
  }
  closing.add(request.socket);
  let bytes = 0;
  const count = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes > LINGER_BYTES) end();
  };
  const end = (): void => {
    clearTimeout(timer);
    request.off('data', count).off('end', end).off('close', end);
    response.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  request.on('data', count).once('end', end).once('close', end).resume();
}
