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
const SINGLE = part(11_000, 18_000);
const RANGE = part(18_000, 31_000);

/**
 * A port that was found free is not yet taken, and a range is taken port by port. So runs that go on at the same time are told by
 * TEST_PORTS which part is theirs: `2/3` is the second of three; without it a run has all.
 */
function part(start: number, end: number): { readonly start: number; readonly end: number } {
  const [index = 1, count = 1] = (process.env['TEST_PORTS'] ?? '1/1').split('/').map(Number);
  const size = Math.floor((end - start) / count);
  return { start: start + (index - 1) * size, end: start + index * size };
}

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
  const slots = Math.floor((RANGE.end - RANGE.start) / count);
  const first = Math.floor(Math.random() * slots);
  for (let i = 0; i < slots; i++) {
    const start = RANGE.start + ((first + i) % slots) * count;
    const ports = Array.from({ length: count }, (_, offset) => start + offset);
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return ports;
  }
  throw new Error(`No ${count} free ports in a row between ${RANGE.start} and ${RANGE.end}.`);
}
