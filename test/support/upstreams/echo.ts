import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type HeaderList, pairs } from '../http-client.js';
import { eventually } from '../waiting.js';
import { listenOnOneOf, stopListening } from './listen.js';

/** What reached the provider, unchanged. */
export interface Received {
  readonly method: string;
  /** The request target exactly as it stood in the request line. */
  readonly target: string;
  readonly headers: HeaderList;
  /** The body while it is small enough to keep; its head otherwise. */
  readonly body: Buffer;
  readonly bytes: number;
  readonly sha256: string;
  /** Whether the body came to its regular end. */
  readonly complete: boolean;
  readonly at: number;
  /** When the gateway closed the call before the answer was over, or null. */
  readonly cancelledAt: number | null;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Head of a scripted answer, followed by a body; a function may take its time. */
export interface Script {
  readonly status?: number;
  readonly headers?: HeaderList;
  readonly body?:
    | Buffer
    | string
    | readonly Buffer[]
    | ((response: ServerResponse, received: Received) => Promise<void> | void);
  readonly delayMs?: number;
}

export type Respond = Script | ((received: Received) => Script | Promise<Script>);

const KEPT_BYTES = 1024 * 1024;

export const header = (received: Received, name: string): string | undefined =>
  received.headers.find(([given]) => given.toLowerCase() === name)?.[1];

/**
 * A provider that keeps a ledger of what reached it and answers as it was told, path by path.
 * Without a script it answers 200 with the facts of the request.
 */
export class EchoUpstream {
  readonly ledger: Received[] = [];
  port = 0;
  private readonly scripts = new Map<string, Respond>();
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;
  private fallback: Respond = facts;

  private constructor() {
    this.server = createServer(
      { keepAliveTimeout: 60_000, requestTimeout: 0, maxHeaderSize: 128 * 1024 },
      (request, response) => {
        this.answer(request, response).catch(() => response.destroy());
      },
    );
    this.server.maxHeadersCount = 0;
    this.server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.once('close', () => this.sockets.delete(socket));
    });
  }

  static async start(ports: readonly number[] = [0]): Promise<EchoUpstream> {
    const upstream = new EchoUpstream();
    upstream.port = await listenOnOneOf(upstream.server, ports);
    return upstream;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Sockets that are open now. */
  get connections(): number {
    return this.sockets.size;
  }

  /** Sets the answer for a path (the query is not part of it). */
  on(path: string, respond: Respond): this {
    this.scripts.set(path, respond);
    return this;
  }

  /** Sets the answer for every path without one of its own. */
  otherwise(respond: Respond): this {
    this.fallback = respond;
    return this;
  }

  reset(): void {
    this.ledger.length = 0;
    this.scripts.clear();
    this.fallback = facts;
  }

  callsTo(path: string): readonly Received[] {
    return this.ledger.filter(({ target }) => target.split('?', 1)[0] === path);
  }

  /** The one call that reached this path; fails when there is another. */
  async only(path: string): Promise<Received> {
    await eventually(() => this.callsTo(path)[0]?.complete, { what: `a call to ${path}` });
    const [first, ...more] = this.callsTo(path);
    if (!first || more.length > 0) throw new Error(`${path} was called ${more.length + 1} times.`);
    return first;
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await stopListening(this.server);
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const received: Mutable<Received> = {
      method: request.method ?? '',
      target: request.url ?? '',
      headers: pairs(request.rawHeaders),
      body: Buffer.alloc(0),
      bytes: 0,
      sha256: '',
      complete: false,
      at: Date.now(),
      cancelledAt: null,
    };
    this.ledger.push(received);
    response.once('close', () => {
      if (!response.writableFinished) received.cancelledAt = Date.now();
    });
    await read(request, received);
    const path = received.target.split('?', 1)[0] ?? '';
    const respond = this.scripts.get(path) ?? this.fallback;
    await play(typeof respond === 'function' ? await respond(received) : respond, response, received);
  }
}

async function read(request: IncomingMessage, received: Mutable<Received>): Promise<void> {
  const hash = createHash('sha256');
  const kept: Buffer[] = [];
  for await (const part of request as AsyncIterable<Buffer>) {
    hash.update(part);
    if (received.bytes < KEPT_BYTES) kept.push(part);
    received.bytes += part.length;
  }
  received.body = Buffer.concat(kept).subarray(0, KEPT_BYTES);
  received.sha256 = hash.digest('hex');
  received.complete = true;
}

async function play(script: Script, response: ServerResponse, received: Received): Promise<void> {
  if (script.delayMs) await new Promise((resolve) => setTimeout(resolve, script.delayMs));
  const { status = 200, headers = [], body = '' } = script;
  response.writeHead(status, headers.flat());
  if (typeof body === 'function') {
    response.flushHeaders();
    await body(response, received);
    response.end();
    return;
  }
  for (const part of Array.isArray(body) ? (body as readonly Buffer[]) : [])
    if (!response.write(part)) await new Promise((resolve) => response.once('drain', resolve));
  response.end(Array.isArray(body) ? undefined : (body as Buffer | string));
}

/** The facts of a request as JSON. */
function facts(received: Received): Script {
  const { method, target, bytes, sha256 } = received;
  return {
    headers: [['content-type', 'application/json']],
    body: JSON.stringify({ method, target, bytes, sha256 }),
  };
}
