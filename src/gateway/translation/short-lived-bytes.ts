/** Above Node's own pool, which takes no buffers above 4 KiB. */
const SLAB_BYTES = 64 * 1024;
const SHARE_MAX = 2;

let slab = Buffer.alloc(0);
let used = 0;

/**
 * A buffer for bytes that are sent and forgotten. It holds anything until it is written.
 *
 * Those of middle size are parts of a larger one: by itself each costs an allocation outside of the heap and its end in a
 * collection, 5 µs and more. Keep none of them: one part keeps the whole.
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
