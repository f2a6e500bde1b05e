import { crc32 } from 'node:zlib';
import type { AttemptRecord, CapturedBodies, OpenedExchange, RequestLogRecord } from '../record.js';
import { closedText, openedText, openedTextWith } from './frame-values.js';

/**
 * A frame: one fact about an exchange, as bytes in the spool.
 *
 *   offset  bytes  meaning (integers little-endian)
 *        0      4  magic "GHF1"; zero means that nothing was written here yet
 *        4      4  length of everything after the header
 *        8      4  CRC-32 of everything after this field, seeded with the segment number, so that frames from an
 *                  earlier use of the file are invalid
 *       12      2  kind: 1 opened, 2 closed
 *       14      2  layout of the lists in the JSON (frame-values.ts), 0 so far; a frame of another layout counts as damaged
 *       16      4  length of the JSON
 *       20      4  length of the captured request body
 *       24         JSON, then the request body, then the response body
 *
 * Bodies are stored as bytes, without escaping. Small ones are copied behind the JSON, so that a frame is one buffer; large ones are
 * written from their own buffers.
 */
const HEADER_BYTES = 24;
const MAGIC = 0x31_46_48_47;
const CHECKSUM_AT = 8;
const CRC_FROM = 12;

/** Longer lengths count as damage. A record is small and bodies are cut at 320 KiB; only texts to count are large. */
const PAYLOAD_BYTES_MAX = 128 * 1024 * 1024;

type FrameKind = 'opened' | 'closed';
/** Raised when a position in a list gets another meaning. Values at the end of a list need no new layout. */
const LAYOUT = 0;
const KINDS: Readonly<Record<FrameKind, number>> = { opened: (LAYOUT << 16) | 1, closed: (LAYOUT << 16) | 2 };

/** A frame to be written: the head holds header, JSON and small bodies; large bodies follow as captured. */
export interface EncodedFrame {
  readonly head: Buffer;
  readonly bodies: readonly Buffer[];
  readonly hasBodies: boolean;
  readonly json: string;
  readonly bytes: number;
  /** The record of a closed frame, for making a smaller frame when the disk is full. */
  readonly record: RequestLogRecord | null;
}

/** A frame as read; its JSON is not parsed yet. Buffers are views of the input. */
export interface StoredFrame {
  readonly kind: FrameKind;
  readonly json: Buffer;
  readonly requestBody: Buffer;
  readonly responseBody: Buffer;
  readonly bytes: number;
}

/** Allocates uninitialized memory for a frame. */
export type Allocate = (bytes: number) => Buffer;

const apart: Allocate = (bytes) => Buffer.allocUnsafe(bytes);

export function encodeOpened(exchange: OpenedExchange, allocate: Allocate = apart): EncodedFrame {
  const json = openedText(exchange);
  return encode({ kind: KINDS.opened, json, bodies: NO_BODIES, record: null }, allocate);
}

/** A later state of an open exchange. `opened` is the JSON of its first frame. */
export function encodeUpdated(
  opened: string,
  attempts: readonly AttemptRecord[],
  allocate: Allocate = apart,
): EncodedFrame {
  const json = openedTextWith(opened, attempts);
  return encode({ kind: KINDS.opened, json, bodies: NO_BODIES, record: null }, allocate);
}

/** `opened` is the JSON of the exchange's first frame; null when it has none or it is no longer available. */
export function encodeClosed(
  record: RequestLogRecord,
  bodies: CapturedBodies,
  opened: string | null = null,
  allocate: Allocate = apart,
): EncodedFrame {
  const json = closedText({ record, ...bodies }, opened);
  return encode({ kind: KINDS.closed, json, bodies, record }, allocate);
}

/** Text is counted even when the disk is full, because it is money; longer texts would use up the reserve. */
const COUNTABLE_KEPT_MAX = 16 * 1024;

/** The same frame without bodies and headers, for when the disk is full. An opened frame has none and stays unchanged. */
export function withoutBodies(frame: EncodedFrame): EncodedFrame {
  if (!frame.record) return frame;
  const { countable } = frame.record;
  const isShort =
    countable !== null && countable.input.length + countable.output.length <= COUNTABLE_KEPT_MAX;
  const record = {
    ...frame.record,
    request_headers: [],
    response_headers: [],
    countable: isShort ? countable : null,
  };
  return encodeClosed(record, NO_BODIES);
}

const NOTHING: readonly Buffer[] = [];
const NO_BODIES: CapturedBodies = { request: null, response: null };

interface UnencodedFrame {
  readonly kind: number;
  readonly json: string;
  readonly bodies: CapturedBodies;
  readonly record: RequestLogRecord | null;
}

/** Bodies up to this total size are copied into the frame; copying so little costs less than another buffer. */
const COPIED_BYTES_MAX = 16 * 1024;

