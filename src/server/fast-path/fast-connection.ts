import type { Socket } from 'node:net';
import type { RosterMember } from '../../common/processes/roster.js';
import { FastRequest } from '../../common/http/fast-request.js';
import { FastResponse, type ResponseLine } from './fast-response.js';
import { readRequestHead, type RequestHead } from './request-head.js';

/** Larger requests are left to Node. */
export const REQUEST_BYTES_MAX = 256 * 1024;

const NOTHING = Buffer.alloc(0);
/** Sent by Node's server to a client that ends a connection during a request. */
const BAD_REQUEST = 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n';

/** A connection's interface to its owner. */
export interface Keeper {
  readonly keepAliveSeconds: number;
  /** A counter; see `since`. */
  readonly ticks: number;
  isTaken(url: string): boolean;
  handle(request: FastRequest, response: FastResponse): void;
  /** Passes the socket to Node's server, with the unread bytes first. */
  handToNode(connection: FastConnection, unread: Buffer): void;
  closed(connection: FastConnection): void;
}

/**
 * One connection of a client, as long as its requests suit the fast path: each is read, handled and answered in turn. The first one that
 * does not, or does not arrive completely at once, goes to Node's server together with the connection: at that moment the next byte is the
 * first of a request, so both always agree where requests begin.
 */
export class FastConnection implements RosterMember, ResponseLine {
  place = -1;
  /** The tick at which the awaited request began to arrive, or at which waiting for one began. */
  since: number;
  private hasServed = false;
  private received: Buffer = NOTHING;
  private head: RequestHead | null = null;
  private response: FastResponse | null = null;

  constructor(
    readonly socket: Socket,
    private readonly keeper: Keeper,
  ) {
    this.since = keeper.ticks;
    socket.on('data', this.onData).on('drain', this.onDrain).on('end', this.onEnd);
    socket.on('error', this.onError).on('close', this.onClose);
  }

  get keepAliveSeconds(): number {
    return this.keeper.keepAliveSeconds;
  }

  /** Between two requests. */
  get isIdle(): boolean {
    return this.hasServed && this.response === null && this.received.length === 0;
  }

  /** No request is being served, and a first request, or the rest of one, is awaited. */
  get isAwaiting(): boolean {
    return this.response === null && !this.isIdle;
  }

  /** The response says that the connection ends with it, unless its head was sent. */
  drain(): void {
    if (this.response && !this.response.headersSent) this.response.shouldKeepAlive = false;
  }

  /** Passes the socket to Node. Not while a request is being handled. */
  handToNode(): void {
    const { socket, received } = this;
    socket.off('data', this.onData).off('drain', this.onDrain).off('end', this.onEnd);
    socket.off('error', this.onError).off('close', this.onClose);
    this.received = NOTHING;
    this.keeper.handToNode(this, received);
  }

  readonly onFlushed = (error?: Error | null): void => {
    const { response, socket } = this;
    // A broken connection is reported by its `close`.
    if (error || !response) return;
    this.response = null;
    this.hasServed = true;
    this.since = this.keeper.ticks;
    response.over(true);
    if (!response.shouldKeepAlive) socket.destroySoon();
    else if (this.received.length > 0) this.goOn();
  };

  private readonly onData = (chunk: Buffer): void => {
    if (this.received.length === 0) {
      this.received = chunk;
      if (this.response === null) this.since = this.keeper.ticks;
    } else this.received = Buffer.concat([this.received, chunk]);
    if (this.response === null) this.read();
    else if (this.received.length > REQUEST_BYTES_MAX) this.socket.pause();
  };

  private readonly onDrain = (): void => this.response?.drained();

  private readonly onError = (): void => undefined;

  /** A client that ends its side expects no response either, as Node's server treats it. */
  private readonly onEnd = (): void => {
    if (this.response === null && this.received.length > 0) {
      this.socket.write(BAD_REQUEST);
      this.abandon();
    }
    this.socket.end();
  };

  private readonly onClose = (): void => {
    this.keeper.closed(this);
    if (this.response === null) this.abandon();
    const { response } = this;
    this.response = null;
    response?.over(false);
  };

  /** Continues with bytes that arrived after an answered request. */
  private goOn(): void {
    if (this.socket.isPaused()) this.socket.resume();
    this.read();
  }

  private read(): void {
    const { received } = this;
    this.head ??= this.takenHead();
    const { head } = this;
    if (head === null) return;
    const end = head.bodyAt + head.bodyBytes;
    if (end > REQUEST_BYTES_MAX) return this.handToNode();
    if (received.length < end) return;
    this.head = null;
    this.received = received.length === end ? NOTHING : received.subarray(end);
    this.begin(head, received.subarray(head.bodyAt, end), true);
  }

  /** Null if it is incomplete, or the connection was passed on. */
  private takenHead(): RequestHead | null {
    const head = readRequestHead(this.received);
    if (head === 'incomplete') return null;
    if (head !== 'other' && this.keeper.isTaken(head.url)) return head;
    this.handToNode();
    return null;
  }

  private begin(head: RequestHead, body: Buffer, isComplete: boolean): FastResponse {
    const response = (this.response = new FastResponse(this));
    this.keeper.handle(new FastRequest(head, body, this.socket, isComplete), response);
    return response;
  }

  /** A client that disconnects during a request is recorded like any other. */
  private abandon(): void {
    const { head, received } = this;
    this.head = null;
    this.received = NOTHING;
    if (head) this.begin(head, received.subarray(head.bodyAt), false).destroyed = true;
  }
}
