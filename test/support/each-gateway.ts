import type { Service } from './service.js';

/**
 * Calls `use` once for each gateway process while the others are stopped. They share one listening socket, and which of them accepts
 * a connection is chance: on a busy machine one can take dozens in a row. `use` must open a connection of its own.
 */
export async function inEachGateway<T>(service: Service, use: () => Promise<T>): Promise<T[]> {
  const { gateways } = service.pids;
  const results: T[] = [];
  for (const pid of gateways) {
    const others = gateways.filter((other) => other !== pid);
    for (const other of others) process.kill(other, 'SIGSTOP');
    try {
      results.push(await use());
    } finally {
      for (const other of others) process.kill(other, 'SIGCONT');
    }
  }
  return results;
}
