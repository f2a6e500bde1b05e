import { FastRequest } from './fast-request.js';
import type { ClientRequest, ClientResponse } from './messages.js';
import type { Socket } from 'node:net';

/** A client sends its rest so long and so much at most before its connection is closed all the same. */
const LINGER_MS = 2_000;
const LINGER_BYTES = 64 * 1024 * 1024;

const closing = new WeakSet<Socket>();

/** Its last answer has begun to leave, with `connection: close`: what comes on it now is no request any more. */
export const isClosing = ({ socket }: ClientRequest): boolean => closing.has(socket);

/**
 * Ends an answer that says `connection: close` and has been written to its last byte. While the client still sends, the connection stays until it is
 * through, or for a while: on one that is closed at once, bytes that still come are answered with a reset, and with that the client loses
 * an answer which it has not read yet: https://www.rfc-editor.org/rfc/rfc9112#section-9.6
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
