import { randomBytes } from 'node:crypto';

/** Opcodes. https://www.rfc-editor.org/rfc/rfc6455#section-11.8 */
const CONTINUATION = 0x0;
const TEXT = 0x1;
const BINARY = 0x2;
const CLOSE = 0x8;
const KNOWN: ReadonlySet<number> = new Set([CONTINUATION, TEXT, BINARY, CLOSE, 0x9, 0xa]);
const CONTROL = 0x8;

const FIN = 0x80;
const RESERVED = 0x70;
const OPCODE = 0x0f;
const MASKED = 0x80;
const LENGTH = 0x7f;
const LENGTH_OF_2 = 126;
const LENGTH_OF_8 = 127;
const MASK_BYTES = 4;
const HEAD_BYTES_MAX = 14;

/** A longer message is not read; its bytes pass all the same. */
const MESSAGE_BYTES_MAX = 1024 * 1024;

/** Receives the messages of passing frames. */
export interface FrameListener {
  /** Whether messages are read; checked when one begins. Absent: always. */
  readonly isListening?: boolean;
  /** A whole message. */
  onText(text: Buffer): void;
  /** A message of this size was too long to read; or the bytes are not readable frames, and the size is unknown. */
  onUnread(bytes: number | null): void;
}

/** Frames of clients are masked, frames of servers are not. https://www.rfc-editor.org/rfc/rfc6455#section-5.1 */
type FrameSender = 'client' | 'server';

/**
 * Reads WebSocket frames while their bytes pass, in chunks cut anywhere. It changes nothing and holds one text message of at most 1 MiB, or
 * none without a listener. Extensions are not supported. https://www.rfc-editor.org/rfc/rfc6455#section-5.2
 */
export class FrameReader {
  private readonly head = Buffer.alloc(HEAD_BYTES_MAX);
  private headBytes = 0;
  /** Remaining bytes of the payload; null while a head is being read, 0 between frames. */
  private left: number | null = 0;
  /** The listener reads the current message. */
  private isRead = false;
  private isBroken = false;
  private pieces: Buffer[] = [];
  private messageBytes = 0;
  /** A Close frame has begun. */
  hasClosed = false;
  /** A message has begun and its last frame has not ended, so that no other message may be sent. */
  isInMessage = false;

  constructor(
    private readonly listener: FrameListener | null,
    private readonly sender: FrameSender = 'server',
  ) {}

  /** Remaining bytes of the current frame, 0 between frames; null if unknown. */
  get bytesLeft(): number | null {
    return this.isBroken ? null : this.left;
  }

