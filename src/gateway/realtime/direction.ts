import type { Duplex } from 'node:stream';
import { type Closure, closeFrame, type FrameReader, textFrame } from './frames.js';

/** Decides when read messages may pass. */
export interface PassGate {
  /** Whether all messages read so far may pass. If not, the bytes wait until `open` of their direction. */
  mayPass(): boolean;
}

/**
 * One direction of a session: bytes from one socket to the other, unchanged. The sockets' own buffers limit the bytes that the reader has
 * not taken yet, because the writer is paused meanwhile.
 */
export class Direction {
  bytes = 0;
  /** When the reader stopped taking bytes, on the monotonic clock; null while it takes them. */
  stalledSince: number | null = null;
  /** Bytes of the last frame that still pass; null while everything passes. */
  private rest: number | null = null;
  private sayFarewell: () => void = () => undefined;
  /** Bytes that wait for the gate. */
  private held: Buffer[] = [];
  /** Bytes of the last frame that had not been written when the first of them was held. */
  private leftBefore: number | null = 0;

  constructor(
    private readonly from: Duplex,
    private readonly to: Duplex,
    private readonly frames: FrameReader,
    /** Frames to a server are masked. */
    private readonly isMasked: boolean,
    private readonly gate: PassGate | null = null,
  ) {}

  get hasClosed(): boolean {
    return this.frames.hasClosed;
  }

  start(): void {
    this.to.on('drain', () => {
      this.stalledSince = null;
      if (this.held.length === 0) this.from.resume();
    });
    this.from.on('data', (chunk: Buffer) => {
      this.pass(chunk);
    });
  }

  /** The gate lets everything pass that waits for it. */
  open(): void {
    const { held } = this;
    this.held = [];
    for (const chunk of held) this.write(chunk);
    if (this.stalledSince === null) this.from.resume();
  }

  /**
   * Sends a Close frame on behalf of the writer, after the frame in progress; nothing else passes afterwards. Before it goes a message
   * of the gateway, if any, unless the writer's own message is in progress. `done` runs once it is written.
   */
  close(closure: Closure, done: () => void, message: string | null = null): void {
    if (this.rest !== null) return;
    // Waiting bytes never pass. If they are the rest of a frame, no frame of the gateway can follow.
    const isHeld = this.held.length > 0;
    const left = isHeld ? (this.leftBefore === 0 ? 0 : null) : this.frames.bytesLeft;
    this.held = [];
    this.rest = left ?? 0;
    this.sayFarewell = (): void => {
      // Without known frame boundaries, a Close frame would be taken for a part of another frame.
      if (left !== null && !this.hasClosed) {
        if (message !== null && !this.frames.isInMessage) this.write(textFrame(message));
        this.write(closeFrame(closure, this.isMasked));
      }
      done();
    };
    if (this.rest === 0) this.sayFarewell();
    if (isHeld) this.from.resume();
  }

  private pass(chunk: Buffer): void {
    if (this.rest !== null) return this.passRest(chunk);
    this.bytes += chunk.length;
    const left = this.frames.bytesLeft;
    this.frames.feed(chunk);
    if (this.gate === null || (this.held.length === 0 && this.gate.mayPass())) return this.write(chunk);
    if (this.held.length === 0) this.leftBefore = left;
    this.held.push(chunk);
    this.from.pause();
  }

  private passRest(chunk: Buffer): void {
    const piece = chunk.subarray(0, this.rest ?? 0);
    if (piece.length === 0) return;
    this.rest = (this.rest ?? 0) - piece.length;
    this.bytes += piece.length;
    this.write(piece);
    if (this.rest === 0) this.sayFarewell();
  }

  private write(bytes: Buffer): void {
    if (this.to.destroyed || this.to.writableEnded || this.to.write(bytes)) return;
    this.stalledSince ??= performance.now();
    this.from.pause();
  }
}
