import { closeSync, constants, fdatasync, ftruncateSync, openSync, renameSync, writevSync } from 'node:fs';
import { type EncodedFrame, sealFrame } from './frame.js';

/** Writes at a position and returns how many bytes were written, possibly fewer than given. `fs.writevSync`, or a failing one in tests. */
export type WriteVector = (fd: number, buffers: readonly Buffer[], position: number) => number;

/** In a reused file, the bytes after the last frame are old: this marks the end of the new ones. */
const END = Buffer.alloc(4);
const NO_END = Buffer.alloc(0);

export const writeVector: WriteVector = (fd, buffers, position) => writevSync(fd, buffers, position);

interface SegmentOptions {
  /** Capacity in bytes. */
  readonly capacity: number;
  /** Written after the last frame each time. */
  readonly end: Buffer;
  readonly write: WriteVector;
}

const UNLIMITED = Number.POSITIVE_INFINITY;

/** Written bytes are synced to the disk within this time; a power failure loses no more. */
const SYNC_EVERY_MS = 10;

/** Progress of an append: whole frames only. */
export interface AppendResult {
  readonly frames: number;
  readonly error: Error | null;
}

/**
 * A spool file that is being written.
 *
 * A completed write survives the death of the process, because the kernel has the bytes. Surviving a power failure needs fdatasync, which
 * runs in the background for all writes of the last 10 ms; nothing waits for it.
 */
export class Segment {
  position = 0;
  readonly openedAt = Date.now();
  private timer: NodeJS.Timeout | null = null;
  private isSyncing = false;
  private onRetired: (() => void) | null = null;
  private end: Buffer;

  private constructor(
    private readonly fd: number,
    private readonly number: number,
    private readonly options: SegmentOptions,
  ) {
    this.end = options.end;
  }

  get capacity(): number {
    return this.options.capacity;
  }

  static create(path: string, number: number, write: WriteVector): Segment {
    const fresh = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY;
    return new Segment(openSync(path, fresh, 0o600), number, { capacity: UNLIMITED, end: NO_END, write });
  }

  /** A file that is already allocated and zeroed, written from its beginning. */
  static within(path: string, number: number, options: Pick<SegmentOptions, 'capacity' | 'write'>): Segment {
    return new Segment(openSync(path, constants.O_WRONLY), number, { ...options, end: NO_END });
  }

  /** A file with frames of an older segment, which are overwritten. Readers never take the old frames for new ones. */
  static again(spare: string, path: string, number: number, write: WriteVector): Segment {
    const fd = openSync(spare, constants.O_WRONLY);
    try {
      writevSync(fd, [END], 0);
      renameSync(spare, path);
    } catch (error) {
      closeSync(fd);
      throw error;
    }
    return new Segment(fd, number, { capacity: UNLIMITED, end: END, write });
  }

  /** Appends frames until one fails. Never throws, and leaves no partial frame behind. */
  append(frames: readonly EncodedFrame[]): AppendResult {
    const { end } = this;
    let bytes = 0;
    for (const frame of frames) {
      sealFrame(frame, this.number);
      bytes += frame.bytes;
    }
    const buffers = piecesOf(frames);
    if (end.length > 0) buffers.push(end);
    const { done, error } = this.writeAll(buffers, bytes + end.length);
    if (error) return this.keepWholeFrames(frames, done, error);
    this.position += bytes;
    this.syncSoon();
    return { frames: frames.length, error: null };
  }

  /** Flushes the file to the disk, then closes it. Resolves when done. */
  retire(): Promise<void> {
    return new Promise((resolve) => {
      this.onRetired = resolve;
      if (this.timer) clearTimeout(this.timer);
      this.timer = null;
      this.forgetOld();
      if (!this.isSyncing) this.sync();
    });
  }

  /** Truncates the remains of an older use. If that fails, readers still recognize them as old. */
  forgetOld(): void {
    if (this.end.length === 0) return;
    try {
      this.trim();
      this.end = NO_END;
    } catch {
      // Documented above.
    }
  }

  /** Returns the unused space of a preallocated file to the disk. */
  trim(): void {
    ftruncateSync(this.fd, this.position);
  }

  private writeAll(buffers: readonly Buffer[], bytes: number): { done: number; error: Error | null } {
    let rest = buffers;
    let done = 0;
    try {
      while (done < bytes) {
        const written = this.options.write(this.fd, rest, this.position + done);
        if (written <= 0) throw new Error('The disk accepted no bytes and reported no error.');
        done += written;
        if (done < bytes) rest = after(rest, written);
      }
      return { done, error: null };
    } catch (error) {
      return { done, error: error as Error };
    }
  }

  private keepWholeFrames(frames: readonly EncodedFrame[], done: number, error: Error): AppendResult {
    let whole = 0;
    let bytes = 0;
    for (const frame of frames) {
      if (bytes + frame.bytes > done) break;
      bytes += frame.bytes;
      whole += 1;
    }
    this.position += bytes;
    try {
      this.trim();
    } catch {
      // The partial frame stays; its checksum shows readers that it is invalid.
    }
    this.syncSoon();
    return { frames: whole, error };
  }

  private syncSoon(): void {
    if (this.timer || this.onRetired) return;
    this.timer = setTimeout(() => {
      this.timer = null;
      if (this.isSyncing) this.syncSoon();
      else this.sync();
    }, SYNC_EVERY_MS);
    this.timer.unref();
  }

  /**
   * A failed fdatasync is not repeated: the kernel drops the pages, so a second call would falsely succeed. The next write detects the
   * disk's state.
   */
  private sync(): void {
    const isLast = this.onRetired !== null;
    this.isSyncing = true;
    fdatasync(this.fd, () => {
      this.isSyncing = false;
      if (isLast) this.close();
      else if (this.onRetired) this.sync();
    });
  }

  private close(): void {
    closeSync(this.fd);
    this.onRetired?.();
  }
}

/** The buffers to write, as few as the memory layout allows: adjacent frames are merged. */
function piecesOf(frames: readonly EncodedFrame[]): Buffer[] {
  const pieces: Buffer[] = [];
  let run: WriteRun | null = null;
  for (const { head, bodies } of frames) {
    if (run && head.buffer === run.memory && head.byteOffset === run.end) run.end += head.length;
    else {
      if (run) pieces.push(bufferOf(run));
      run = { memory: head.buffer, start: head.byteOffset, end: head.byteOffset + head.length };
    }
    if (bodies.length === 0) continue;
    pieces.push(bufferOf(run), ...bodies);
    run = null;
  }
  if (run) pieces.push(bufferOf(run));
  return pieces;
}

interface WriteRun {
  readonly memory: ArrayBufferLike;
  readonly start: number;
  end: number;
}

function bufferOf({ memory, start, end }: WriteRun): Buffer {
  return Buffer.from(memory, start, end - start);
}

/** The buffers without their first `bytes` bytes. */
function after(buffers: readonly Buffer[], bytes: number): Buffer[] {
  const rest: Buffer[] = [];
  let skip = bytes;
  for (const buffer of buffers) {
    if (skip < buffer.length) rest.push(skip > 0 ? buffer.subarray(skip) : buffer);
    skip = Math.max(0, skip - buffer.length);
  }
  return rest;
}
