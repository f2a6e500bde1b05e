import type { Socket } from 'node:net';
import { Roster, type RosterMember } from '../../common/processes/roster.js';
import { HttpExchange, type ResponseHandler } from './exchange.js';
import { connectionClosed } from './http1-error.js';
import type { HttpRequest } from './request-head.js';
import { type ConnectionLimits, type ConnectionOwner, UpstreamConnection } from './upstream-connection.js';

type DialCallback = (...answer: [error: Error, socket: null] | [error: null, socket: Socket]) => void;

export interface PoolOptions extends ConnectionLimits {
  /** The `host` header of requests without one. */
  readonly host: string;
  /** Opens a socket to the origin. Calls back later, never at once. */
  readonly connect: (connected: DialCallback) => void;
  /** Maximum number of connections; further requests wait for a free one, in order. */
  readonly connections: number;
}

/** How often idle connections are checked. One is closed by this much before or after its time. */
const SWEEP_MS = 1_000;

/** A pool that may have idle connections. */
interface SweptPool extends RosterMember {
  /** Closes expired connections. Returns whether any are left to check. */
  sweep(now: number): boolean;
}

const swept = new Roster<SweptPool>();
let timer: NodeJS.Timeout | undefined;

/** One timer checks the idle connections of all pools, so that no timer is set or cleared per request. */
function sweepLater(pool: SweptPool): void {
  if (pool.place >= 0) return;
  swept.add(pool);
  timer ??= setInterval(sweepAll, SWEEP_MS).unref();
}

function sweepNoMore(pool: SweptPool): void {
  swept.delete(pool);
  if (swept.size > 0 || !timer) return;
  clearInterval(timer);
  timer = undefined;
}

function sweepAll(): void {
  const now = performance.now();
  for (const pool of swept.all()) if (!pool.sweep(now)) sweepNoMore(pool);
}

/** Connections of one tenant to one origin, opened on demand. The most recently used one is used first. */
export class ConnectionPool implements ConnectionOwner, SweptPool {
  place = -1;
  settling = 0;
  /** The most recently used one is last. */
  private readonly idle: UpstreamConnection[] = [];
  private readonly connections = new Roster<UpstreamConnection>();
  /** Exchanges whose connection is being opened. */
  private readonly opening = new Roster<HttpExchange>();
  private waiting = 0;
  private firstWaiting: HttpExchange | null = null;
  private lastWaiting: HttpExchange | null = null;
  private isClosed = false;
  private isDestroyed = false;

  constructor(private readonly options: PoolOptions) {}

  /** All failures arrive in the handler's `onError`, at once if the request itself is invalid. */
  dispatch(request: HttpRequest, handler: ResponseHandler): void {
    let exchange: HttpExchange;
    try {
      exchange = new HttpExchange(request, this.options.host, handler);
    } catch (error) {
      return handler.onError(error as Error);
    }
    if (this.isClosed) return exchange.fail(connectionClosed());
    this.start(exchange);
  }

  /** Accepts no more requests. Pending ones finish, and each connection closes when it is no longer needed. */
  close(): void {
    this.isClosed = true;
    sweepNoMore(this);
    for (const connection of [...this.idle]) connection.destroy(connectionClosed());
  }

  /** Ends every connection. Running and waiting requests fail. */
  destroy(): void {
    this.isClosed = true;
    this.isDestroyed = true;
    sweepNoMore(this);
    for (const connection of this.connections.all()) connection.destroy(connectionClosed());
    for (const exchange of this.opening.all()) this.giveUp(exchange);
    for (let exchange = this.nextWaiting(); exchange; exchange = this.nextWaiting())
      exchange.fail(connectionClosed());
  }

  onRest(connection: UpstreamConnection): void {
    const exchange = this.nextWaiting();
    if (exchange) return connection.claim(exchange);
    if (this.isClosed) return connection.destroy(connectionClosed());
    connection.rest();
    this.idle.push(connection);
    sweepLater(this);
  }

  onGone(connection: UpstreamConnection, unsent: HttpExchange | null): void {
    this.connections.delete(connection);
    const at = this.idle.lastIndexOf(connection);
    if (at >= 0) this.idle.splice(at, 1);
    if (this.isDestroyed) return unsent?.fail(connectionClosed());
    const exchange = unsent ?? this.nextWaiting();
    if (exchange) this.start(exchange);
  }

  sweep(now: number): boolean {
    for (const connection of [...this.idle])
      if (connection.idleSince === 0) {
        connection.idleSince = now;
        connection.unreference();
      } else if (now - connection.idleSince >= connection.keepAliveMs - SWEEP_MS)
        connection.destroy(connectionClosed());
    return this.idle.length > 0;
  }

  private start(exchange: HttpExchange): void {
    const connection = this.idle.pop();
    if (connection) connection.claim(exchange);
    // A connection that becomes free in this turn of the event loop is available sooner than a new one.
    else if (this.settling > this.waiting) this.wait(exchange);
    else if (this.connections.size + this.opening.size < this.options.connections) this.open(exchange);
    else this.wait(exchange);
  }

  private open(exchange: HttpExchange): void {
    this.opening.add(exchange);
    this.options.connect((error, socket) => {
      // It was aborted in the meantime.
      if (exchange.place < 0) return socket?.destroy();
      this.opening.delete(exchange);
      if (error) this.onConnectFailed(exchange, error);
      else this.onConnected(exchange, socket);
    });
  }

  private onConnected(exchange: HttpExchange, socket: Socket): void {
    const connection = new UpstreamConnection(socket, this, this.options);
    this.connections.add(connection);
    connection.begin(exchange);
  }

  private onConnectFailed(exchange: HttpExchange, error: Error): void {
    const next = this.nextWaiting();
    if (next) this.start(next);
    exchange.fail(error);
  }

  private giveUp(exchange: HttpExchange): void {
    this.opening.delete(exchange);
    exchange.fail(connectionClosed());
  }

  private wait(exchange: HttpExchange): void {
    if (this.lastWaiting) this.lastWaiting.next = exchange;
    else this.firstWaiting = exchange;
    this.lastWaiting = exchange;
    this.waiting += 1;
  }

  private nextWaiting(): HttpExchange | null {
    const first = this.firstWaiting;
    if (!first) return null;
    this.waiting -= 1;
    this.firstWaiting = first.next;
    if (!this.firstWaiting) this.lastWaiting = null;
    first.next = null;
    return first;
  }
}
