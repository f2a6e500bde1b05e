import type { Socket } from 'node:net';
import type { RosterMember } from '../../common/processes/roster.js';
import { type AfterPoll, whenPolled } from './after-poll.js';
import type { Carrier, HttpExchange } from './exchange.js';
import { connectionClosed } from './http1-error.js';
import type { ParsedResponseHead } from './response-head.js';
import { type ResponseEvents, ResponseParser } from './response-parser.js';

/** The owner of a connection. */
export interface ConnectionOwner {
  /** Number of its settling connections, maintained by them. */
  settling: number;
  /** The connection completed a response and can be reused. */
  onRest(connection: UpstreamConnection): void;
  /** The connection closed. `unsent`: the exchange that it was given but has not begun. */
  onGone(connection: UpstreamConnection, unsent: HttpExchange | null): void;
}

export interface ConnectionLimits {
  /** Maximum idle time of a connection, milliseconds. */
  readonly keepAliveMs: number;
  readonly requestsPerConnection: number;
}

/**
 * `settling`: the response is complete; anything the other side sent right after it is read before the next request. `claimed`: an exchange
 * has it; anything that arrived while it was idle is read first.
 */
type ConnectionState = 'resting' | 'claimed' | 'starting' | 'busy' | 'settling' | 'gone';

/** Up to this size, sending text and bytes as one string costs less than two buffers. */
const ONE_WRITE_BYTES = 16 * 1024;
/** Event loop turns within which an answered request must have been sent. */
const TURNS_TO_FLUSH = 2;
/** The other side's idle timer starts before ours: close this much earlier. */
const KEEP_ALIVE_MARGIN_MS = 2_000;

/** One socket, with one exchange at a time. */
export class UpstreamConnection implements ResponseEvents, RosterMember, AfterPoll, Carrier {
  place = -1;
  /** When it was first seen idle after its last exchange; 0 if not yet. */
  idleSince = 0;
  /** Maximum idle time, milliseconds. */
  keepAliveMs: number;
  private state: ConnectionState = 'starting';
  private exchange: HttpExchange | null = null;
  private requests = 0;
  private isLast = false;
  private isUnreferenced = false;
  private isReadingPaused = false;
  private turnsToFlush = TURNS_TO_FLUSH;
  private error: Error | null = null;
  private readonly parser = new ResponseParser(this);

  constructor(
    private readonly socket: Socket,
    private readonly owner: ConnectionOwner,
    private readonly limits: ConnectionLimits,
  ) {
    this.keepAliveMs = limits.keepAliveMs;
    socket.on('error', (error) => (this.error = error));
    socket.on('data', (chunk: Buffer) => this.onBytes(chunk));
    socket.on('end', () => this.onFin());
    socket.on('close', () => this.onClose());
  }

  /** Gives an exchange to an idle connection: it begins after this turn's socket events, which may include a close. */
  claim(exchange: HttpExchange): void {
    this.exchange = exchange;
    this.state = 'claimed';
    this.reference();
    whenPolled(this);
  }

  /** Sends a request at once. */
  begin(exchange: HttpExchange): void {
    this.exchange = exchange;
    exchange.carrier = this;
    this.state = 'starting';
    try {
      exchange.handler.onConnect(exchange.abort);
      // It may have been aborted in the meantime: nothing was sent, so the connection can be reused.
      if (this.exchange !== exchange) return this.settle();
      this.write(exchange);
    } catch (error) {
      this.fail(error as Error);
    }
  }

  afterPoll(): void {
    if (this.state === 'claimed') this.begin(this.exchange as HttpExchange);
    else if (this.state === 'settling') this.settled();
  }

  /**
   * A request that is not fully sent was answered before it was read to its end, and the rest would be taken for the next request. TLS
   * reports a turn late that everything was sent, when a nearby provider has already responded.
   */
  private settled(): void {
    const isFlushed = this.socket.writableLength === 0;
    if (!isFlushed && this.turnsToFlush-- > 0) return whenPolled(this);
    if (!isFlushed) return this.close();
    this.owner.settling -= 1;
    this.owner.onRest(this);
  }

  rest(): void {
    this.state = 'resting';
    this.idleSince = 0;
  }

