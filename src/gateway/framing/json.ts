import type { StreamEvent } from '../../providers/translation.js';
import type { FrameDecoder } from './frame-decoder.js';
import { LineSplitter, REFUSE_LONG_LINES } from './line-splitter.js';

const OPEN = 0x7b;
const CLOSE = 0x7d;
const LIST_END = 0x5d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** A larger object passes unread. */
const OBJECT_BYTES_MAX = 16 * 1024 * 1024;

/**
 * Extracts the objects of a JSON array as it passes, cut anywhere; a single object counts as one. Gemini streams in this format unless the
 * client requests events. https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent
 */
export class JsonObjects {
  private depth = 0;
  private isText = false;
  private isEscaped = false;
  private pieces: Buffer[] = [];
  private bytes = 0;
  /** The array has ended. */
  hasEnded = false;

  constructor(private readonly onObject: (json: string) => void) {}

  feed(chunk: Buffer): void {
    let start = this.depth > 0 ? 0 : -1;
    for (let at = 0; at < chunk.length; at++) {
      const before = this.depth;
      this.take(chunk[at] as number);
      if (before === 0 && this.depth === 1) start = at;
      else if (before === 1 && this.depth === 0) start = this.ends(chunk.subarray(start, at + 1));
    }
    if (start >= 0) this.keep(chunk.subarray(start));
  }

  private take(byte: number): void {
    if (this.isText) this.inText(byte);
    else if (byte === QUOTE) this.isText = true;
    else if (byte === OPEN) this.depth++;
    else if (byte === CLOSE && this.depth > 0) this.depth--;
    else if (byte === LIST_END && this.depth === 0) this.hasEnded = true;
  }

  private inText(byte: number): void {
    if (this.isEscaped) this.isEscaped = false;
    else if (byte === BACKSLASH) this.isEscaped = true;
    else if (byte === QUOTE) this.isText = false;
  }

  private keep(piece: Buffer): void {
    this.bytes += piece.length;
    if (this.bytes <= OBJECT_BYTES_MAX) this.pieces.push(piece);
    else this.pieces = [];
  }

  private ends(piece: Buffer): -1 {
    this.keep(piece);
    const { pieces, bytes } = this;
    this.pieces = [];
    this.bytes = 0;
    if (bytes <= OBJECT_BYTES_MAX) this.onObject(Buffer.concat(pieces).toString('utf8'));
    return -1;
  }
}

/** The objects of a JSON array, or a single object: https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent */
export class JsonArrayDecoder implements FrameDecoder {
  private events: StreamEvent[] = [];
  private readonly objects = new JsonObjects((data) => this.events.push({ event: null, data }));
  readonly isBetweenFrames = false;

  feed(chunk: Buffer): readonly StreamEvent[] {
    this.objects.feed(chunk);
    const { events } = this;
    this.events = [];
    return events;
  }

  end(): readonly StreamEvent[] {
    return [];
  }
}

/** A JSON text per line, https://jsonlines.org/. Blank lines are skipped; the last line needs no line end. */
export class JsonLinesDecoder implements FrameDecoder {
  private readonly lines = new LineSplitter((line) => this.line(line), REFUSE_LONG_LINES);
  private events: StreamEvent[] = [];

  get isBetweenFrames(): boolean {
    return this.lines.isBetweenLines;
  }

  feed(chunk: Buffer): readonly StreamEvent[] {
    this.lines.feed(chunk);
    return this.taken();
  }

  end(): readonly StreamEvent[] {
    this.lines.end();
    return this.taken();
  }

  private taken(): readonly StreamEvent[] {
    const { events } = this;
    this.events = [];
    return events;
  }

  private line(line: string): void {
    const data = line.trim();
    if (data !== '') this.events.push({ event: null, data });
  }
}
