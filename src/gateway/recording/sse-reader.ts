const LF = 0x0a;
const CR = 0x0d;

/** Of a longer line, only the end is read; the bytes pass all the same. */
const LINE_BYTES_MAX = 1024 * 1024;
const LINE_END_BYTES = 64 * 1024;

const BOM = '\ufeff';
const DATA = 'data';

/**
 * Reads server-sent events while their bytes pass, in chunks cut anywhere. Reports the data of each event, and the end of each line that is
 * too long to read. https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */
export class SseReader {
  private pending: Buffer[] = [];
  private pendingBytes = 0;
  /** Bytes kept of a line that is too long. */
  private keptBytes = 0;
  private data: string[] = [];
  private endedWithCr = false;
  private isFirstLine = true;

  constructor(
    private readonly onEvent: (data: string) => void,
    private readonly onLineEnd: ((end: string) => void) | null = null,
  ) {}

  feed(chunk: Buffer): void {
    let start = 0;
    for (let index = 0; index < chunk.length; index++) {
      const byte = chunk[index];
      if (byte !== LF && byte !== CR) continue;
      const isSecondOfPair = byte === LF && (index > 0 ? chunk[index - 1] === CR : this.endedWithCr);
      if (!isSecondOfPair) this.line(chunk.subarray(start, index));
      start = index + 1;
    }
    this.endedWithCr = chunk.length > 0 ? chunk[chunk.length - 1] === CR : this.endedWithCr;
    if (start < chunk.length) this.keep(chunk.subarray(start));
  }

  /** The stream has ended. An event without its closing blank line counts too: some providers end that way. */
  end(): void {
    if (this.pendingBytes > 0) this.line(Buffer.alloc(0));
    this.dispatch();
  }

  private keep(rest: Buffer): void {
    this.pendingBytes += rest.length;
    this.keptBytes += rest.length;
    this.pending.push(rest);
    if (this.pendingBytes > LINE_BYTES_MAX) this.shorten();
  }

  private shorten(): void {
    let first = 0;
    for (const { length } of this.pending) {
      if (this.keptBytes - length < LINE_END_BYTES) break;
      this.keptBytes -= length;
      first++;
    }
    this.pending.splice(0, first);
  }

  private line(end: Buffer): void {
    const bytes = this.pendingBytes === 0 ? end : Buffer.concat([...this.pending, end]);
    const isTooLong = this.pendingBytes > LINE_BYTES_MAX;
    this.pending = [];
    this.pendingBytes = this.keptBytes = 0;
    if (isTooLong)
      return this.onLineEnd?.(bytes.toString('utf8', Math.max(0, bytes.length - LINE_END_BYTES)));
    if (bytes.length === 0) return this.dispatch();
    this.field(this.withoutBom(bytes.toString('utf8')));
  }

  private withoutBom(line: string): string {
    const isFirst = this.isFirstLine;
    this.isFirstLine = false;
    return isFirst && line.startsWith(BOM) ? line.slice(BOM.length) : line;
  }

  private field(line: string): void {
    if (!line.startsWith(DATA)) return;
    const after = line.charAt(DATA.length);
    if (after === ':')
      this.data.push(line.slice(line.charAt(DATA.length + 1) === ' ' ? DATA.length + 2 : DATA.length + 1));
    else if (after === '') this.data.push('');
  }

  private dispatch(): void {
    if (this.data.length === 0) return;
    const text = this.data.length === 1 ? (this.data[0] as string) : this.data.join('\n');
    this.data = [];
    this.onEvent(text);
  }
}
