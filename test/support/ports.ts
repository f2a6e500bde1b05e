import { createServer } from 'node:net';

/** Whether something could listen on this loopback port now. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}

/**
 * Below the range from which Linux takes ports for connections that go out (net.ipv4.ip_local_port_range, 32768 to 60999): one of
 * those would be taken again before a server that is only just starting has it, or while a server is restarted.
 */
const SINGLE = { start: 11_000, end: 18_000 };
const RANGE_START = 18_000;
const RANGE_END = 31_000;

/** A loopback port that nobody listens on, and that no connection takes by chance. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = SINGLE.start + Math.floor(Math.random() * (SINGLE.end - SINGLE.start));
    if (await isFree(port)) return port;
  }
}

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
