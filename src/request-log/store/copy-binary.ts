import type { ColumnType } from '../columns/log-column.js';

/** A column of a table that COPY fills: name, type, and the source of its value. */
export interface CopyColumn<Row> {
  readonly name: string;
  readonly type: ColumnType;
  readonly value: (row: Row) => unknown;
}

/** A value that its column cannot hold. The row is the cause, not the database. */
export class UnfitValueError extends Error {
  constructor(column: string, type: ColumnType) {
    super(`The value of "${column}" is no ${type}.`);
    this.name = 'UnfitValueError';
  }
}

const SIGNATURE = Buffer.from('PGCOPY\n\u00ff\r\n\0\0\0\0\0\0\0\0\0', 'latin1');
const TRAILER = -1;
const INITIAL_BYTES = 64 * 1024;

/**
 * Rows in the binary format of COPY: each value is its length and its bytes, so nothing is escaped and bodies are copied unchanged.
 * https://www.postgresql.org/docs/current/sql-copy.html#SQL-COPY-FILE-FORMATS
 */
export function encodeRows<Row>(columns: readonly CopyColumn<Row>[], rows: readonly Row[]): Buffer {
  const out = new GrowingBuffer();
  out.bytes(SIGNATURE);
  for (const row of rows) {
    out.int16(columns.length);
    for (const column of columns) encodeValue(out, column, column.value(row));
  }
  out.int16(TRAILER);
  return out.taken();
}

function encodeValue<Row>(out: GrowingBuffer, { name, type }: CopyColumn<Row>, value: unknown): void {
  if (value === null || value === undefined) return out.int32(-1);
  if (!ENCODERS[type](out, value)) throw new UnfitValueError(name, type);
}

/** Each writes length and bytes, or returns false when the value does not fit. */
type Encoder = (out: GrowingBuffer, value: unknown) => boolean;

const ENCODERS: Readonly<Record<ColumnType, Encoder>> = {
  uuid: (out, value) => typeof value === 'string' && out.sizedUuid(value),
  text: (out, value) => typeof value === 'string' && out.sizedText(withoutNul(value)),
  'text[]': (out, value) => isTexts(value) && out.sizedTexts(value.map(withoutNul)),
  timestamptz: (out, value) =>
    isNumber(value) &&
    Math.abs(value) < YEAR_9999_MS &&
    out.sizedInt64(Math.round((value - YEAR_2000_MS) * 1000)),
  int2: (out, value) => isNumber(value) && out.sizedInt16(clamp(value, 0x7fff)),
  int4: (out, value) => isNumber(value) && out.sizedInt32(clamp(value, 0x7fff_ffff)),
  int8: (out, value) => isNumber(value) && out.sizedInt64(clamp(value, Number.MAX_SAFE_INTEGER)),
  float4: (out, value) => isNumber(value) && out.sizedFloat32(value),
  bool: (out, value) => typeof value === 'boolean' && out.sized(value ? TRUE : FALSE),
  jsonb: (out, value) => out.sizedJsonb(cleanJson(value)),
  bytea: (out, value) => Buffer.isBuffer(value) && out.sized(value),
};

const YEAR_2000_MS = Date.UTC(2000, 0, 1);
const YEAR_9999_MS = Date.UTC(9999, 11, 31);
const TRUE = Buffer.from([1]);
const FALSE = Buffer.from([0]);

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function clamp(value: number, most: number): number {
  return Math.max(-most, Math.min(most, Math.round(value)));
}

const NUL = /\0/g;
const LONE_SURROGATE = /\p{Surrogate}/gu;
const REPLACEMENT = '\ufffd';

/** PostgreSQL texts cannot contain NUL. Lone surrogates become U+FFFD when the text is encoded as UTF-8. */
function withoutNul(text: string): string {
  return text.includes('\0') ? text.replace(NUL, REPLACEMENT) : text;
}

/** A NUL or lone surrogate as JSON escape. A false positive only costs a second look. */
const SUSPICIOUS = /\\u0000|\\ud[89a-f]/;

function cleanJson(value: unknown): string {
  const json = JSON.stringify(value);
  return SUSPICIOUS.test(json) ? JSON.stringify(value, cleanText) : json;
}

/** As JSON escapes, both would reach PostgreSQL and be refused there, so they are replaced first, in keys too. */
function cleanText(_key: string, value: unknown): unknown {
  if (typeof value === 'string') return clean(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [clean(key), inner as unknown]));
}

function clean(text: string): string {
  return withoutNul(text).replace(LONE_SURROGATE, REPLACEMENT);
}

