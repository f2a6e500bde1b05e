import { connect, type Socket } from 'node:net';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';

/** One answer as it stood on the wire. */
export interface RawAnswer {
  readonly status: number;
  readonly head: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
  /** Whether the whole body that the head announced was there. */
  readonly whole: boolean;
}

export interface RawExchange {
  readonly bytes: Buffer;
  readonly answers: readonly RawAnswer[];
  /** How the connection stood at the end. */
  readonly ended: 'closed' | 'reset' | 'open';
  readonly ms: number;
}

interface RawOptions {
  /** Give up waiting for more after this long, in milliseconds. Only where nothing comes is so long waited. */
  readonly waitMs?: number;
  /** Stop as soon as so many final answers are whole. Default: wait for the connection to end. */
  readonly answers?: number;
  /** Once an answer is whole, wait only so long for something else to happen, in milliseconds. */
  readonly lingerMs?: number;
  /** Speaks TLS with these options. */
  readonly tls?: ConnectionOptions;
}

/**
 * Sends exactly these bytes on a connection of their own and collects what comes back.
 * For what no HTTP client would ever send.
 */
export function rawExchange(
  baseUrl: string,
  bytes: string | Buffer | readonly (string | Buffer)[],
  { waitMs = 20_000, answers = Infinity, lingerMs, tls }: RawOptions = {},
): Promise<RawExchange> {
  const { hostname, port } = new URL(baseUrl);
  const started = Date.now();
  return new Promise((resolve) => {
    const received: Buffer[] = [];
    const to = { port: Number(port), host: hostname };
    const socket = tls ? connectTls({ ...to, ...tls }) : connect(to);
    const finish = (ended: RawExchange['ended']): void => {
      clearTimeout(timer);
      clearTimeout(linger);
      socket.destroy();
      const all = Buffer.concat(received);
      resolve({ bytes: all, answers: parseAnswers(all), ended, ms: Date.now() - started });
    };
    let linger: NodeJS.Timeout | undefined;
    const timer = setTimeout(() => finish('open'), waitMs);
    socket.on('data', (part) => {
      received.push(part);
      const whole = parseAnswers(Buffer.concat(received)).filter(
        (answer) => answer.whole && answer.status >= 200,
      );
      if (whole.length >= answers) finish('open');
      clearTimeout(linger);
      if (whole.length > 0 && lingerMs !== undefined) linger = setTimeout(() => finish('open'), lingerMs);
    });
    socket.once('error', () => finish('reset'));
    socket.once('close', () => finish('closed'));
    socket.once(
      tls ? 'secureConnect' : 'connect',
      () => void writeAll(socket, typeof bytes === 'string' || Buffer.isBuffer(bytes) ? [bytes] : bytes),
    );
  });
}

/** Each part goes into a packet of its own, as far as the system lets it. */
async function writeAll(socket: Socket, parts: readonly (string | Buffer)[]): Promise<void> {
  socket.setNoDelay(true);
  for (const part of parts) {
    if (socket.destroyed) return;
    socket.write(typeof part === 'string' ? Buffer.from(part, 'latin1') : part);
    if (parts.length > 1) await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

export function parseAnswers(bytes: Buffer): RawAnswer[] {
  const answers: RawAnswer[] = [];
  let at = 0;
  while (at < bytes.length) {
    const end = bytes.indexOf('\r\n\r\n', at);
    if (end < 0) break;
    const head = bytes.toString('latin1', at, end);
    const headers = headersOf(head);
    const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(head)?.[1] ?? 0);
    const { body, next, whole } = bodyAt(bytes, end + 4, status, headers);
    answers.push({ status, head, headers, body, whole });
    at = next;
  }
  return answers;
}

function headersOf(head: string): Map<string, string> {
  const lines = head.split('\r\n').slice(1);
  return new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
}

interface FoundBody {
  readonly body: Buffer;
  readonly next: number;
  readonly whole: boolean;
}

function bodyAt(
  bytes: Buffer,
  start: number,
  status: number,
  headers: ReadonlyMap<string, string>,
): FoundBody {
  if (status < 200 || status === 204 || status === 304)
    return { body: Buffer.alloc(0), next: start, whole: true };
  if (headers.get('transfer-encoding')?.toLowerCase() === 'chunked') return chunkedBodyAt(bytes, start);
  const length = headers.get('content-length');
  if (length === undefined) return { body: bytes.subarray(start), next: bytes.length, whole: false };
  const end = start + Number(length);
  return { body: bytes.subarray(start, end), next: Math.min(end, bytes.length), whole: end <= bytes.length };
}

function chunkedBodyAt(bytes: Buffer, start: number): FoundBody {
  const parts: Buffer[] = [];
  let at = start;
  for (;;) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return { body: Buffer.concat(parts), next: bytes.length, whole: false };
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16);
    const dataEnd = lineEnd + 2 + size;
    if (size === 0) {
      const end = bytes.indexOf('\r\n', lineEnd + 2);
      return { body: Buffer.concat(parts), next: end < 0 ? bytes.length : end + 2, whole: end >= 0 };
    }
    parts.push(bytes.subarray(lineEnd + 2, dataEnd));
    if (dataEnd + 2 > bytes.length) return { body: Buffer.concat(parts), next: bytes.length, whole: false };
    at = dataEnd + 2;
  }
}
