import { crc32 } from 'node:zlib';
import type { StreamEvent } from '../../providers/translation.js';
import { FRAME_BYTES_MAX, type FrameDecoder, frameTooLong } from './frame-decoder.js';
import { PendingBytes } from './pending-bytes.js';

/** Length of the message, length of its headers, checksum of both: three numbers of four bytes. */
const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;
const MESSAGE_BYTES_MIN = PRELUDE_BYTES + CHECKSUM_BYTES;

/**
 * Amazon's binary frames, `application/vnd.amazon.eventstream`: https://smithy.io/2.0/aws/amazon-eventstream.html. Both checksums are
 * compared before a byte is used. A modelled exception becomes an event under its own name, an unmodelled error one under its code with
 * `{"__type", "message"}` as data, so that the dialect receives it.
 */
export class AwsEventStreamDecoder implements FrameDecoder {
  private readonly pending = new PendingBytes();
  /** Bytes needed before the next read can succeed. */
  private neededBytes = PRELUDE_BYTES;

  get isBetweenFrames(): boolean {
    return this.pending.length === 0;
  }

  feed(chunk: Buffer): readonly StreamEvent[] {
    if (this.pending.length === 0) return this.read(chunk);
    this.pending.append(chunk);
    return this.pending.length < this.neededBytes ? [] : this.read(this.pending.view());
  }

  /** A truncated message is not an event; the dialect detects its missing end. */
  end(): readonly StreamEvent[] {
    return [];
  }

  /** Takes all whole messages off the front and notes the length of the next one. */
  private read(bytes: Buffer): readonly StreamEvent[] {
    const events: StreamEvent[] = [];
    let at = 0;
    this.neededBytes = PRELUDE_BYTES;
    while (bytes.length - at >= PRELUDE_BYTES) {
      this.neededBytes = messageLength(bytes.subarray(at, at + PRELUDE_BYTES));
      if (bytes.length - at < this.neededBytes) break;
      const event = eventOf(bytes.subarray(at, at + this.neededBytes));
      if (event) events.push(event);
      at += this.neededBytes;
      this.neededBytes = PRELUDE_BYTES;
    }
    this.pending.replace(bytes.subarray(at));
    return events;
  }
}

/** Checks the prelude, because a decoder would wait for the bytes of a wrong length. */
function messageLength(prelude: Buffer): number {
  if (crc32(prelude.subarray(0, 8)) !== prelude.readUInt32BE(8))
    throw new Error('The checksum of a prelude in the stream is wrong.');
  const messageBytes = prelude.readUInt32BE(0);
  if (messageBytes > FRAME_BYTES_MAX) throw frameTooLong();
  if (messageBytes < MESSAGE_BYTES_MIN + prelude.readUInt32BE(4))
    throw new Error('The lengths of a message in the stream do not fit each other.');
  return messageBytes;
}

function eventOf(message: Buffer): StreamEvent | null {
  const end = message.length - CHECKSUM_BYTES;
  if (crc32(message.subarray(0, end)) !== message.readUInt32BE(end))
    throw new Error('The checksum of a message in the stream is wrong.');
  const payloadAt = PRELUDE_BYTES + message.readUInt32BE(4);
  const headers = headersOf(message.subarray(PRELUDE_BYTES, payloadAt));
  return named(headers, message.toString('utf8', payloadAt, end));
}

/** https://smithy.io/2.0/aws/amazon-eventstream.html#amazon-event-semantics */
function named(headers: ReadonlyMap<string, string>, payload: string): StreamEvent | null {
  switch (headers.get(':message-type')) {
    case 'event':
      return { event: headers.get(':event-type') ?? null, data: payload };
    case 'exception':
      return { event: headers.get(':exception-type') ?? 'exception', data: payload };
    case 'error': {
      const code = headers.get(':error-code') ?? 'error';
      const message = headers.get(':error-message') ?? '';
      return { event: code, data: JSON.stringify({ __type: code, message }) };
    }
    default:
      return null;
  }
}

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
function headersOf(bytes: Buffer): ReadonlyMap<string, string> {
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
