const BYTES_AT_FIRST = 1024;
/** A larger buffer is freed once it is empty. */
const BYTES_KEPT = 64 * 1024;

const NOTHING = Buffer.alloc(0);

/**
 * Bytes of an incomplete frame, copied out of their chunks: a chunk is a slice of a large read buffer, which one pending byte would keep
 * alive. The capacity doubles, so that any number of chunks costs a few copies per byte.
 */
export class PendingBytes {
  private bytes = NOTHING;
  length = 0;

  append(chunk: Buffer): void {
    this.reserve(this.length + chunk.length);
    this.bytes.set(chunk, this.length);
    this.length += chunk.length;
  }

  /** The current bytes; another `append` or `replace` invalidates them. */
  view(): Buffer {
    return this.bytes.subarray(0, this.length);
  }

  /** `rest` may be part of `view`. */
  replace(rest: Buffer): void {
    if (rest.length === 0 && this.bytes.length > BYTES_KEPT) this.bytes = NOTHING;
    this.reserve(rest.length);
    this.bytes.set(rest, 0);
    this.length = rest.length;
  }

  clear(): void {
    this.replace(NOTHING);
  }

  private reserve(length: number): void {
    if (length <= this.bytes.length) return;
    const roomier = Buffer.alloc(Math.max(length, this.bytes.length * 2, BYTES_AT_FIRST));
    roomier.set(this.view());
    this.bytes = roomier;
  }
}
