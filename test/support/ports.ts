import { createServer } from 'node:net';

/** Asks the system for a free port on the loopback. It may be taken again before use: try twice if that matters. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      if (address === null || typeof address === 'string') return reject(new Error('No port was given.'));
      probe.close(() => resolve(address.port));
    });
  });
}

/** Whether something could listen on this loopback port now. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}

const RANGE_START = 18_000;
const RANGE_END = 31_000;

/**
 * A run of ports that the gateway under test may call. It lies below the range from which the
 * system hands out ports, so that a listener on a port of the system's choice is never in it.
 */
export async function portRange(count: number): Promise<readonly number[]> {
  const slots = Math.floor((RANGE_END - RANGE_START) / count);
  const first = Math.floor(Math.random() * slots);
  for (let i = 0; i < slots; i++) {
    const start = RANGE_START + ((first + i) % slots) * count;
    const ports = Array.from({ length: count }, (_, offset) => start + offset);
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return ports;
  }
  throw new Error(`No ${count} free ports in a row between ${RANGE_START} and ${RANGE_END}.`);
}
