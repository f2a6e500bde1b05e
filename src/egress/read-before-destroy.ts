import type { Socket } from 'node:net';

/** How a write fails because the peer has closed. Reading then comes to an end by itself. */
const CLOSED_BY_PEER: ReadonlySet<string | undefined> = new Set(['ECONNRESET', 'EPIPE']);

/**
 * Keeps a socket readable after a write has failed, until what the peer sent is read.
 *
 * A provider that refuses an upload early answers, and closes its connection while the rest is still coming. The next write then
 * fails, and Node destroys the socket together with the answer that lies unread in it: its streams destroy themselves on an
 * error, and readers drop what comes after one (https://nodejs.org/docs/latest-v20.x/api/stream.html#writabledestroyerror).
 * Neither can be switched off for a socket, so its first `destroy` is caught where a failed write is the reason. The
 * kernel keeps what came before a reset, and reports the end behind it.
 */
export function readBeforeDestroy(socket: Socket): void {
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error?: NodeJS.ErrnoException) => {
    socket.destroy = destroy;
    if (error?.syscall !== 'write' || !CLOSED_BY_PEER.has(error.code)) return destroy(error);
    forgetError(socket);
    // Behind the listeners of the client, which may find that its answer is whole.
    return socket.once('end', () => destroy(error));
  };
}

/** Clears the mark by which a readable stream drops what it receives: lib/internal/streams/readable.js of Node 20 to 24. */
function forgetError(socket: Socket): void {
  const { _readableState: state } = socket as unknown as {
    readonly _readableState: { errored: Error | null };
  };
  state.errored = null;
}