  feed(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length && !this.isBroken)
      at = this.left ? this.payload(chunk, at) : this.headByte(chunk, at);
  }

  private headByte(chunk: Buffer, at: number): number {
    this.left = null;
    this.head[this.headBytes++] = chunk[at] as number;
    if (this.headBytes >= 2 && this.headBytes === headLength(this.head)) this.begin();
    return at + 1;
  }

  private begin(): void {
    const [first = 0] = this.head;
    const length = payloadLength(this.head);
    this.headBytes = 0;
    if ((first & RESERVED) !== 0 || !KNOWN.has(first & OPCODE) || length === null) return this.giveUp();
    this.left = length;
    if ((first & OPCODE) === CLOSE) this.hasClosed = true;
    if ((first & OPCODE) === TEXT || (first & OPCODE) === BINARY) this.messageBegins();
    if (length === 0) this.frameEnds();
  }

  /** Binary messages are read as well: a receiver may take the same event in either form. */
  private messageBegins(): void {
    this.isInMessage = true;
    this.isRead = this.listener !== null && this.listener.isListening !== false;
  }

  private payload(chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + (this.left as number));
    if (this.isRead && !this.isControl) this.keep(this.unmasked(chunk.subarray(at, end)));
    this.left = (this.left as number) - (end - at);
    if (this.left === 0) this.frameEnds();
    return end;
  }

  /** A copy without the mask; the passing bytes stay as they are. https://www.rfc-editor.org/rfc/rfc6455#section-5.3 */
  private unmasked(piece: Buffer): Buffer {
    const { head } = this;
    if (!isMasked(head) || this.messageBytes + piece.length > MESSAGE_BYTES_MAX) return piece;
    const maskAt = headLength(head) - MASK_BYTES;
    const from = (payloadLength(head) as number) - (this.left as number);
    const plain = Buffer.allocUnsafe(piece.length);
    for (let at = 0; at < piece.length; at++)
      plain[at] = (piece[at] as number) ^ (head[maskAt + ((from + at) % MASK_BYTES)] as number);
    return plain;
  }

  private get isControl(): boolean {
    return ((this.head[0] as number) & CONTROL) !== 0;
  }

  private keep(piece: Buffer): void {
    this.messageBytes += piece.length;
    if (this.messageBytes <= MESSAGE_BYTES_MAX) this.pieces.push(piece);
    else this.pieces = [];
  }

  private frameEnds(): void {
    if (this.isControl || ((this.head[0] as number) & FIN) === 0) return;
    this.isInMessage = false;
    if (this.isRead && this.listener) this.messageEnds(this.listener);
  }

  private messageEnds(listener: FrameListener): void {
    const { pieces, messageBytes } = this;
    this.pieces = [];
    this.messageBytes = 0;
    if (messageBytes === 0) return;
    const isForeign = isMasked(this.head) !== (this.sender === 'client');
    if (messageBytes > MESSAGE_BYTES_MAX || isForeign) listener.onUnread(messageBytes);
    else listener.onText(pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces));
  }

  private giveUp(): void {
    this.isBroken = true;
    this.pieces = [];
    this.listener?.onUnread(null);
  }
}

const isMasked = (head: Buffer): boolean => ((head[1] as number) & MASKED) !== 0;

function headLength(head: Buffer): number {
  const length = (head[1] as number) & LENGTH;
  const extended = length === LENGTH_OF_8 ? 8 : length === LENGTH_OF_2 ? 2 : 0;
  return 2 + extended + (isMasked(head) ? MASK_BYTES : 0);
}

/** Null for a length that no message has. */
function payloadLength(head: Buffer): number | null {
  const length = (head[1] as number) & LENGTH;
  if (length === LENGTH_OF_2) return head.readUInt16BE(2);
  if (length < LENGTH_OF_2) return length;
  const long = head.readBigUInt64BE(2);
  return long <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(long) : null;
}

/** Close codes. https://www.iana.org/assignments/websocket/websocket.xhtml#close-code-number */
export const CLOSE_CODES = {
  goingAway: 1001,
  policyViolation: 1008,
  tryAgainLater: 1013,
  badGateway: 1014,
} as const;

export interface Closure {
  readonly code: number;
  /** At most 123 bytes, the capacity of a control frame. */
  readonly reason: string;
}

/** A Close frame. One to a server is masked, as frames of clients must be. */
export function closeFrame({ code, reason }: Closure, isMasked: boolean): Buffer {
  const payload = Buffer.alloc(2 + Buffer.byteLength(reason));
  payload.writeUInt16BE(code);
  payload.write(reason, 2);
  if (!isMasked) return Buffer.concat([Buffer.from([FIN | CLOSE, payload.length]), payload]);
  const mask = randomBytes(MASK_BYTES);
  for (const [index, byte] of payload.entries()) payload[index] = byte ^ (mask[index % MASK_BYTES] as number);
  return Buffer.concat([Buffer.from([FIN | CLOSE, MASKED | payload.length]), mask, payload]);
}

/** A text message of the gateway to a client, in one frame. */
export function textFrame(text: string): Buffer {
  const payload = Buffer.from(text);
  const isShort = payload.length < LENGTH_OF_2;
  const head = Buffer.alloc(isShort ? 2 : 4);
  head[0] = FIN | TEXT;
  head[1] = isShort ? payload.length : LENGTH_OF_2;
  if (!isShort) head.writeUInt16BE(payload.length, 2);
  return Buffer.concat([head, payload]);
}
