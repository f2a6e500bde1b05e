import type { CapturedBody } from '../../common/contracts/request-log.js';

const HEAD_BYTES = 256 * 1024;
const TAIL_BYTES = 64 * 1024;

/** All captures of the process together. Beyond it bodies are counted but not kept, so that slow readers cannot fill the memory. */
const PROCESS_BYTES_MAX = 128 * 1024 * 1024;
let processBytes = 0;

/**
 * Keeps a body for the log while it passes: its beginning and its end, without copying.
 * A capture must be released once its record is written.
 */
export class BodyCapture {
  private readonly head: Buffer[] = [];
  private readonly tail: Buffer[] = [];
  private headBytes = 0;
  private tailBytes = 0;
  bytes = 0;

  constructor(private readonly isKept: boolean) {}

  add(chunk: Buffer): void {
    this.bytes += chunk.length;
    if (!this.isKept || chunk.length === 0 || processBytes > PROCESS_BYTES_MAX) return;
    const room = HEAD_BYTES - this.headBytes;
    if (chunk.length <= room) return this.keepHead(chunk);
    if (room > 0) this.keepHead(chunk.subarray(0, room));
    this.keepTail(room > 0 ? chunk.subarray(room) : chunk);
  }

  /** Keeps other bytes than those that passed, which stay counted. */
  replace(whole: Buffer): void {
    const { bytes } = this;
    this.release();
    this.head.length = 0;
    this.tail.length = 0;
    this.add(whole);
    this.bytes = bytes;
  }

  /** The same body once more. Both must be released. */
  copy(): BodyCapture {
    const twin = new BodyCapture(this.isKept);
    for (const chunk of this.head) twin.keepHead(chunk);
    for (const chunk of this.tail) twin.keepTail(chunk);
    twin.bytes = this.bytes;
    return twin;
  }

  /** Null when nothing is to be kept. */
  taken(contentType?: string | null, contentEncoding?: string | null): CapturedBody | null {
    if (!this.isKept || this.bytes === 0) return null;
    return {
      chunks: this.tail.length > 0 ? [...this.head, ...this.tail] : this.head,
      bytes: this.bytes,
      truncated: this.headBytes + this.tailBytes < this.bytes,
      content_type: contentType ?? null,
      content_encoding: contentEncoding ?? null,
    };
  }

  release(): void {
    processBytes -= this.headBytes + this.tailBytes;
    this.headBytes = 0;
    this.tailBytes = 0;
  }

  private keepHead(chunk: Buffer): void {
    this.head.push(chunk);
    this.headBytes += chunk.length;
    processBytes += chunk.length;
  }

  private keepTail(chunk: Buffer): void {
    const end = chunk.length > TAIL_BYTES ? chunk.subarray(chunk.length - TAIL_BYTES) : chunk;
    this.tail.push(end);
    this.tailBytes += end.length;
    processBytes += end.length;
    while (this.tailBytes > TAIL_BYTES) this.trimTail(this.tailBytes - TAIL_BYTES);
  }

  private trimTail(excess: number): void {
    const first = this.tail[0] as Buffer;
    const dropped = Math.min(excess, first.length);
    if (dropped === first.length) this.tail.shift();
    else this.tail[0] = first.subarray(dropped);
    this.tailBytes -= dropped;
    processBytes -= dropped;
  }
}
