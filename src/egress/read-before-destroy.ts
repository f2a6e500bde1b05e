import type { Socket } from 'node:net';

/** Errors of a write after the peer has closed. Reading then ends by itself. */
const CLOSED_BY_PEER: ReadonlySet<string | undefined> = new Set(['ECONNRESET', 'EPIPE']);

/**
 * Keeps a socket readable after a failed write until the peer's data is read.
 *
 * A provider that refuses an upload early responds, and closes its connection while the rest is still being sent. The next write then
 * fails, and Node destroys the socket together with the unread response: its streams destroy themselves on an error, and readers drop what
 * arrives after one (https://nodejs.org/docs/latest-v20.x/api/stream.html#writabledestroyerror). Neither can be switched off for a socket,
 * so its first `destroy` is intercepted if a failed write is the reason. The kernel keeps what arrived before a reset, and reports the end
 * after it.
 */
export function readBeforeDestroy(socket: Socket): void {
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error?: NodeJS.ErrnoException) => {
    socket.destroy = destroy;
    if (error?.syscall !== 'write' || !CLOSED_BY_PEER.has(error.code)) return destroy(error);
    forgetError(socket);
    // After the client's listeners, which may find that its response is complete.
    return socket.once('end', () => destroy(error));
  };
}

/** Clears the flag that makes a readable stream drop received data: lib/internal/streams/readable.js of Node 20 to 24. */
function forgetError(socket: Socket): void {
  const { _readableState: state } = socket as unknown as {
    readonly _readableState: { errored: Error | null };
  };
  state.errored = null;
}
