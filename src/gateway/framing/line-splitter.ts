import { FRAME_BYTES_MAX, frameTooLong } from './frame-decoder.js';
import { PendingBytes } from './pending-bytes.js';

const LF = 0x0a;
const CR = 0x0d;

const MIB = 1024 * 1024;
const LINE_END_BYTES = 64 * 1024;

/**
 * What happens to a line that arrives in several chunks, and so is held in memory, and exceeds `bytesMax`. A line within one chunk is read
 * whatever its length.
 */
export interface LongLines {
  readonly bytesMax: number;
  /** Receives the end of a longer line, 64 KiB at most; the rest is not read. Null: a longer line breaks the stream with an error. */
  readonly onSkipped: ((end: string) => void) | null;
}

/** For a stream that is rewritten: an event that is not read would be missing from what the client receives. */
export const REFUSE_LONG_LINES: LongLines = { bytesMax: FRAME_BYTES_MAX, onSkipped: null };

/** For a stream that is only watched: the client receives its bytes in any case, and memory is held for each of many streams. */
export const skipLongLines = (onSkipped: (end: string) => void = () => undefined): LongLines => ({
  bytesMax: MIB,
  onSkipped,
});

/**
 * Splits bytes into lines that end with LF, CR or CRLF. Chunks may be cut between the two bytes of a CRLF or inside a UTF-8 character,
 * because a line is decoded only once it is complete.
 */
export class LineSplitter {
  private readonly pending = new PendingBytes();
  private isSkipping = false;
  private endedWithCr = false;

  constructor(
    private readonly onLine: (line: string) => void,
    private readonly longLines: LongLines,
  ) {}

  get hasPartialLine(): boolean {
    return this.pending.length > 0;
  }

  /** Neither the rest of a line nor the second byte of a CRLF is pending. */
  get isBetweenLines(): boolean {
    return !this.hasPartialLine && !this.endedWithCr;
  }

  /** Throws when a line is too long and none may be skipped. */
  feed(chunk: Buffer): void {
    if (chunk.length === 0) return;
    const ends = new LineEnds(chunk);
    let start = this.endedWithCr && chunk[0] === LF ? 1 : 0;
    for (let end = ends.from(start); end < chunk.length; end = ends.from(start)) {
      this.complete(chunk, start, end);
      start = chunk[end] === CR && chunk[end + 1] === LF ? end + 2 : end + 1;
    }
    this.endedWithCr = chunk[chunk.length - 1] === CR;
    if (start < chunk.length) this.keep(chunk.subarray(start));
  }

  /** The bytes have ended. The last line needs no line end. */
  end(): void {
    if (this.pending.length > 0) this.report();
  }

  private complete(chunk: Buffer, start: number, end: number): void {
    if (this.pending.length === 0) return this.onLine(chunk.toString('utf8', start, end));
    this.keep(chunk.subarray(start, end));
    this.report();
  }

  private report(): void {
    const { isSkipping } = this;
    const bytes = this.pending.view();
    const text = bytes.toString('utf8', isSkipping ? Math.max(0, bytes.length - LINE_END_BYTES) : 0);
    this.pending.clear();
    this.isSkipping = false;
    if (isSkipping) this.longLines.onSkipped?.(text);
    else this.onLine(text);
  }

  private keep(part: Buffer): void {
    const { pending, longLines } = this;
    if (!this.isSkipping && pending.length + part.length > longLines.bytesMax) {
      if (!longLines.onSkipped) throw frameTooLong();
      this.isSkipping = true;
    }
    if (this.isSkipping && pending.length > 2 * LINE_END_BYTES)
      pending.replace(pending.view().subarray(-LINE_END_BYTES));
    pending.append(part);
  }
}

/** Finds the line ends of a chunk. Native code searches each of the two bytes, once per find. */
export class LineEnds {
  private lf = -1;
  private cr = -1;

  constructor(private readonly chunk: Buffer) {}

  /** The next line end; the length of the chunk if there is none. */
  from(start: number): number {
    if (this.lf < start) this.lf = this.next(LF, start);
    if (this.cr < start) this.cr = this.next(CR, start);
    return Math.min(this.lf, this.cr);
  }

  private next(byte: number, start: number): number {
    const position = this.chunk.indexOf(byte, start);
    return position === -1 ? this.chunk.length : position;
  }
}
