import type { StreamEvent } from '../../providers/translation.js';
import type { FrameDecoder } from './frame-decoder.js';
import { LineSplitter, REFUSE_LONG_LINES } from './line-splitter.js';

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
