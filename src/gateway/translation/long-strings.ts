import { randomUUID } from 'node:crypto';
import type { Json } from '../../providers/endpoint.js';
import {
  DEPTH_MAX,
  eachLong,
  literalsOf,
  LONG_BYTES,
  LONG_MAX,
  type LiteralSpan,
} from './string-literals.js';
import { roomFor } from './short-lived-bytes.js';

/** In smaller texts everything is written again: looking for strings takes 15 µs, and so does writing 5 KiB. */
const TEXT_BYTES = 8 * 1024;
/** No character takes more bytes of JSON than this, as `\u00e9`. */
const BYTES_PER_CHAR_MAX = 6;
const LONG_CHARS = Math.ceil(LONG_BYTES / BYTES_PER_CHAR_MAX);
/** Where less of a text is long strings, there are many values besides, and looking at them takes longer than is won. */
const SHARE_MIN = 0.5;

/** Begins what stands for a long string. Nobody outside has ever seen it, so nobody can have written it. */
const MARK = `${randomUUID()}:`;
const MARK_IN_JSON = `"${MARK}`;
const MARKS = Array.from({ length: LONG_MAX }, (_, at) => MARK + String(at));

/**
 * The long strings of a JSON text with the bytes that stand for them.
 *
 * A translation puts a text into another place and changes no character of it, but to escape and encode it again takes
 * longer than all the rest: 170 to 490 µs for 100 KiB. Here the bytes that came are copied instead, 10 µs.
 */
export class LongStrings {
  private readonly values: string[] = [];
  /** With their quotation marks. */
  private readonly literals: Buffer[] = [];
  /** Where the last one was found: they come in much the same order. */
  private last = -1;

  private constructor(private readonly bytes: Buffer) {}

  /**
   * Null where `bytes` has none that are worth it. `json` must be what `bytes` says: a string of it is never compared with its
   * bytes, but known by its place. `decoded`: the bytes as text, where somebody has it.
   */
  static of(bytes: Buffer, json: Json, decoded = ''): LongStrings | null {
    if (bytes.length < TEXT_BYTES) return null;
    // Each byte is a character, so that positions are those of bytes. No byte within a character of UTF-8 is a quotation mark.
    const found = literalsOf(decoded.length === bytes.length ? decoded : bytes.toString('latin1'));
    if (found.longBytes < bytes.length * SHARE_MIN) return null;
    const strings = new LongStrings(bytes);
    return eachLong(json, found, (value, span) => strings.add(value, span)) ? strings : null;
  }

  /** `value` as JSON. */
  write(value: Json): Buffer {
    const text = JSON.stringify(this.marked(value, 0));
    const used: UsedMark[] = [];
    // Marks count, too, so that there is always room.
    let room = Buffer.byteLength(text);
    for (let from = text.indexOf(MARK_IN_JSON); from >= 0; from = text.indexOf(MARK_IN_JSON, from + 1)) {
      const number = from + MARK_IN_JSON.length;
      const quote = text.indexOf('"', number);
      const literal = this.literals[Number(text.slice(number, quote))] as Buffer;
      used.push({ from, to: quote + 1, literal });
      room += literal.length;
    }
    return spliced(text, used, roomFor(room));
  }

  private add(value: string, { start, end }: LiteralSpan): void {
    // Bytes that are no UTF-8 were read as this: they must not be copied. What has it by right is written again, too.
    if (value.length < LONG_CHARS || value.includes('\uFFFD')) return;
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
interface UsedMark {
  readonly from: number;
  readonly to: number;
  readonly literal: Buffer;
}

function spliced(text: string, used: readonly UsedMark[], bytes: Buffer): Buffer {
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

type Node = Record<string, unknown>;

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null;
