import { randomUUID } from 'node:crypto';
import { jsonText } from '../../common/json/deep-json.js';
import type { Json } from '../../providers/endpoint.js';
import {
  DEPTH_MAX,
  eachLong,
  literalsOf,
  LONG_BYTES,
  LONG_MAX,
  type LiteralSpan,
} from './string-literals.js';

/** Smaller texts are serialized as usual: searching for strings takes 15 µs, as long as writing 5 KiB. */
const TEXT_BYTES = 8 * 1024;
/** Maximum JSON bytes of a character, as in `\u00e9`. */
const BYTES_PER_CHAR_MAX = 6;
const LONG_CHARS = Math.ceil(LONG_BYTES / BYTES_PER_CHAR_MAX);
/** If long strings are a smaller share of a text, it has many other values, and the search takes longer than it saves. */
const SHARE_MIN = 0.5;

/** Prefix of the placeholders for long strings. It is random and never leaves the process, so no input can contain it. */
const MARK = `${randomUUID()}:`;
const MARK_IN_JSON = `"${MARK}`;
const MARKS = Array.from({ length: LONG_MAX }, (_, at) => MARK + String(at));

/**
 * The long strings of a JSON text with their bytes.
 *
 * A translation moves a text without changing it, but escaping and encoding it again takes longer than everything else: 170 to 490 µs for
 * 100 KiB. Copying the received bytes instead takes 10 µs.
 */
export class LongStrings {
  private readonly values: string[] = [];
  /** With their quotation marks. */
  private readonly literals: Buffer[] = [];
  /** Index of the last match: strings recur in nearly the same order. */
  private last = -1;

  private constructor(private readonly bytes: Buffer) {}

  /**
   * Null if `bytes` has too few of them. `json` must be the parsed `bytes`: strings are matched by position, never compared with their
   * bytes. `decoded`: the bytes as text, if available.
   */
  static of(bytes: Buffer, json: Json, decoded = ''): LongStrings | null {
    if (bytes.length < TEXT_BYTES) return null;
    // In Latin-1, each byte is a character, so that positions are those of bytes. No byte inside a UTF-8 character is a quotation mark.
    const found = literalsOf(decoded.length === bytes.length ? decoded : bytes.toString('latin1'));
    if (found.longBytes < bytes.length * SHARE_MIN) return null;
    const strings = new LongStrings(bytes);
    return eachLong(json, found, (value, span) => strings.add(value, span)) ? strings : null;
  }

  /** `value` as JSON. */
  write(value: Json): Buffer {
    const text = jsonText(this.marked(value, 0));
    const used: UsedPlaceholder[] = [];
    // Includes the placeholders, so that the buffer is always large enough.
    let bytesLeft = Buffer.byteLength(text);
    for (let from = text.indexOf(MARK_IN_JSON); from >= 0; from = text.indexOf(MARK_IN_JSON, from + 1)) {
      const number = from + MARK_IN_JSON.length;
      const quote = text.indexOf('"', number);
      const literal = this.literals[Number(text.slice(number, quote))] as Buffer;
      used.push({ from, to: quote + 1, literal });
      bytesLeft += literal.length;
    }
    return spliced(text, used, bufferFor(bytesLeft));
  }

  private add(value: string, { start, end }: LiteralSpan): void {
    // Invalid UTF-8 was decoded to this character and must not be copied. Valid texts that contain it are serialized as usual, too.
    if (value.length < LONG_CHARS || value.includes('\uFFFD')) return;
    this.values.push(value);
    this.literals.push(this.bytes.subarray(start, end));
  }

  /** The same value with placeholders for long strings; the same object if it has none. */
  private marked(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return this.markOf(value);
    if (!isNode(value) || depth > DEPTH_MAX) return value;
    if (Array.isArray(value)) return this.markedList(value, depth);
    let changed: JsonContainer | null = null;
    for (const name in value) {
      const one = value[name];
      const other = this.marked(one, depth + 1);
      if (other === one) continue;
      changed ??= { ...value };
      changed[name] = other;
    }
    return changed ?? value;
  }

  /** By index, because a loop over names would convert each index to a string. */
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

/** The position of a placeholder in a text, and the bytes it stands for. */
interface UsedPlaceholder {
  readonly from: number;
  readonly to: number;
  readonly literal: Buffer;
}

function spliced(text: string, used: readonly UsedPlaceholder[], bytes: Buffer): Buffer {
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

type JsonContainer = Record<string, unknown>;

const isNode = (value: unknown): value is JsonContainer => typeof value === 'object' && value !== null;

/** For buffers above 4 KiB, which Node's own pool does not cover. */
const SLAB_BYTES = 64 * 1024;
const SHARE_MAX = 2;

let slab = Buffer.alloc(0);
let used = 0;

/**
 * A buffer for bytes that are sent and dropped. Its content is undefined until it is written.
 *
 * Buffers of medium size are parts of a larger one: a separate one costs an allocation outside of the heap and its collection, 5 µs and
 * more. Do not keep any of them: one part keeps the whole alive.
 */
function bufferFor(bytes: number): Buffer {
  if (bytes > SLAB_BYTES / SHARE_MAX) return Buffer.allocUnsafeSlow(bytes);
  if (used + bytes > slab.length) {
    slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
    used = 0;
  }
  used += bytes;
  return slab.subarray(used - bytes, used);
}
