import type { StreamEvent } from '../../../providers/translation.js';
import { FRAME_BYTES_MAX, type FrameDecoder, frameTooLong } from './frame-decoder.js';
import { LineSplitter } from './line-splitter.js';

const BOM = '\ufeff';
const LINE_FEED = '\n';
const LF = 0x0a;
const CARRIAGE_RETURN = '\r';
/** Larger chunks are rare, and not worth a second copy. */
const WHOLE_BYTES_MAX = 64 * 1024;
/** Overhead of a line besides its text, so that the limit also covers many empty lines. */
const LINE_COST = 8;

/**
 * Server-sent events by the rules of https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation: a BOM at
 * the start, comments, several lines of data, fields without a value. `id` and `retry` concern reconnecting and are not read.
 */
export class SseDecoder implements FrameDecoder {
  private readonly lines = new LineSplitter((line) => this.line(line));
  private events: StreamEvent[] = [];
  private data: string[] = [];
  private dataLength = 0;
  private event = '';
  private isFirstLine = true;

  get isBetweenFrames(): boolean {
    return !this.isFirstLine && this.event === '' && this.data.length === 0 && this.lines.isBetweenLines;
  }

  feed(chunk: Buffer): readonly StreamEvent[] {
    if (!this.feedLines(chunk)) this.lines.feed(chunk);
    return this.taken();
  }

  /** Most chunks are whole lines that end with LF, and are decoded at once. False for other chunks. */
  private feedLines(chunk: Buffer): boolean {
    const { length } = chunk;
    if (length > WHOLE_BYTES_MAX || chunk[length - 1] !== LF || !this.lines.isBetweenLines) return false;
    const text = chunk.toString('utf8');
    if (text.includes(CARRIAGE_RETURN)) return false;
    for (let start = 0; start < text.length;) {
      const end = text.indexOf(LINE_FEED, start);
      this.line(text.slice(start, end));
      start = end + 1;
    }
    return true;
  }

  /**
   * The standard drops an event without its final blank line. Some providers close right after their last event, which has the usage or the
   * end, so it counts if it has data.
   */
  end(): readonly StreamEvent[] {
    const last = this.lines.end();
    if (last !== null) this.line(last);
    if (this.dataLength > 0) this.dispatch();
    return this.taken();
  }

  private taken(): readonly StreamEvent[] {
    const { events } = this;
    this.events = [];
    return events;
  }

  private line(text: string): void {
    const line = this.isFirstLine && text.startsWith(BOM) ? text.slice(BOM.length) : text;
    this.isFirstLine = false;
    if (line === '') return this.dispatch();
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    if (name === 'data') this.addData(valueOf(line, colon));
    else if (name === 'event') this.event = valueOf(line, colon);
  }

  private addData(value: string): void {
    this.dataLength += value.length;
    if (this.dataLength + this.data.length * LINE_COST > FRAME_BYTES_MAX) throw frameTooLong();
    this.data.push(value);
  }

  private dispatch(): void {
    const { data, event } = this;
    this.event = '';
    if (data.length === 0) return;
    this.data = [];
    this.dataLength = 0;
    const text = data.length === 1 ? (data[0] as string) : data.join(LINE_FEED);
    this.events.push({ event: event === '' ? null : event, data: text });
  }
}

/** The text after the colon, without one space. */
function valueOf(line: string, colon: number): string {
  if (colon === -1) return '';
  return line.slice(line.charAt(colon + 1) === ' ' ? colon + 2 : colon + 1);
}