/** https://github.com/postgres/postgres/blob/REL_17_0/src/include/catalog/pg_type.dat */
const TEXT_OID = 25;

const UUID_BYTES = 16;
const DASH = '-'.charCodeAt(0);
const NO_DIGIT = 0xff;
/** The value of a hexadecimal digit, by character code. */
const HEX_DIGITS = new Uint8Array(128).fill(NO_DIGIT);
for (let value = 0; value < 16; value++) {
  const digit = value.toString(16);
  HEX_DIGITS[digit.charCodeAt(0)] = value;
  HEX_DIGITS[digit.toUpperCase().charCodeAt(0)] = value;
}
/** Maximum UTF-8 bytes per UTF-16 code unit. */
const BYTES_PER_CHAR = 3;

/** A buffer that grows by doubling. Values are written in place, because an object for each costs more than its bytes. */
class GrowingBuffer {
  private buffer = Buffer.allocUnsafe(INITIAL_BYTES);
  private used = 0;

  bytes(bytes: Buffer): void {
    this.ensureSpace(bytes.length);
    bytes.copy(this.buffer, this.used);
    this.used += bytes.length;
  }

  int16(value: number): void {
    this.ensureSpace(2);
    this.used = this.buffer.writeInt16BE(value, this.used);
  }

  int32(value: number): void {
    this.ensureSpace(4);
    this.used = this.buffer.writeInt32BE(value, this.used);
  }

  sized(bytes: Buffer): true {
    this.int32(bytes.length);
    this.bytes(bytes);
    return true;
  }

  sizedText(text: string): true {
    this.ensureSpace(4 + text.length * BYTES_PER_CHAR);
    const bytes = this.buffer.write(text, this.used + 4);
    this.used = this.buffer.writeInt32BE(bytes, this.used) + bytes;
    return true;
  }

  /**
   * A one-dimensional text array: dimensions, whether it has nulls, type, length, first index, values.
   * https://github.com/postgres/postgres/blob/REL_17_0/src/backend/utils/adt/arrayfuncs.c (array_recv)
   */
  sizedTexts(texts: readonly string[]): true {
    const begin = this.used;
    for (const field of [0, 1, 0, TEXT_OID, texts.length, 1]) this.int32(field);
    for (const text of texts) this.sizedText(text);
    this.buffer.writeInt32BE(this.used - begin - 4, begin);
    return true;
  }

  /** Version 1 of the binary format: a version byte, then the text. */
  sizedJsonb(json: string): true {
    this.ensureSpace(5 + json.length * BYTES_PER_CHAR);
    const bytes = this.buffer.write(json, this.used + 5) + 1;
    const begin = this.buffer.writeInt32BE(bytes, this.used);
    this.buffer[begin] = 1;
    this.used = begin + bytes;
    return true;
  }

  /** False when the text is not a UUID. Parsed digit by digit, because a row has a dozen of them and substrings take ten times as long. */
  sizedUuid(text: string): boolean {
    this.ensureSpace(4 + UUID_BYTES);
    const begin = this.used + 4;
    let digits = 0;
    let pending = 0;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === DASH) continue;
      const digit = HEX_DIGITS[code] ?? NO_DIGIT;
      if (digit === NO_DIGIT || digits === 2 * UUID_BYTES) return false;
      if (digits % 2 === 1) this.buffer[begin + (digits >> 1)] = pending | digit;
      pending = digit << 4;
      digits += 1;
    }
    if (digits !== 2 * UUID_BYTES) return false;
    this.used = this.buffer.writeInt32BE(UUID_BYTES, this.used) + UUID_BYTES;
    return true;
  }

  sizedInt16(value: number): true {
    this.int32(2);
    this.int16(value);
    return true;
  }

  sizedInt32(value: number): true {
    this.int32(4);
    this.int32(value);
    return true;
  }

  sizedInt64(value: number): true {
    this.int32(8);
    this.ensureSpace(8);
    const high = Math.floor(value / 2 ** 32);
    this.used = this.buffer.writeInt32BE(high, this.used);
    this.used = this.buffer.writeUInt32BE(value - high * 2 ** 32, this.used);
    return true;
  }

  sizedFloat32(value: number): true {
    this.int32(4);
    this.ensureSpace(4);
    this.used = this.buffer.writeFloatBE(value, this.used);
    return true;
  }

  taken(): Buffer {
    return this.buffer.subarray(0, this.used);
  }

  private ensureSpace(bytes: number): void {
    if (this.used + bytes <= this.buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.buffer.length * 2, this.used + bytes));
    this.buffer.copy(larger, 0, 0, this.used);
    this.buffer = larger;
  }
}
