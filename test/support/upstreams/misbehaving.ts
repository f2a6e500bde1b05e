import { createServer, type Server, type Socket } from 'node:net';
import { listenOnOneOf, stopListening } from './listen.js';

/** One call as the raw provider saw it. */
export interface RawCall {
  readonly behaviour: string;
  readonly head: string;
  readonly at: number;
  closedAt: number | null;
}

type Behaviour = (socket: Socket, call: RawCall) => void | Promise<void>;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const JSON_BODY = '{"ok":true}';
const plain = (body: string, status = '200 OK'): string =>
  `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
const SSE_HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n';
const chunk = (text: string | Buffer): Buffer => {
  const bytes = Buffer.from(text as string);
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
};

/** Text of the answer by which an unsolicited answer can be told from a real one. */
const UNSOLICITED = 'UNSOLICITED-ANSWER';

const sseDelta = (content: string): string =>
  JSON.stringify({
    id: 'chatcmpl-raw',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'gpt-4o-mini-2024-07-18',
    choices: [{ index: 0, delta: { content }, finish_reason: null }],
  });

const SSE_USAGE = JSON.stringify({
  id: 'chatcmpl-raw',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'gpt-4o-mini-2024-07-18',
  choices: [],
  usage: { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 },
});

/** A legal stream with every oddity that the format allows, cut inside a character and inside line ends. */
export const ODD_STREAM = Buffer.concat([
  Buffer.from('\uFEFF: a comment first\r\n\r\n'),
  Buffer.from(`data: ${sseDelta('crlf')}\r\n\r\n`),
  Buffer.from(`data: ${sseDelta('cr')}\r\r`),
  Buffer.from(`:\n:keep-alive\ndata:${sseDelta('no blank after the colon')}\n\n`),
  Buffer.from(`event: message\nid: 7\nretry: 10\ndata: ${sseDelta('żółć — 🦉')}\n\n`),
  Buffer.from(
    `data: ${SSE_USAGE.slice(0, SSE_USAGE.indexOf(',') + 1)}\ndata: ${SSE_USAGE.slice(SSE_USAGE.indexOf(',') + 1)}\n\n`,
  ),
  Buffer.from('data: [DONE]\n\n'),
]);

/** What the raw provider can do, by name. The first segment of the called path that is such a name chooses. */
const BEHAVIOURS: Readonly<Record<string, Behaviour>> = {
  fine: (socket) => void socket.write(plain(JSON_BODY)),
  'duplicate-length': (socket) =>
    void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n123456'),
  'short-body': (socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n12345'),
  'cut-chunked': (socket) =>
    void socket.end(`${SSE_HEAD}${chunk(`data: ${sseDelta('one')}\n\n`).toString()}`),
  'status-999': (socket) => void socket.write(plain(JSON_BODY, '999 Odd')),
  'status-099': (socket) => void socket.write(plain(JSON_BODY, '099 Odd')),
  'status-word': (socket) => void socket.write(plain(JSON_BODY, 'abc Odd')),
  'not-http': (socket) => void socket.end('SSH-2.0-OpenSSH_9.2p1\r\n'),
  'huge-header': (socket) =>
    void socket.write(`HTTP/1.1 200 OK\r\nx-big: ${'a'.repeat(70_000)}\r\ncontent-length: 2\r\n\r\n{}`),
  'length-and-chunked': (socket) =>
    void socket.write(
      'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
    ),
  'bad-chunk': (socket) =>
    void socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nnot a size\r\n'),
  'no-content-with-body': (socket) =>
    void socket.write('HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\n12345'),
  unsolicited: async (socket) => {
    socket.write(plain(JSON_BODY));
    await pause(20);
    socket.write(plain(`{"text":"${UNSOLICITED}"}`));
  },
  'close-at-once': (socket) => void socket.destroy(),
  never: () => undefined,
  'reset-before-head': (socket) => void socket.resetAndDestroy(),
  'reset-after-head': async (socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n');
    await pause(50);
    socket.resetAndDestroy();
  },
  'reset-mid-stream': async (socket) => {
    socket.write(SSE_HEAD);
    for (let i = 0; i < 3; i++) {
      socket.write(chunk(`data: ${sseDelta(`part ${i}`)}\n\n`));
      await pause(30);
    }
    socket.resetAndDestroy();
  },
  'stall-mid-stream': (socket) =>
    void socket.write(Buffer.concat([Buffer.from(SSE_HEAD), chunk(`data: ${sseDelta('one')}\n\n`)])),
  'early-hints': (socket) =>
    void socket.write(`HTTP/1.1 103 Early Hints\r\nlink: </x>; rel=preload\r\n\r\n${plain(JSON_BODY)}`),
  'odd-stream': async (socket) => {
    socket.write(SSE_HEAD);
    for (let at = 0; at < ODD_STREAM.length; at += 7) {
      socket.write(chunk(ODD_STREAM.subarray(at, at + 7)));
      if (at % 5 === 0) await pause(1);
    }
    socket.write('0\r\n\r\n');
  },
  'layered-gzip': (socket) => {
    const encodings = Array.from({ length: 1000 }, () => 'gzip').join(', ');
    socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: ${encodings}\r\ncontent-length: 4\r\n\r\nbomb`);
  },
};

/** A provider that breaks the rules of HTTP on purpose, on a plain socket. */
export class MisbehavingUpstream {
  readonly calls: RawCall[] = [];
  port = 0;
  private readonly sockets = new Set<Socket>();
  private readonly server: Server = createServer((socket) => this.accept(socket));

  static async start(ports: readonly number[] = [0]): Promise<MisbehavingUpstream> {
    const upstream = new MisbehavingUpstream();
    upstream.port = await listenOnOneOf(upstream.server, ports);
    return upstream;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  callsOf(behaviour: string): readonly RawCall[] {
    return this.calls.filter((call) => call.behaviour === behaviour);
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await stopListening(this.server);
  }

  private accept(socket: Socket): void {
    this.sockets.add(socket);
    const mine: RawCall[] = [];
    let unread: Buffer = Buffer.alloc(0);
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.sockets.delete(socket);
      for (const call of mine) call.closedAt = Date.now();
    });
    socket.on('data', (part: Buffer) => {
      unread = Buffer.concat([unread, part]);
      for (let request = takeRequest(unread); request; request = takeRequest(unread)) {
        unread = request.rest;
        const segments = (request.head.split(' ', 2)[1] ?? '').split(/[/?]/);
        const behaviour = segments.find((segment) => segment in BEHAVIOURS) ?? 'fine';
        const call: RawCall = {
          behaviour,
          head: request.head,
          at: Date.now(),
          closedAt: null,
        };
        this.calls.push(call);
        mine.push(call);
        void BEHAVIOURS[behaviour]?.(socket, call);
      }
    });
  }
}

/** Takes one whole request off the front of what was read, or null while it is not whole. */
function takeRequest(bytes: Buffer): { head: string; rest: Buffer } | null {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const head = bytes.toString('latin1', 0, end);
  const length = Number(/^content-length: *(\d+)$/im.exec(head)?.[1] ?? 0);
  if (/^transfer-encoding: *chunked$/im.test(head)) {
    const last = bytes.indexOf('0\r\n\r\n', end + 4);
    return last < 0 ? null : { head, rest: bytes.subarray(last + 5) };
  }
  return bytes.length < end + 4 + length ? null : { head, rest: bytes.subarray(end + 4 + length) };
}
