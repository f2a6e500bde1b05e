import { connect } from 'node:net';

/** Opens a connection and closes it. Rejects when nothing accepts it within this time (milliseconds). For checks by an operator. */
export function connectOnce(
  { host, port }: { readonly host: string; readonly port: number },
  withinMs: number,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, timeout: withinMs });
    socket.once('connect', () => {
      socket.destroy();
      resolve();
    });
    socket.once('timeout', () => socket.destroy(new Error(`no connection within ${withinMs / 1_000} s`)));
    socket.once('error', reject);
  });
}
