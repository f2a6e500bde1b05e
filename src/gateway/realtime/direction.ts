import type { Duplex } from 'node:stream';
import { type Closure, closeFrame, type FrameReader } from './frames.js';

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

  constructor(
    private readonly from: Duplex,
    private readonly to: Duplex,
    private readonly frames: FrameReader,
    /** Frames to a server are masked. */
    private readonly isMasked: boolean,
  ) {}

  get hasClosed(): boolean {
    return this.frames.hasClosed;
  }

  start(): void {
    this.to.on('drain', () => {
      this.stalledSince = null;
      this.from.resume();
    });
    this.from.on('data', (chunk: Buffer) => {
      this.pass(chunk);
    });
  }

  /**
   * Sends a Close frame on behalf of the writer, after the frame in progress; nothing else passes afterwards. `done` runs once it is
   * written.
   */
  close(closure: Closure, done: () => void): void {
    if (this.rest !== null) return;
    const left = this.frames.bytesLeft;
    this.rest = left ?? 0;
    this.sayFarewell = (): void => {
      // Without known frame boundaries, a Close frame would be taken for a part of another frame.
      if (left !== null && !this.hasClosed) this.write(closeFrame(closure, this.isMasked));
      done();
    };
    if (this.rest === 0) this.sayFarewell();
  }

  private pass(chunk: Buffer): void {
    if (this.rest !== null) return this.passRest(chunk);
    this.bytes += chunk.length;
    this.frames.feed(chunk);
    this.write(chunk);
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
