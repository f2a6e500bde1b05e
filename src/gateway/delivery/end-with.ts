import { ServerResponse } from 'node:http';
import type { ClientResponse } from '../../common/http/messages.js';

/** Up to this size, a copy is cheaper than a second buffer in the write. */
const ONE_WRITE_BYTES_MAX = 16 * 1024;

/**
 * Ends a response with its whole body. Node writes head and body as one string if the body is one; each byte is a Latin-1 character and is
 * sent unchanged. `write` precedes `end`, because `end` with a body appends an empty buffer, which turns the single string into a vector.
 * The fast path does this by itself.
 */
export function endWith(response: ClientResponse, body: Buffer): void {
  const { socket } = response;
  if (!socket || body.length > ONE_WRITE_BYTES_MAX || !(response instanceof ServerResponse)) {
    response.end(body);
    return;
  }
  socket.cork();
  response.write(body.toString('latin1'), 'latin1');
  socket.uncork();
  response.end();
}
