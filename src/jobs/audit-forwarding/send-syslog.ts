import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { hostname } from 'node:os';
import type { AuditTarget } from '../../common/contracts/audit-destination.js';
import type { Egress } from '../../egress/egress.js';
import type { AuditMessage } from './audit-message.js';
import type { AuditOutcome } from '../../admin/audit/audit-record.entity.js';

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

/** "log audit", https://www.rfc-editor.org/rfc/rfc5424#section-6.2.1 */
const FACILITY = 13;
const SEVERITY: Readonly<Record<AuditOutcome, number>> = { success: 5, refused: 4, failed: 3 };

const LONGEST_HOST = 255;
const LONGEST_ID = 32;
/** Maximum size of a datagram over IPv4 and IPv6. */
const LONGEST_DATAGRAM = 65_000;

const HOST = printable(hostname(), LONGEST_HOST);

/**
 * A record as syslog: header, no structured data, and the JSON line as the message. Without a byte order mark, because receivers that parse
 * JSON fail on it. https://www.rfc-editor.org/rfc/rfc5424#section-6
 */
function syslogMessage({ record, json }: AuditMessage): Buffer {
  const priority = FACILITY * 8 + SEVERITY[record.outcome];
  const id = printable(record.action, LONGEST_ID);
  return Buffer.from(`<${priority}>1 ${record.at.toISOString()} ${HOST} gatehouse - ${id} - ${json}`, 'utf8');
}

/** Octet counting: content of a record can never end its frame. https://www.rfc-editor.org/rfc/rfc6587#section-3.4.1 */
function framed(message: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${message.length} `, 'latin1'), message]);
}

/** Truncates records that are too long for a datagram, the only way that https://www.rfc-editor.org/rfc/rfc5426#section-3.2 allows. */
function datagram(message: Buffer): Buffer {
  return message.subarray(0, LONGEST_DATAGRAM);
}

function printable(text: string, longest: number): string {
  return text.replace(/[^!-~]/g, '').slice(0, longest) || '-';
}
