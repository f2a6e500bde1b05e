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
export function roomFor(bytes: number): Buffer {
  if (bytes > SLAB_BYTES / SHARE_MAX) return Buffer.allocUnsafeSlow(bytes);
  if (used + bytes > slab.length) {
    slab = Buffer.allocUnsafeSlow(SLAB_BYTES);
    used = 0;
  }
  used += bytes;
  return slab.subarray(used - bytes, used);
}
