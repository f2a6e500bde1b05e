import type { Duplex } from 'node:stream';
import { type Closure, closeFrame, type FrameReader } from './frames.js';

/**
 * One way of a session: bytes from one socket to the other, as they are. What the reader of them has not taken yet is bounded
 * by the sockets' own buffers, because the writer is paused meanwhile.
 */
export class Direction {
  bytes = 0;
  /** Since when the reader has been taking nothing, on the process's own clock; null while it takes. */
  stalledSince: number | null = null;
  /** Bytes of the last frame that still go through; null while all do. */
  private rest: number | null = null;
  private sayFarewell: () => void = () => undefined;

  constructor(
    private readonly from: Duplex,
    private readonly to: Duplex,
    private readonly frames: FrameReader,
    /** Frames that go to a server are masked. */
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

  /** Says goodbye in the writer's place, behind the frame that is on its way; nothing else passes any more. `done` runs when it is said. */
  close(closure: Closure, done: () => void): void {
    if (this.rest !== null) return;
    const left = this.frames.bytesLeft;
    this.rest = left ?? 0;
    this.sayFarewell = (): void => {
      // In the middle of something that cannot be distinguished, a frame would be taken for a part of it.
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