function encode({ kind, json, bodies, record }: UnencodedFrame, allocate: Allocate): EncodedFrame {
  const request = bodies.request?.chunks ?? NOTHING;
  const response = bodies.response?.chunks ?? NOTHING;
  const jsonBytes = Buffer.byteLength(json);
  const requestBytes = total(request);
  const bodyBytes = requestBytes + total(response);
  const isCopied = bodyBytes <= COPIED_BYTES_MAX;
  const head = allocate(HEADER_BYTES + jsonBytes + (isCopied ? bodyBytes : 0));
  head.writeUInt32LE(MAGIC, 0);
  head.writeUInt32LE(jsonBytes + bodyBytes, 4);
  head.writeUInt32LE(kind, 12);
  head.writeUInt32LE(jsonBytes, 16);
  head.writeUInt32LE(requestBytes, 20);
  head.write(json, HEADER_BYTES, jsonBytes === json.length ? 'latin1' : 'utf8');
  if (isCopied) copyInto(head, copyInto(head, HEADER_BYTES + jsonBytes, request), response);
  const apart = isCopied ? NOTHING : [...request, ...response];
  const bytes = HEADER_BYTES + jsonBytes + bodyBytes;
  return { head, bodies: apart, hasBodies: bodyBytes > 0, json, bytes, record };
}

/** Binds a frame to a segment. The writer calls it, because the segment is known only when writing. */
export function sealFrame({ head, bodies }: EncodedFrame, segment: number): void {
  head.writeUInt32LE(checksum(head, bodies, segment), CHECKSUM_AT);
}

/** Returns the position after the last byte. */
function copyInto(target: Buffer, at: number, chunks: readonly Buffer[]): number {
  let next = at;
  for (const chunk of chunks) {
    target.set(chunk, next);
    next += chunk.length;
  }
  return next;
}

function total(chunks: readonly Buffer[]): number {
  let bytes = 0;
  for (const chunk of chunks) bytes += chunk.length;
  return bytes;
}

/** `zlib.crc32` exists from Node 20.15 (https://nodejs.org/api/zlib.html#zlibcrc32data-value); 0.5 µs per KiB. */
function checksum(head: Buffer, bodies: readonly Buffer[], segment: number): number {
  let crc = crc32(head.subarray(CRC_FROM), segment);
  // Given no bytes, zlib returns the checksum of nothing instead of the given one.
  for (const chunk of bodies) if (chunk.length > 0) crc = crc32(chunk, crc);
  return crc;
}

/** Reads the frame at `offset` of a segment, or reports what is there instead. Never throws. */
export function decodeFrame(
  bytes: Buffer,
  offset: number,
  segment: number,
): StoredFrame | 'nothing' | 'incomplete' | 'damaged' {
  const there = bytes.length - offset;
  if (there < 4) return isZero(bytes, offset) ? 'nothing' : 'incomplete';
  const magic = bytes.readUInt32LE(offset);
  if (magic === 0) return 'nothing';
  if (magic !== MAGIC) return 'damaged';
  if (there < HEADER_BYTES) return 'incomplete';
  const payload = bytes.readUInt32LE(offset + 4);
  if (payload > PAYLOAD_BYTES_MAX) return 'damaged';
  if (there < HEADER_BYTES + payload) return 'incomplete';
  return checkedFrame(bytes.subarray(offset, offset + HEADER_BYTES + payload), segment);
}

function checkedFrame(bytes: Buffer, segment: number): StoredFrame | 'damaged' {
  if (crc32(bytes.subarray(CRC_FROM), segment) !== bytes.readUInt32LE(CHECKSUM_AT)) return 'damaged';
  const kind = bytes.readUInt32LE(12);
  const jsonEnd = HEADER_BYTES + bytes.readUInt32LE(16);
  const requestEnd = jsonEnd + bytes.readUInt32LE(20);
  if ((kind !== KINDS.opened && kind !== KINDS.closed) || requestEnd > bytes.length) return 'damaged';
  return {
    kind: kind === KINDS.opened ? 'opened' : 'closed',
    json: bytes.subarray(HEADER_BYTES, jsonEnd),
    requestBody: bytes.subarray(jsonEnd, requestEnd),
    responseBody: bytes.subarray(requestEnd),
    bytes: bytes.length,
  };
}

function isZero(bytes: Buffer, offset: number): boolean {
  for (let at = offset; at < bytes.length; at++) if (bytes[at] !== 0) return false;
  return true;
}

/** Where the next frame may begin after damage at `offset`; -1 without another magic. */
export function nextMagic(bytes: Buffer, offset: number): number {
  return bytes.indexOf(MAGIC_BYTES, offset);
}

const MAGIC_BYTES = Buffer.from([0x47, 0x48, 0x46, 0x31]);
