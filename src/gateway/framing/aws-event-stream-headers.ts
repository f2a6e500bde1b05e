/** Bytes of a value by its type; null if a length of two bytes precedes it. */
const VALUE_BYTES: ReadonlyMap<number, number | null> = new Map([
  [0, 0], // true
  [1, 0], // false
  [2, 1], // byte
  [3, 2], // short
  [4, 4], // integer
  [5, 8], // long
  [6, null], // bytes
  [7, null], // string
  [8, 8], // timestamp
  [9, 16], // UUID
]);

const STRING = 7;
const LENGTH_BYTES = 2;

/**
 * The headers of a message with string values; those of other types are skipped.
 * https://smithy.io/2.0/aws/amazon-eventstream.html#headers-format. Throws a plain Error when they do not fit their length.
 */
export function headersOf(bytes: Buffer): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  let at = 0;
  while (at < bytes.length) {
    const nameEnd = at + 1 + bytes.readUInt8(at);
    const type = nameEnd < bytes.length ? bytes.readUInt8(nameEnd) : -1;
    const value = valueSpan(bytes, nameEnd + 1, type);
    if (type === STRING)
      headers.set(bytes.toString('utf8', at + 1, nameEnd), bytes.toString('utf8', ...value));
    at = value[1];
  }
  return headers;
}

function valueSpan(bytes: Buffer, at: number, type: number): [start: number, end: number] {
  const fixed = VALUE_BYTES.get(type);
  if (fixed === undefined || (fixed === null && at + LENGTH_BYTES > bytes.length)) throw badHeaders();
  const start = fixed === null ? at + LENGTH_BYTES : at;
  const end = start + (fixed ?? bytes.readUInt16BE(at));
  if (end > bytes.length) throw badHeaders();
  return [start, end];
}

const badHeaders = () => new Error('The headers of a message in the stream cannot be read.');
