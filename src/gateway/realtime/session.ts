import type { Duplex } from 'node:stream';
import type { Ending } from '../../request-log/record.js';
import type { ErrorCode } from '../../common/errors/catalog.js';
import { Direction, type PassGate } from './direction.js';
import { CLOSE_CODES, type Closure, FrameReader, type FrameListener } from './frames.js';

/** How a session ended. */
export interface SessionEnd {
  readonly ending: Ending;
  readonly errorCode: ErrorCode | null;
}

export interface Sides {
  readonly client: Duplex;
  readonly upstream: Duplex;
}

/** Readers of both directions. */
interface SessionReaders {
  readonly meter: FrameListener;
  /** Reads the client's messages, and decides when they may pass. */
  readonly reservations: FrameListener & PassGate & { readonly isAnswered: boolean };
}

/** How long a side has to take bytes already written to it, and how long when the gateway ends the session. */
const GRACE_MS = 10_000;
const GOODBYE_MS = 1_000;

/**
 * One WebSocket between a client and a provider. Bytes pass unchanged both ways; the first side that disconnects ends the other. `onEnd` is
 * called once with how it ended. It calls back when that is recorded; only then the client's connection closes.
 */
export class RealtimeSession {
  private readonly down: Direction;
  private readonly up: Direction;
  private hasEnded = false;
  /** The recorded end, once the gateway has begun to end it. */
  private ownEnd: SessionEnd | null = null;

  constructor(
    private readonly sides: Sides,
    private readonly readers: SessionReaders,
    private readonly onEnd: (end: SessionEnd, then: () => void) => void,
  ) {
    const { client, upstream } = sides;
    const { meter, reservations } = readers;
    this.down = new Direction(upstream, client, new FrameReader(meter), false);
    const frames = new FrameReader(reservations, 'client');
    this.up = new Direction(client, upstream, frames, true, reservations);
  }

  /** Bytes of frames so far. */
  get bytes(): { readonly up: number; readonly down: number } {
    return { up: this.up.bytes, down: this.down.bytes };
  }

  /** `early` are bytes that the client sent with its handshake. */
  start(early: Buffer): void {
    const { client, upstream } = this.sides;
    for (const event of ['end', 'close', 'error'] as const) {
      client.on(event, () => this.clientLeft());
      upstream.on(event, () => this.upstreamLeft());
    }
    if (early.length > 0) client.unshift(early);
    this.down.start();
    this.up.start();
    // Events emitted before the listeners were added are not repeated.
    if (client.destroyed) this.clientLeft();
    else if (upstream.destroyed) this.upstreamLeft();
  }

  /** What the client sent and waits for a reservation may pass. */
  openGate(): void {
    if (!this.hasEnded && !this.ownEnd) this.up.open();
  }

  /** Ends the session from here: both sides receive the reason. `message`: the client receives it before. */
  close(closure: Closure, errorCode: ErrorCode, message: string | null = null): void {
    if (this.hasEnded || this.ownEnd) return;
    const end = (this.ownEnd = { ending: 'completed', errorCode });
    const finish = (): void => this.end(end, GOODBYE_MS);
    this.up.close({ code: CLOSE_CODES.goingAway, reason: '' }, () => undefined);
    this.down.close(closure, finish, message);
    setTimeout(finish, GOODBYE_MS);
  }

  /** Ends a session if one side has taken no bytes for too long. */
  checkStall(now: number, limitMs: number): void {
    const isStalled = ({ stalledSince }: Direction): boolean =>
      stalledSince !== null && now - stalledSince >= limitMs;
    if (isStalled(this.down)) this.end({ ending: 'client_aborted', errorCode: 'upstream_timeout' }, 0);
    else if (isStalled(this.up)) this.end({ ending: 'upstream_truncated', errorCode: 'upstream_timeout' }, 0);
  }

  private get wasClosed(): boolean {
    return this.down.hasClosed || this.up.hasClosed;
  }

  private clientLeft(): void {
    const isDone = this.wasClosed || this.readers.reservations.isAnswered;
    this.end({ ending: isDone ? 'completed' : 'client_aborted', errorCode: null });
  }

  private upstreamLeft(): void {
    if (this.wasClosed) return this.end({ ending: 'completed', errorCode: null });
    const closure = { code: CLOSE_CODES.badGateway, reason: 'the provider ended the connection' };
    this.down.close(closure, () => undefined);
    this.end({ ending: 'upstream_truncated', errorCode: 'upstream_error' });
  }

  /** Bytes written before are still sent; those not sent in time are dropped. */
  private end(end: SessionEnd, graceMs = GRACE_MS): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    const { client, upstream } = this.sides;
    upstream.end();
    this.onEnd(this.ownEnd ?? end, () => client.end());
    const cut = setTimeout(() => {
      client.destroy();
      upstream.destroy();
    }, graceMs);
    const settle = (): void => {
      if (client.closed && upstream.closed) clearTimeout(cut);
    };
    for (const side of [client, upstream]) side.once('close', settle);
  }
}
