import { ServerResponse } from 'node:http';
import type { ClientResponse } from '../../common/http/messages.js';

/** Up to here a copy costs less than a second piece in the write. */
const ONE_WRITE_BYTES_MAX = 16 * 1024;

/**
 * Ends an answer with the whole of its body. Node writes head and body as one text when the body is one; each byte is a character of
 * Latin-1 and comes out as it was. Written and then ended, because `end` with a body adds an empty piece behind it, which makes a
 * vector of the one text. The fast path does so by itself.
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
