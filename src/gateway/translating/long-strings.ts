import { randomUUID } from 'node:crypto';
import type { Json } from '../../providers/endpoint.js';

/** In smaller texts everything is written anew: looking for strings takes 15 µs, and so does writing 5 KiB. */
const TEXT_BYTES = 8 * 1024;
const LONG_BYTES = 1024;
/** No character takes more bytes of JSON than this, as `\u00e9`. */
const BYTES_PER_CHAR_MAX = 6;
const LONG_CHARS = Math.ceil(LONG_BYTES / BYTES_PER_CHAR_MAX);
/** Where less of a text is long strings, there are many values besides, and looking at them takes longer than is won. */
const SHARE_MIN = 0.5;
const COUNT_MAX = 256;
const DEPTH_MAX = 64;

/** Begins what stands for a long string. Nobody outside has ever seen it, so nobody can have written it. */
const MARK = `${randomUUID()}:`;
const MARK_IN_JSON = `"${MARK}`;
const MARKS = Array.from({ length: COUNT_MAX }, (_, at) => MARK + String(at));

const BACKSLASH = 0x5c;
const COLON = 0x3a;
const SPACE: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d]);

/**
 * The long strings of a JSON text with the bytes that stand for them.
 *
 * A translation puts a text into another place and changes no character of it, but to escape and encode it anew takes
 * longer than all the rest: 170 to 490 µs for 100 KiB. Here the bytes that came are copied instead, 10 µs.
 */
export class LongStrings {
  private readonly values: string[] = [];
  /** With their quotation marks. */
  private readonly literals: Buffer[] = [];
  /** Where the last one was found: they come in much the same order. */
  private last = -1;

  private constructor(
    private readonly bytes: Buffer,
    private readonly spans: readonly Span[],
  ) {}

  /**
   * Null where `bytes` has none that are worth it. `json` must be what `bytes` says: a string of it is never compared with its
   * bytes, but known by its place.
   */
  static of(bytes: Buffer, json: Json): LongStrings | null {
    if (bytes.length < TEXT_BYTES) return null;
    // Each byte is a character, so that positions are those of bytes. No byte within a character of UTF-8 is a quotation mark.
    const text = bytes.toString('latin1');
    const spans = longSpans(text);
    const found = spans.reduce((sum, { start, end }) => sum + end - start, 0);
    if (spans.length === 0 || found < bytes.length * SHARE_MIN) return null;
    const strings = new LongStrings(bytes, spans);
    strings.match(JSON.parse(withMarks(text, spans)), json);
    return strings;
  }

  /** `value` as JSON. */
  write(value: Json): Buffer {
    const text = JSON.stringify(this.marked(value, 0));
    const used: Used[] = [];
    // Marks count, too, so that there is always room.
    let room = Buffer.byteLength(text);
    for (let from = text.indexOf(MARK_IN_JSON); from >= 0; from = text.indexOf(MARK_IN_JSON, from + 1)) {
      const number = from + MARK_IN_JSON.length;
      const quote = text.indexOf('"', number);
      const literal = this.literals[Number(text.slice(number, quote))] as Buffer;
      used.push({ from, to: quote + 1, literal });
      room += literal.length;
    }
    return spliced(text, used, Buffer.allocUnsafe(room));
  }

  /** Walks through both texts at once: they differ in the long strings only. */
  private match(marked: unknown, json: unknown): void {
    const pairs: unknown[] = [marked, json];
    while (pairs.length > 0) {
      const value = pairs.pop();
      const mark = pairs.pop();
      if (typeof mark === 'string') this.add(mark, value);
      else if (isNode(mark) && isNode(value)) for (const name in mark) pairs.push(mark[name], value[name]);
    }
  }

  private add(mark: string, value: unknown): void {
    if (!mark.startsWith(MARK) || typeof value !== 'string' || value.length < LONG_CHARS) return;
    // Bytes that are no UTF-8 were read as this: they must not be copied. What has it by right is written anew, too.
    if (value.includes('\uFFFD')) return;
    const { start, end } = this.spans[Number(mark.slice(MARK.length))] as Span;
    this.values.push(value);
    this.literals.push(this.bytes.subarray(start, end));
  }

  /** The same with marks in the places of long strings. What has none is the very same. */
  private marked(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return this.markOf(value);
    if (!isNode(value) || depth > DEPTH_MAX) return value;
    if (Array.isArray(value)) return this.markedList(value, depth);
    let changed: Node | null = null;
    for (const name in value) {
      const one = value[name];
      const other = this.marked(one, depth + 1);
      if (other === one) continue;
      changed ??= { ...value };
      changed[name] = other;
    }
    return changed ?? value;
  }

  /** By its positions, which are numbers: as names of fields they would have to be made texts. */
  private markedList(list: readonly unknown[], depth: number): readonly unknown[] {
    let changed: unknown[] | null = null;
    for (let at = 0; at < list.length; at++) {
      const other = this.marked(list[at], depth + 1);
      if (other !== list[at]) (changed ??= [...list])[at] = other;
    }
    return changed ?? list;
  }

  private markOf(value: string): string {
    if (value.length < LONG_CHARS) return value;
    const { length } = this.values;
    for (let step = 1; step <= length; step++) {
      const at = (this.last + step) % length;
      if (this.values[at] !== value) continue;
      this.last = at;
      return MARKS[at] as string;
    }
    return value;
  }
}

/** Where in a text a mark stands, and for what. */
interface Used {
  readonly from: number;
  readonly to: number;
  readonly literal: Buffer;
}

function spliced(text: string, used: readonly Used[], bytes: Buffer): Buffer {
  let end = 0;
  let copied = 0;
  for (const { from, to, literal } of used) {
    end += bytes.write(text.slice(copied, from), end);
    bytes.set(literal, end);
    end += literal.length;
    copied = to;
  }
  end += bytes.write(text.slice(copied), end);
  return bytes.subarray(0, end);
}

interface Span {
  readonly start: number;
  readonly end: number;
}

type Node = Record<string, unknown>;

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;

/** Where the long string values of a sound JSON text stand, quotation marks included. Names of fields are none. */
function longSpans(text: string): Span[] {
  const spans: Span[] = [];
  for (let start = text.indexOf('"'); start >= 0 && spans.length < COUNT_MAX;) {
    const end = endOf(text, start);
    if (end - start >= LONG_BYTES && !isName(text, end)) spans.push({ start, end });
    start = text.indexOf('"', end);
  }
  return spans;
}

/** Behind the closing quotation mark of the string that begins at `start`. */
function endOf(text: string, start: number): number {
  let at = text.indexOf('"', start + 1);
  while (at >= 0 && isEscaped(text, at)) at = text.indexOf('"', at + 1);
  return at < 0 ? text.length : at + 1;
}

function isEscaped(text: string, quote: number): boolean {
  let before = quote - 1;
  while (text.charCodeAt(before) === BACKSLASH) before--;
  return (quote - before) % 2 === 0;
}

function isName(text: string, from: number): boolean {
  let at = from;
  while (SPACE.has(text.charCodeAt(at))) at++;
  return text.charCodeAt(at) === COLON;
}

function withMarks(text: string, spans: readonly Span[]): string {
  let marked = '';
  let copied = 0;
  spans.forEach(({ start, end }, at) => {
    marked += `${text.slice(copied, start)}${MARK_IN_JSON}${at}"`;
    copied = end;
  });
  return marked + text.slice(copied);
}
