import type { CapturedBody } from '../../request-log/record.js';
import { passedLarge } from '../../common/processes/collect-garbage.js';

const HEAD_BYTES = 256 * 1024;
const TAIL_BYTES = 64 * 1024;

/** All captures of the process together. Beyond it, bodies are counted but not kept, so that slow readers cannot fill the memory. */
const PROCESS_BYTES_MAX = 128 * 1024 * 1024;
let processBytes = 0;

/**
 * Chunks up to this size are copied together: otherwise, a stream of many small events would keep as many buffers alive, each of which
 * costs more memory than its content.
 */
const SMALL_BYTES = 2 * 1024;
const BLOCK_BYTES = 8 * 1024;

/**
 * Unused blocks for reuse. A stream lives long enough for its blocks to be promoted, so that only a full collection would free them,
 * thousands of ended streams later.
 */
const spareBlocks: Buffer[] = [];
const NOTHING: readonly Buffer[] = [];
const SPARE_BLOCKS_MAX = 1_024;

/**
 * Keeps a body for the log while it passes: its beginning and its end. Large chunks and the first one are kept without a copy. Release a
 * capture once its record is written; do not read its taken body after that.
 */
export class BodyCapture {
  // Most bodies are one chunk: lists are created on demand.
  private head: Buffer[] | null = null;
  private tail: Buffer[] | null = null;
  private headBytes = 0;
  private blocks: Buffer[] | null = null;
  /** Bytes of the last block that are used and not in `head` yet: from, to. */
  private blockFrom = 0;
  private blockTo = 0;
  private tailBytes = 0;
  bytes = 0;
  /** The kept bytes replace those that passed, and do not have their encoding. */
  private isReplaced = false;

  /** `isKept`: whether bytes are kept, and not only counted. */
  constructor(private isKept: boolean) {}

  add(chunk: Buffer): void {
    this.bytes += chunk.length;
    if (this.bytes > HEAD_BYTES) passedLarge(chunk.length);
    if (!this.isKept || chunk.length === 0 || processBytes > PROCESS_BYTES_MAX) return;
    const bytesLeft = HEAD_BYTES - this.headBytes;
    if (chunk.length <= bytesLeft) return this.keepHead(chunk);
    if (bytesLeft > 0) this.keepHead(chunk.subarray(0, bytesLeft));
    this.keepTail(bytesLeft > 0 ? chunk.subarray(bytesLeft) : chunk);
  }

  /** Keeps other bytes than those that passed, which stay counted. */
  replace(whole: Buffer): void {
    const { bytes, isKept } = this;
    this.release();
    this.isKept = isKept;
    this.add(whole);
    this.bytes = bytes;
    this.isReplaced = true;
  }

  /** Null when nothing is kept. */
  taken(contentType?: string | null, contentEncoding?: string | null): CapturedBody | null {
    if (!this.isKept || this.bytes === 0) return null;
    this.closeBlock();
    const head = this.head ?? NOTHING;
    return {
      chunks: this.tail ? [...head, ...this.tail] : head,
      bytes: this.bytes,
      truncated: this.headBytes + this.tailBytes < this.bytes,
      content_type: contentType ?? null,
      content_encoding: this.isReplaced ? null : (contentEncoding ?? null),
    };
  }

  /** Bytes may still arrive, from a response that continues past its end: they are only counted. */
  release(): void {
    this.isKept = false;
    processBytes -= this.headBytes + this.tailBytes;
    this.headBytes = 0;
    this.tailBytes = 0;
    this.head = this.tail = null;
    for (const block of this.blocks ?? NOTHING)
      if (spareBlocks.length < SPARE_BLOCKS_MAX) spareBlocks.push(block);
    this.blocks = null;
    this.blockFrom = this.blockTo = 0;
  }

  private keepHead(chunk: Buffer): void {
    if (chunk.length <= SMALL_BYTES && this.headBytes > 0) this.gather(chunk);
    else {
      this.closeBlock();
      (this.head ??= []).push(chunk);
    }
    this.headBytes += chunk.length;
    processBytes += chunk.length;
  }

  private gather(chunk: Buffer): void {
    let block = this.blocks?.at(-1);
    if (!block || this.blockTo + chunk.length > BLOCK_BYTES) {
      this.closeBlock();
      this.blockFrom = this.blockTo = 0;
      block = spareBlocks.pop() ?? Buffer.allocUnsafeSlow(BLOCK_BYTES);
      (this.blocks ??= []).push(block);
    }
    block.set(chunk, this.blockTo);
    this.blockTo += chunk.length;
  }

  /** Puts the collected bytes into the order of the chunks. */
  private closeBlock(): void {
    const block = this.blocks?.at(-1);
    if (block && this.blockFrom < this.blockTo)
      (this.head ??= []).push(block.subarray(this.blockFrom, this.blockTo));
    this.blockFrom = this.blockTo;
  }

  private keepTail(chunk: Buffer): void {
    const end = chunk.length > TAIL_BYTES ? chunk.subarray(chunk.length - TAIL_BYTES) : chunk;
    const tail = (this.tail ??= []);
    tail.push(end);
    this.tailBytes += end.length;
    processBytes += end.length;
    while (this.tailBytes > TAIL_BYTES) this.trim(tail, this.tailBytes - TAIL_BYTES);
  }

  private trim(tail: Buffer[], excess: number): void {
    const first = tail[0] as Buffer;
    const dropped = Math.min(excess, first.length);
    if (dropped === first.length) tail.shift();
    else tail[0] = first.subarray(dropped);
    this.tailBytes -= dropped;
    processBytes -= dropped;
  }
}

/** The captures of an exchange. */
export interface BodyCaptures {
  readonly request: BodyCapture;
  readonly response: BodyCapture;
}

/** `isKept`: whether bytes are kept, and not only counted. */
export const bodyCaptures = (isKept: boolean): BodyCaptures => ({
  request: new BodyCapture(isKept),
  response: new BodyCapture(isKept),
});
