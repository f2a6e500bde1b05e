import { type AddressInfo, createServer, type Server, type Socket, connect } from 'node:net';
import { ConnectionPool, type PoolOptions } from '../../src/egress/http1/connection-pool.js';
import type { ResponseHandler } from '../../src/egress/http1/exchange.js';
import type { HttpRequest } from '../../src/egress/http1/request-head.js';
import type { Dice } from './random-bodies.js';

/** A provider on plain sockets that writes what it is told to, whatever HTTP says of it. */
export class RawUpstream {
  readonly sockets: Socket[] = [];
  /** What each connection brought, as text. */
  readonly received: string[] = [];
  port = 0;
  private readonly server: Server;

  constructor(onRequest: (socket: Socket, request: string, connection: number) => void) {
    this.server = createServer({ noDelay: true }, (socket) => {
      const connection = this.sockets.push(socket) - 1;
      this.received.push('');
      socket.on('error', () => undefined);
      socket.on('data', (bytes) => {
        const text = bytes.toString('latin1');
        this.received[connection] = `${this.received[connection] ?? ''}${text}`;
        onRequest(socket, text, connection);
      });
    });
  }

  async listen(): Promise<this> {
    await new Promise<void>((ready) => this.server.listen(0, '127.0.0.1', ready));
    this.port = (this.server.address() as AddressInfo).port;
    return this;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** How many connections are open, as the provider sees it. */
  get open(): number {
    return this.sockets.filter((socket) => !socket.readableEnded && !socket.destroyed).length;
  }

  close(): void {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }
}

/** Hears an answer and writes down what it heard. */
export class Recorder implements ResponseHandler {
  status = 0;
  headers: readonly string[] = [];
  statusText = '';
  readonly chunks: Buffer[] = [];
  ending: 'complete' | Error | null = null;
  connects = 0;
  abort: (reason?: Error) => void = () => undefined;
  resume: () => void = () => undefined;
  readonly ended: Promise<this>;
  private end: (self: this) => void = () => undefined;

  /** `takesMore`: what it answers to each piece. */
  constructor(private readonly takesMore: (self: Recorder) => boolean = () => true) {
    this.ended = new Promise((resolve) => (this.end = resolve));
  }

  get body(): Buffer {
    return Buffer.concat(this.chunks);
  }

  get text(): string {
    return this.body.toString('latin1');
  }

  onConnect(abort: (reason?: Error) => void): void {
    this.connects += 1;
    this.abort = abort;
  }

  onHeaders(status: number, rawHeaders: readonly string[], resume: () => void, statusText: string): boolean {
    if (this.status !== 0) throw new Error('two heads');
    this.status = status;
    this.headers = rawHeaders;
    this.statusText = statusText;
    this.resume = resume;
    return true;
  }

  onData(chunk: Buffer): boolean {
    if (this.status === 0 || this.ending) throw new Error('bytes out of their place');
    this.chunks.push(chunk);
    return this.takesMore(this);
  }

  onComplete(): void {
    this.over('complete');
  }

  onError(error: Error): void {
    this.over(error);
  }

  private over(ending: 'complete' | Error): void {
    if (this.ending) throw new Error('it ended twice');
    this.ending = ending;
    this.end(this);
  }
}

export const aRequest = (wishes: Partial<HttpRequest> = {}): HttpRequest => ({
  method: 'GET',
  path: '/',
  headers: [],
  body: null,
  ...wishes,
});

/** Connections to a provider on this machine, dialled without judgement. */
export function aPool(port: number, wishes: Partial<PoolOptions> = {}): ConnectionPool {
  return new ConnectionPool({
    host: `127.0.0.1:${port}`,
    connections: 64,
    keepAliveMs: 30_000,
    requestsPerConnection: 10_000,
    connect: (connected) => {
      const socket = connect(port, '127.0.0.1');
      const refused = (error: Error): void => connected(error, null);
      socket.once('error', refused);
      socket.once('connect', () => {
        socket.off('error', refused);
        connected(null, socket);
      });
    },
    ...wishes,
  });
}

const head = (...lines: readonly string[]): string => `${lines.join('\r\n')}\r\n\r\n`;
const OK = 'HTTP/1.1 200 OK';

/** Answers that are right, of every way in which a body may end. */
export const VALID_ANSWERS: readonly string[] = [
  `${head(OK, 'Content-Length: 5')}hello`,
  head(OK, 'content-length: 0', 'x-empty:', 'x-blank: \t ', 'X-Trailing: a \t'),
  `${head(OK, 'Connection: close')}until the end`,
  `${head('HTTP/1.0 200 OK')}until the end`,
  `${head('HTTP/1.0 200 OK', 'Connection: keep-alive', 'Content-Length: 2')}ok`,
  `${head(OK, 'Connection: close', 'Content-Length: 2')}ok`,
  `${head(OK, 'Transfer-Encoding: chunked')}5\r\nhello\r\n006\r\n world\r\n0\r\n\r\n`,
  `${head(OK, 'transfer-encoding:CHUNKED', 'Connection: close')}A;a=b;c="d, \\"e"\r\n0123456789\r\n0\r\nX-Trailer: 1\r\n\r\n`,
  `${head(OK, 'Transfer-Encoding: chunked', 'Trailer: x')}1\r\n\r\r\n1f\r\n${'\n'.repeat(31)}\r\n0;last\r\nx: y\r\nz: \r\n\r\n`,
  head('HTTP/1.1 204 No Content', 'x: y'),
  head('HTTP/1.1 304 Not Modified', 'etag: "a"'),
  head('HTTP/1.1 404'),
  `${head('HTTP/1.1 500 ', 'content-length: 2', 'x-latin1: \xe9\xff')}no`,
  `${head('HTTP/1.1 103 Early Hints', 'link: </x>')}${head('HTTP/1.1 102 Processing')}${head(OK, 'content-length: 2')}ok`,
  `${head(OK, 'Keep-Alive: timeout=5, max=100', 'Connection: Keep-Alive', 'Content-Length: 2')}ok`,
  `${head(OK, 'connection: x, close, y', 'content-length: 2', 'set-cookie: a=b', 'set-cookie: c=d')}ok`,
];

const TELLING = Array.from('\r\n\0\t :;,"\\=0123456789abcfxzA-\x7f\x80\xff').concat(
  '\r\n',
  '\r\n\r\n',
  '\n\n',
);

/** An answer with a few bytes put in, taken out, exchanged or repeated, or cut off. */
export function mutated(dice: Dice, answer: string): string {
  let text = answer;
  for (let left = 1 + dice.below(3); left > 0; left--) {
    const at = dice.below(text.length + 1);
    const length = dice.below(4);
    const put = dice.pick([
      () => dice.pick(TELLING) + text.slice(at),
      () => text.slice(at + 1),
      () => dice.pick(TELLING) + text.slice(at + 1),
      () => text.slice(at, at + length) + text.slice(at),
      () => text.slice(at, at + 20) + text.slice(at),
      () => (dice.below(4) === 0 ? '' : text.slice(at)),
    ]);
    text = text.slice(0, at) + put();
  }
  return text;
}
