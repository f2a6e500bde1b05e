import { randomFillSync } from 'node:crypto';

const POOL_BYTES = 8192;
const RANDOM_BYTES = 10;
const pool = new Uint8Array(POOL_BYTES);
let used = POOL_BYTES;

/** Positions of the 16 bytes in the text, two characters each. */
const PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34];
const DIGITS = Buffer.from('0123456789abcdef');
const text = Buffer.alloc(36, '-');

function put(place: number, byte: number): void {
  const at = PLACES[place] as number;
  text[at] = DIGITS[(byte >>> 4) & 0x0f] as number;
  text[at + 1] = DIGITS[byte & 0x0f] as number;
}

/**
 * A UUID of version 7: milliseconds since the epoch, then random bits, so that ids sort by time.
 * https://www.rfc-editor.org/rfc/rfc9562#name-uuid-version-7
 *
 * Random bytes come from a pool, because a system call per id would be most of its cost.
 */
export function uuidV7(now: number): string {
  if (used + RANDOM_BYTES > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  const high = Math.floor(now / 0x1_0000);
  put(0, high >>> 24);
  put(1, high >>> 16);
  put(2, high >>> 8);
  put(3, high);
  put(4, now >>> 8);
  put(5, now);
  for (let place = 6; place < 16; place++) put(place, pool[used++] as number);
  put(6, 0x70 | ((pool[used - RANDOM_BYTES] as number) & 0x0f));
  put(8, 0x80 | ((pool[used - RANDOM_BYTES + 2] as number) & 0x3f));
  return text.toString('latin1');
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export function isUuid(text: string): boolean {
  return UUID.test(text);
}
