import type { StreamEvent } from '../../providers/translation.js';
import { FRAME_BYTES_MAX, type FrameDecoder, frameTooLong } from './frame-decoder.js';
import { LineSplitter, type LongLines, REFUSE_LONG_LINES } from './line-splitter.js';

const BOM = '\ufeff';
const LINE_FEED = '\n';
const LF = 0x0a;
const CARRIAGE_RETURN = '\r';
/** Larger chunks are rare, and not worth a second copy. */
const WHOLE_BYTES_MAX = 64 * 1024;
/** Overhead of a line besides its text, so that the limit also covers many empty lines. */
const LINE_COST = 8;

/**
 * Parses server-sent events by the rules of https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation: a
 * BOM at the start, comments, several lines of data, fields without a value. `id` and `retry` concern reconnecting and are not read.
 *
 * `longLines` also decides about an event whose lines together exceed `FRAME_BYTES_MAX`.
 */
export class SseParser {
  private readonly lines: LineSplitter;
  private data: string[] = [];
  private size = 0;
  private event = '';
  private isFirstLine = true;

  /** `event`: the type of the event; empty if it has none. */
  constructor(
    private readonly onEvent: (data: string, event: string) => void,
    private readonly longLines: LongLines,
  ) {
    this.lines = new LineSplitter((line) => this.line(line), longLines);
  }

  /** The stream has begun, and no partial event is pending. */
  get isBetweenEvents(): boolean {
    return !this.isFirstLine && !this.hasPartialEvent && this.lines.isBetweenLines;
  }

  /** The next event has begun. */
  get hasPartialEvent(): boolean {
    return this.event !== '' || this.data.length > 0 || this.lines.hasPartialLine;
  }

  /** Takes bytes cut anywhere. */
  feed(chunk: Buffer): void {
    if (!this.feedLines(chunk)) this.lines.feed(chunk);
  }

  /**
   * The stream has ended. The standard drops an event without its final blank line. Some providers close right after their last event, which
   * has the usage or the end, so it counts if it has data.
   */
  end(): void {
    this.lines.end();
    if (this.data.some((text) => text !== '')) this.dispatch();
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

  private line(text: string): void {
    const line = this.isFirstLine && text.startsWith(BOM) ? text.slice(BOM.length) : text;
    this.isFirstLine = false;
    if (line === '') return this.dispatch();
    const data = valueOf(line, 'data');
    if (data !== null) this.addData(data);
    else this.event = valueOf(line, 'event') ?? this.event;
  }

  private addData(value: string): void {
    this.size += value.length + LINE_COST;
    if (this.size <= FRAME_BYTES_MAX) this.data.push(value);
    else if (this.longLines.onSkipped) this.data = [];
    else throw frameTooLong();
  }

  private dispatch(): void {
    const { data, event } = this;
    this.event = '';
    this.size = 0;
    if (data.length === 0) return;
    this.data = [];
    this.onEvent(data.length === 1 ? (data[0] as string) : data.join(LINE_FEED), event);
  }
}

/** The value of a line's field, without one space after the colon; null for another field. */
function valueOf(line: string, field: string): string | null {
  if (!line.startsWith(field)) return null;
  const colon = field.length;
  const after = line.charAt(colon);
  if (after !== ':') return after === '' ? '' : null;
  return line.slice(line.charAt(colon + 1) === ' ' ? colon + 2 : colon + 1);
}

/** The events of a stream that is rewritten. */
export class SseDecoder implements FrameDecoder {
  private events: StreamEvent[] = [];
  private readonly parser = new SseParser(
    (data, event) => this.events.push({ event: event === '' ? null : event, data }),
    REFUSE_LONG_LINES,
  );

  get isBetweenFrames(): boolean {
    return this.parser.isBetweenEvents;
  }

  feed(chunk: Buffer): readonly StreamEvent[] {
    this.parser.feed(chunk);
    return this.taken();
  }

  end(): readonly StreamEvent[] {
    this.parser.end();
    return this.taken();
  }

  private taken(): readonly StreamEvent[] {
    const { events } = this;
    this.events = [];
    return events;
  }
}

const LINE_END = /\r\n|\r|\n/;
const LINE_ENDS = new RegExp(LINE_END, 'g');

/**
 * An event in the standard format (https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream), including its
 * blank line. Data with line breaks is sent as several lines, and line breaks in the event's name are removed, so that neither can forge
 * events.
 */
export function encodeSse({ event, data }: StreamEvent): string {
  const lines = hasLineEnd(data) ? data.split(LINE_END).join('\ndata: ') : data;
  if (event === null) return `data: ${lines}\n\n`;
  return `event: ${hasLineEnd(event) ? event.replace(LINE_ENDS, '') : event}\ndata: ${lines}\n\n`;
}

const hasLineEnd = (text: string): boolean => text.includes('\n') || text.includes('\r');
