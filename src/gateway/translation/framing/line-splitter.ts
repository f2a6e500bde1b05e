import { FRAME_BYTES_MAX, frameTooLong } from './frame-decoder.js';
import { PendingBytes } from './pending-bytes.js';

const LF = 0x0a;
const CR = 0x0d;

/**
 * Splits bytes into lines that end with LF, CR or CRLF. Chunks may be cut between the two bytes of a CRLF or inside a UTF-8 character,
 * because a line is decoded only once it is complete.
 */
export class LineSplitter {
  private readonly pending = new PendingBytes();
  private endedWithCr = false;

  constructor(private readonly onLine: (line: string) => void) {}

  /** Neither the rest of a line nor the second byte of a CRLF is pending. */
  get isBetweenLines(): boolean {
    return this.pending.length === 0 && !this.endedWithCr;
  }

  /** Throws when a line exceeds `FRAME_BYTES_MAX`. */
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

  /** The last line, if it has no line end; null when the bytes ended with a line. */
  end(): string | null {
    return this.pending.length === 0 ? null : this.pending.view().toString('utf8');
  }

  private complete(chunk: Buffer, start: number, end: number): void {
    if (this.pending.length === 0) return this.onLine(chunk.toString('utf8', start, end));
    this.keep(chunk.subarray(start, end));
    const line = this.pending.view().toString('utf8');
    this.pending.clear();
    this.onLine(line);
  }

  private keep(part: Buffer): void {
    if (this.pending.length + part.length > FRAME_BYTES_MAX) throw frameTooLong();
    this.pending.append(part);
  }
}

/** Finds the line ends of a chunk. Native code searches each of the two bytes, once per find. */
class LineEnds {
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
