import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

type Collect = (options?: { readonly type: 'minor' | 'major' }) => void;

let known: Collect | null = null;

/** V8's own, which it gives only to whoever starts it so. */
function collector(): Collect {
  if (known) return known;
  setFlagsFromString('--expose-gc');
  known = runInNewContext('gc') as Collect;
  setFlagsFromString('--no-expose-gc');
  return known;
}

/**
 * Collects garbage once, in full. Loading the code of a process leaves tens of megabytes behind that V8 would keep
 * until its heap has grown by as much again; after this the heap begins at its real size.
 */
export function collectGarbage(): void {
  collector()();
}

/** What may pass between two collections, in bytes. */
const YOUNG_BYTES = 8 * 1024 * 1024;
let passedBytes = 0;

/**
 * To be told of each piece of a large body. Node reads a socket in pieces of 64 KiB outside of V8's heap, and the few hundred bytes
 * in it that hold one make V8 collect them only when half a gigabyte has passed, or tens of megabytes stand in memory. They are young
 * and dead, so a collection of the young alone, of a millisecond, frees them.
 */
export function passedLarge(bytes: number): void {
  passedBytes += bytes;
  if (passedBytes < YOUNG_BYTES) return;
  passedBytes = 0;
  collector()({ type: 'minor' });
}
