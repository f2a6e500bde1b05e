import { LineEnds, skipLongLines } from './line-splitter.js';
import { SseParser } from './sse.js';

/** A longer event is not held: its bytes pass without its data. */
const HELD_BYTES_MAX = 1024 * 1024;
const CR = 0x0d;
const LF = 0x0a;

/** The bytes of an event, with its data as a client parses them; `data` is null for bytes without an event, such as comments. */
export type OnSseBlock = (raw: Buffer, data: string | null, event: string) => void;

/** Splits server-sent events and keeps their bytes, for a stream in which some events change and all other bytes pass. */
export class SseBlocks {
  private readonly parser = new SseParser((data, event) => {
    this.data = data;
    this.event = event;
  }, skipLongLines());
  private held: Buffer[] = [];
  private heldBytes = 0;
  private data: string | null = null;
  private event = '';
  private isPassing = false;

  constructor(private readonly onBlock: OnSseBlock) {}

  /** No event has begun. */
  get isBetweenBlocks(): boolean {
    return this.heldBytes === 0 && !this.isPassing;
  }

  /** Takes bytes cut anywhere. */
  feed(chunk: Buffer): void {
    const ends = new LineEnds(chunk);
    for (let start = 0; start < chunk.length;) {
      const end = ends.from(start);
      const next = chunk[end] === CR && chunk[end + 1] === LF ? end + 2 : end + 1;
      this.line(chunk.subarray(start, next));
      start = next;
    }
  }

  /** The stream has ended. Its last event counts without its blank line. */
  end(): void {
    this.parser.end();
    this.complete();
  }

  /** A line, or a part of one. */
  private line(bytes: Buffer): void {
    this.parser.feed(bytes);
    this.held.push(bytes);
    this.heldBytes += bytes.length;
    if (this.data !== null || !this.parser.hasPartialEvent) this.complete();
    else if (this.isPassing || this.heldBytes > HELD_BYTES_MAX) {
      this.isPassing = true;
      this.report(null);
    }
  }

  private complete(): void {
    this.report(this.isPassing ? null : this.data);
    this.isPassing = false;
    this.data = null;
  }

  private report(data: string | null): void {
    const { held } = this;
    if (held.length === 0) return;
    this.held = [];
    this.heldBytes = 0;
    this.onBlock(held.length === 1 ? (held[0] as Buffer) : Buffer.concat(held), data, this.event);
  }
}
