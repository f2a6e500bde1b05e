import { randomFillSync } from 'node:crypto';

const POOL_BYTES = 8192;
const RANDOM_BYTES = 10;
const pool = new Uint8Array(POOL_BYTES);
let used = POOL_BYTES;

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
const hex = (byte: number): string => HEX[byte & 0xff] as string;

/**
 * A UUID of version 7: milliseconds since the epoch, then randomness, so that ids sort by time.
 * https://www.rfc-editor.org/rfc/rfc9562#name-uuid-version-7
 *
 * Random bytes are drawn from a pool, because one system call per id would be most of its cost.
 */
export function uuidV7(now: number): string {
  if (used + RANDOM_BYTES > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  const at = used;
  used += RANDOM_BYTES;
  const random = (index: number): number => pool[at + index] as number;
  const high = Math.floor(now / 0x1_0000);
  return (
    hex(high >>> 24) +
    hex(high >>> 16) +
    hex(high >>> 8) +
    hex(high) +
    '-' +
    hex(now >>> 8) +
    hex(now) +
    '-' +
    hex(0x70 | (random(0) & 0x0f)) +
    hex(random(1)) +
    '-' +
    hex(0x80 | (random(2) & 0x3f)) +
    hex(random(3)) +
    '-' +
    hex(random(4)) +
    hex(random(5)) +
    hex(random(6)) +
    hex(random(7)) +
    hex(random(8)) +
    hex(random(9))
  );
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return UUID.test(text);
}
