import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditTarget } from '../../common/contracts/audit-destination.js';
import type { Egress } from '../../egress/egress.js';
import type { AuditMessage } from './audit-message.js';
import { datagram, framed, syslogMessage } from './syslog-message.js';

type SyslogTarget = Extract<AuditTarget, { type: 'syslog' }>;

/**
 * Sends records as syslog. Syslog has no responses, so over TCP and TLS a connection carries one batch and closing it is the confirmation:
 * the batch is delivered when the receiver closes its side after we closed ours, which it does after reading everything. Whether a datagram
 * arrives is unknown.
 */
export async function sendSyslog(
  egress: Egress,
  { transport, endpoint }: SyslogTarget,
  messages: readonly AuditMessage[],
  { ca, signal }: { readonly ca: string | null; readonly signal: AbortSignal },
): Promise<void> {
  const written = messages.map(syslogMessage);
  if (transport === 'udp') return egress.sendDatagrams(endpoint, written.map(datagram));
  const startedAt = performance.now();
  const socket = await egress.openSocket(endpoint, ca ?? undefined);
  const roundTripMs = Math.max(SHORTEST_WAIT_MS, performance.now() - startedAt);
  try {
    await writeAll(socket, Buffer.concat(written.map(framed)), { roundTripMs, signal });
  } finally {
    socket.destroy();
  }
}

const SHORTEST_WAIT_MS = 20;

/**
 * A receiver that closed before our bytes arrived signals it within one round trip after they were sent (connecting took at least one); one
 * that closes with unread bytes resets the connection. So our side stays open that long.
 */
async function writeAll(
  socket: Socket,
  bytes: Buffer,
  { roundTripMs, signal }: { readonly roundTripMs: number; readonly signal: AbortSignal },
): Promise<void> {
  const ended = once(socket, 'end', { signal });
  // It may fail while other work is awaited.
  ended.catch(() => undefined);
  // Received data is read, to reach its end, and discarded.
  socket.resume();
  await new Promise<void>((resolve, reject) => {
    socket.write(bytes, (error) => (error ? reject(error) : resolve()));
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
  await sleep(roundTripMs, undefined, { signal });
  if (socket.readableEnded) throw new Error('the receiver closed the connection before it had everything');
  socket.end();
  await ended;
}
