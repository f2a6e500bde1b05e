import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { Roster } from '../../common/processes/roster.js';
import { FastConnection, type Keeper, REQUEST_BYTES_MAX } from './fast-connection.js';
import type { FastRequest } from '../../common/http/fast-request.js';
import type { FastResponse } from './fast-response.js';
import { isPlain } from './request-head.js';

const TICK_MS = 250;
/** A request that is not complete by then, after 250 to 500 ms, goes to Node, which has its own timeout. */
const TIMEOUT_TICKS = 2;

/** Requests suited to the fast path on a connection that was passed to Node. */
const MISSED_MAX = 16;

export interface FastPathParts {
  /** How long a connection waits for its next request. */
  readonly keepAliveMs: number;
  /** Whether requests with this target are handled here. */
  isTaken(url: string): boolean;
  handle(request: FastRequest, response: FastResponse): void;
  /** Lets Node's server handle a socket. */
  serveByNode(socket: Socket): void;
}

/**
 * The path of most requests to the data plane: those in simple HTTP/1.1 syntax that arrive completely at once. Reading such a request and
 * writing its response costs half as much as in Node's server, because neither has to be a stream. Everything else is left to that server,
 * with every rule about framing: chunked bodies, large ones, slow ones, upgrades, other methods, and malformed requests.
 */
export class FastPath implements Keeper {
  readonly keepAliveSeconds: number;
  ticks = 0;
  private readonly connections = new Roster<FastConnection>();
  private readonly keepAliveTicks: number;
  private readonly missed = new WeakMap<Socket, number>();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly parts: FastPathParts) {
    this.keepAliveSeconds = Math.floor(parts.keepAliveMs / 1000);
    this.keepAliveTicks = Math.ceil(parts.keepAliveMs / TICK_MS);
  }

  /** Takes over a newly accepted connection. */
  accept(socket: Socket): void {
    this.connections.add(new FastConnection(socket, this));
    this.timer ??= setInterval(() => this.tick(), TICK_MS).unref();
  }

  /**
   * Whether a connection that was passed to Node's server should end with this response, so that the next one starts here again: it has had
   * a series of requests suited to the fast path. Behind a load balancer, each connection carries all kinds of requests, and eventually all
   * connections would be Node's.
   */
  isBetterEnded(request: IncomingMessage): boolean {
    const { socket, headers } = request;
    if (!isPlain(request) || Number(headers['content-length'] ?? 0) > REQUEST_BYTES_MAX) return false;
    const missed = (this.missed.get(socket) ?? 0) + 1;
    this.missed.set(socket, missed);
    return missed >= MISSED_MAX;
  }

  /** Connections end with the response that they are waiting for. */
  drain(): void {
    for (const connection of this.connections.all()) connection.drain();
  }

  /** Ends connections that wait for their next request. */
  closeIdle(): void {
    for (const connection of this.connections.all()) if (connection.isIdle) connection.socket.destroy();
  }

  /** Ends all connections, including those with requests under way. */
  closeAll(): void {
    for (const { socket } of this.connections.all()) socket.destroy();
  }

  isTaken(url: string): boolean {
    return this.parts.isTaken(url);
  }

  handle(request: FastRequest, response: FastResponse): void {
    this.parts.handle(request, response);
  }

  /** Paused meanwhile, so that the unread bytes reach Node's parser before anything else. */
  handToNode(connection: FastConnection, unread: Buffer): void {
    const { socket } = connection;
    this.connections.delete(connection);
    socket.pause();
    if (unread.length > 0) socket.unshift(unread);
    this.parts.serveByNode(socket);
    socket.resume();
  }

  closed(connection: FastConnection): void {
    this.connections.delete(connection);
  }

  private tick(): void {
    this.ticks++;
    for (const connection of this.connections.all()) {
      const waited = this.ticks - connection.since;
      if (connection.isAwaiting && waited >= TIMEOUT_TICKS) connection.handToNode();
      else if (connection.isIdle && waited >= this.keepAliveTicks) connection.socket.destroy();
    }
    if (this.connections.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }
}
