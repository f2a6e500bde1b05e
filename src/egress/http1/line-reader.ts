import { invalidResponse } from './http1-error.js';

/** The end of a line, and an empty one after it: the end of a header section. */
const SECTION_END = '\r\n\r\n';
const [TAB, LF, CR, SPACE, DELETE] = [9, 10, 13, 32, 127] as const;

/**
 * Strictly reads lines up to an empty one: each ends with CRLF, and contains no control character but tab
 * (https://www.rfc-editor.org/rfc/rfc9112#section-2.2 allows refusing a bare LF). A line is checked as soon as it is complete. Bytes are
 * decoded once, and mostly the whole section at once.
 */
export abstract class LineReader {
  /** The beginning of an incomplete line. */
  protected pending = '';
  /** This much of it contains no line end. */
  private scanned = 0;
  private bytes = 0;

  constructor(private readonly bytesMax: number) {}

  /** Position of the bytes after the section, or -1 while it is incomplete. Throws an `invalidResponse` error. */
  read(chunk: Buffer, from: number): number {
    const end = chunk.indexOf(SECTION_END, from, 'latin1');
    const fresh = chunk.toString('latin1', from, end < 0 ? chunk.length : end + SECTION_END.length);
    const held = this.pending.length;
    const text = held === 0 ? fresh : this.pending + fresh;
    const read = this.readLines(text);
    this.bytes += (read < 0 ? text.length : read) - held;
    if (this.bytes > this.bytesMax) throw invalidResponse('the head or the trailers are too long');
    return read < 0 ? -1 : from + read - held;
  }

  /** Call before a section that is unrelated to the last one. */
  protected restart(): void {
    this.bytes = 0;
    this.pending = '';
    this.scanned = 0;
  }

  /** A line of the section, without its end. */
  protected abstract onLine(text: string, start: number, end: number): void;

  private readLines(text: string): number {
    let at = 0;
    for (;;) {
      const end = endOfLine(text, Math.max(at, this.scanned));
      if (end < 0) return this.hold(text, at);
      if (end === at) {
        this.pending = '';
        this.scanned = 0;
        return at + 2;
      }
      this.onLine(text, at, end);
      at = end + 2;
    }
  }

  private hold(text: string, at: number): -1 {
    this.pending = at === 0 ? text : text.slice(at);
    // The last character may be half of a line end.
    this.scanned = Math.max(0, this.pending.length - 1);
    return -1;
  }
}

function endOfLine(text: string, from: number): number {
  const { length } = text;
  for (let at = from; at < length; at++) {
    const code = text.charCodeAt(at);
    if ((code >= SPACE && code !== DELETE) || code === TAB) continue;
    if (code !== CR) throw invalidResponse('a control character or a bare LF stands in a line');
    if (at + 1 === length) return -1;
    if (text.charCodeAt(at + 1) !== LF) throw invalidResponse('a line has a bare CR');
    return at;
  }
  return -1;
}

/** Start of a field's value: after the colon and the blanks that follow it. */
export function valueStart(text: string, colon: number, end: number): number {
  let at = colon + 1;
  while (at < end && isBlank(text.charCodeAt(at))) at++;
  return at;
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB;
}
