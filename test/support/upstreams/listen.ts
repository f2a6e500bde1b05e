import type { Server } from 'node:net';

/** Listens on the first of these loopback ports that is free. Port 0 leaves the choice to the system. */
export async function listenOnOneOf(server: Server, ports: readonly number[]): Promise<number> {
  for (const port of ports) {
    const bound = await tryPort(server, port);
    if (bound !== null) return bound;
  }
  throw new Error(`None of the ports ${ports.join(', ')} is free.`);
}

function tryPort(server: Server, port: number): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => {
      if (error.code === 'EADDRINUSE') resolve(null);
      else reject(error);
    };
    server.once('error', failed);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', failed);
      const address = server.address();
      resolve(address === null || typeof address === 'string' ? null : address.port);
    });
  });
}

export const stopListening = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
  });