  /** Does not keep the process alive. */
  unreference(): void {
    this.isUnreferenced = true;
    this.socket.unref();
  }

  abort(reason: Error): void {
    if (this.state === 'starting') this.detach()?.fail(reason);
    else this.fail(reason);
  }

  resume(): void {
    if (!this.parser.isPaused) return;
    try {
      this.parser.resume();
    } catch (error) {
      return this.fail(error as Error);
    }
    if (this.parser.isPaused || !this.isReadingPaused) return;
    this.isReadingPaused = false;
    this.socket.resume();
  }

  /** Ends the connection and its exchange. */
  destroy(error: Error): void {
    this.fail(error);
  }

  onHead({ status, statusText, headers, keepAliveSeconds }: ParsedResponseHead): boolean {
    const { keepAliveMs } = this.limits;
    this.keepAliveMs =
      keepAliveSeconds < 0
        ? keepAliveMs
        : Math.min(keepAliveMs, keepAliveSeconds * 1_000 - KEEP_ALIVE_MARGIN_MS);
    const exchange = this.exchange as HttpExchange;
    return exchange.handler.onHeaders(status, headers, exchange.resume, statusText);
  }

  onBody(bytes: Buffer): boolean {
    return (this.exchange as HttpExchange).handler.onData(bytes);
  }

  onEnd(isReusable: boolean): void {
    const exchange = this.detach();
    if (isReusable && !this.isLast && this.keepAliveMs > 0) this.settle();
    else this.close();
    exchange?.complete();
  }

  private write({ head, body, isHead }: HttpExchange): void {
    this.state = 'busy';
    this.requests += 1;
    const hasClose = head.closes || this.requests >= this.limits.requestsPerConnection;
    this.isLast = hasClose || head.endsConnection;
    this.parser.begin(isHead);
    const text = `${head.start}connection: ${hasClose ? 'close' : 'keep-alive'}\r\n${head.rest}`;
    if (body === null || body.length === 0) this.socket.write(text, 'latin1');
    else if (body.length <= ONE_WRITE_BYTES) this.socket.write(text + body.toString('latin1'), 'latin1');
    else {
      this.socket.cork();
      this.socket.write(text, 'latin1');
      this.socket.write(body);
      this.socket.uncork();
    }
  }

  private onBytes(chunk: Buffer): void {
    if (this.state !== 'busy') return this.close();
    // Most readers that pause are ready again before more arrives. At most the rest of one chunk and the next chunk are buffered.
    if (this.parser.isPaused) this.pauseReading();
    try {
      this.parser.push(chunk);
    } catch (error) {
      this.fail(error as Error);
    }
  }

  private pauseReading(): void {
    this.isReadingPaused = true;
    this.socket.pause();
  }

  private onFin(): void {
    if (this.state !== 'busy') return this.close();
    try {
      this.parser.finish();
    } catch (error) {
      this.fail(error as Error);
    }
  }

  /** Without a preceding end, or after one that a paused reader has not received yet. */
  private onClose(): void {
    if (this.state === 'busy' && this.parser.isPaused && this.socket.readableEnded && this.error === null)
      return;
    this.fail(this.error ?? connectionClosed());
  }

  private settle(): void {
    if (this.state === 'gone') return;
    this.state = 'settling';
    this.turnsToFlush = TURNS_TO_FLUSH;
    this.owner.settling += 1;
    whenPolled(this);
  }

  private detach(): HttpExchange | null {
    const { exchange } = this;
    this.exchange = null;
    if (exchange) exchange.carrier = null;
    return exchange;
  }

  private fail(error: Error): void {
    if (this.state === 'claimed') return this.close();
    const exchange = this.detach();
    this.close();
    exchange?.fail(error);
  }

  private close(): void {
    if (this.state === 'gone') return;
    if (this.state === 'settling') this.owner.settling -= 1;
    this.state = 'gone';
    this.parser.stop();
    this.socket.destroy();
    this.owner.onGone(this, this.detach());
  }

  private reference(): void {
    if (!this.isUnreferenced) return;
    this.isUnreferenced = false;
    this.socket.ref();
  }
}
